import { isStatus, orUndefined } from '../../apierrors/status.ts'
import type { KubeClient } from '../client.ts'
import { fieldsOf, type KubeObject, parseObject } from './object.ts'

export const managedBy = 'app.kubernetes.io/managed-by'

export type SecretName = { readonly namespace: string; readonly name: string }

/** The content to write, which replaces all other content of a stored Secret. */
export type SecretContent = {
  /** Type of the Secret; Opaque by default. */
  readonly type?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly object[]
  readonly data: Readonly<Record<string, string | Buffer>>
}

export function secretsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`
}

export function secretPath({ namespace, name }: SecretName): string {
  return `${secretsPath(namespace)}/${encodeURIComponent(name)}`
}

/** @returns undefined if the Secret does not exist */
export async function readSecret(client: KubeClient, name: SecretName): Promise<KubeObject | undefined> {
  return orUndefined(client.call({ path: secretPath(name) }).then(parseObject), 404)
}

/**
 * Creates or replaces a Secret, unless another writer has changed it.
 *
 * @param old the version to replace; undefined for a new Secret
 * @returns the stored Secret; undefined after a conflict, when the caller must read it again
 */
export async function writeSecret(
  client: KubeClient,
  { namespace, name }: SecretName,
  { type, annotations, ownerReferences, data }: SecretContent,
  old?: { readonly resourceVersion: string },
): Promise<KubeObject | undefined> {
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    ...(type === undefined ? {} : { type }),
    metadata: {
      name,
      namespace,
      labels: { [managedBy]: 'kapis' },
      ...(annotations === undefined ? {} : { annotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(old === undefined ? {} : { resourceVersion: old.resourceVersion }),
    },
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  }
  const call =
    old === undefined
      ? ({ method: 'POST', path: secretsPath(namespace), body } as const)
      : ({ method: 'PUT', path: secretPath({ namespace, name }), body } as const)
  try {
    return parseObject(await client.call(call))
  } catch (error) {
    if (isStatus(error, ...(old === undefined ? [409] : [404, 409]))) return undefined
    throw error
  }
}

/** Returns the value of a key of a Secret; undefined if it is missing. */
export function secretData({ data }: KubeObject, key: string): Buffer | undefined {
  const value = fieldsOf(data)[key]
  return typeof value === 'string' ? Buffer.from(value, 'base64') : undefined
}
