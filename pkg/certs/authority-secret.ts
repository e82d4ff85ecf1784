import type { KubeClient } from '../kube/client.ts'
import { type KubeObject, membersOf, parseObject, textOf } from '../kube/object.ts'
import { Status } from '../status/status.ts'
import { managedBy, parsePair, secretsPath } from './pair-secret.ts'
import type { Authority } from './rollover.ts'

/** The Secret of the authority: `tls.*` signs, `next.*` is to sign, `ca.crt` is what clients are to trust. */
export type StoredAuthority = Authority & {
  readonly resourceVersion: string
  /** Made here; one that was put there is used as it is. */
  readonly isOurs: boolean
  /** Somebody has put the annotation there that asks for a new one. */
  readonly isWanted: boolean
}

export const authoritySecret = 'kapis-ca'

export type AuthorityPlace = {
  readonly client: KubeClient
  readonly namespace: string
  readonly groupDomain: string
}

/** `kubectl annotate secret kapis-ca certificates.<group domain>/rotate=now` */
export function rotateAnnotation(groupDomain: string): string {
  return `certificates.${groupDomain}/rotate`
}

/** @returns undefined when there is none */
export async function readAuthority(place: AuthorityPlace): Promise<StoredAuthority | undefined> {
  const path = `${secretsPath(place.namespace)}/${authoritySecret}`
  try {
    return parseAuthority(parseObject(await place.client.call({ path })), place.groupDomain)
  } catch (error) {
    if (error instanceof Status && error.code === 404) return undefined
    throw error
  }
}

export function parseAuthority(secret: KubeObject, groupDomain: string): StoredAuthority {
  const { certPem, keyPem, resourceVersion, isOurs } = parsePair(secret)
  const data = membersOf(secret.data)
  const read = (key: string) => Buffer.from(textOf(data[key]), 'base64').toString('utf8')
  const next = { certPem: read('next.crt'), keyPem: read('next.key') }
  const trusted = read('ca.crt').match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/g)
  return {
    current: { certPem, keyPem },
    next: next.certPem === '' || next.keyPem === '' ? undefined : next,
    // What signs is trusted, whatever else the Secret says.
    trusted: [certPem, ...(trusted ?? []).filter(pem => pem.trim() !== certPem.trim())],
    resourceVersion,
    isOurs,
    isWanted: secret.metadata.annotations?.[rotateAnnotation(groupDomain)] !== undefined,
  }
}

/**
 * Writes it, unless another replica was first. The annotation that asked for it is gone with it.
 *
 * @param old what it takes the place of; undefined for a new Secret
 * @returns whether it was written
 */
export async function writeAuthority(
  { client, namespace }: AuthorityPlace,
  { current, next, trusted }: Authority,
  old: StoredAuthority | undefined,
): Promise<boolean> {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      name: authoritySecret,
      namespace,
      labels: { [managedBy]: 'kapis' },
      ...(old === undefined ? {} : { resourceVersion: old.resourceVersion }),
    },
    data: {
      'tls.crt': encode(current.certPem),
      'tls.key': encode(current.keyPem),
      'ca.crt': encode(trusted.join('')),
      ...(next === undefined ? {} : { 'next.crt': encode(next.certPem), 'next.key': encode(next.keyPem) }),
    },
  }
  const collection = secretsPath(namespace)
  try {
    if (old === undefined) await client.call({ method: 'POST', path: collection, body })
    else await client.call({ method: 'PUT', path: `${collection}/${authoritySecret}`, body })
    return true
  } catch (error) {
    if (error instanceof Status && error.code === 409) return false
    throw error
  }
}
