import type { KubeClient } from '../kube/client.ts'
import { isRecord, type KubeObject, parseObject } from '../kube/object.ts'
import { Status } from '../status/status.ts'
import type { KeyPair } from './issue.ts'

/** A Secret of type kubernetes.io/tls as it is stored. */
export type StoredPair = KeyPair & { readonly resourceVersion: string; readonly isOurs: boolean }

export const managedBy = 'app.kubernetes.io/managed-by'

export function secretsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/secrets`
}

/** @returns undefined when there is none */
export async function readPair(
  client: KubeClient,
  namespace: string,
  name: string,
): Promise<StoredPair | undefined> {
  try {
    return parsePair(parseObject(await client.call({ path: `${secretsPath(namespace)}/${name}` })))
  } catch (error) {
    if (error instanceof Status && error.code === 404) return undefined
    throw error
  }
}

/**
 * Writes a pair, unless somebody else was first.
 *
 * @param old what it takes the place of; undefined for a new Secret
 * @returns whether it was written; if not, what is stored now is to be used
 */
export async function writePair(
  client: KubeClient,
  target: {
    readonly namespace: string
    readonly name: string
    readonly pair: KeyPair
    readonly old: StoredPair | undefined
  },
): Promise<boolean> {
  const { namespace, name, pair, old } = target
  const encode = (text: string) => Buffer.from(text).toString('base64')
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      name,
      namespace,
      labels: { [managedBy]: 'kapis' },
      ...(old === undefined ? {} : { resourceVersion: old.resourceVersion }),
    },
    data: { 'tls.crt': encode(pair.certPem), 'tls.key': encode(pair.keyPem) },
  }
  const collection = secretsPath(namespace)
  try {
    if (old === undefined) await client.call({ method: 'POST', path: collection, body })
    else await client.call({ method: 'PUT', path: `${collection}/${name}`, body })
    return true
  } catch (error) {
    if (error instanceof Status && error.code === 409) return false
    throw error
  }
}

export function parsePair({ metadata, data }: KubeObject): StoredPair {
  const read = (key: string) => {
    const value = isRecord(data) ? data[key] : undefined
    if (typeof value !== 'string')
      throw new Error(`Secret ${metadata.namespace}/${metadata.name} has no ${key}`)
    return Buffer.from(value, 'base64').toString('utf8')
  }
  return {
    certPem: read('tls.crt'),
    keyPem: read('tls.key'),
    resourceVersion: metadata.resourceVersion,
    isOurs: metadata.labels?.[managedBy] === 'kapis',
  }
}
