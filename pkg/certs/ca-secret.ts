import type { KubeClient } from '../kubeclient/client.ts'
import type { KubeObject } from '../kubeclient/object/object.ts'
import { readSecret, secretData, writeSecret } from '../kubeclient/object/secret.ts'
import type { CertificateAuthority } from './ca-rotation.ts'
import { splitCertificates } from './pem.ts'
import { pairSecretType, parsePair } from './tls-secret.ts'

/** The Secret of the CA: `tls.*` signs, `next.*` is its successor, `ca.crt` all to trust. */
export type StoredCa = CertificateAuthority & {
  readonly resourceVersion: string
  /** Whether Kapis created the CA; another CA is never rotated. */
  readonly isOurs: boolean
  /** Whether an annotation requests a rotation. */
  readonly isRotationRequested: boolean
}

export const caSecret = 'kapis-ca'

export type CaSecretLocation = {
  readonly client: KubeClient
  readonly namespace: string
  readonly groupDomain: string
}

/** Returns the annotation `certificates.<group domain>/rotate` of the Secret kapis-ca. */
export function rotateAnnotation(groupDomain: string): string {
  return `certificates.${groupDomain}/rotate`
}

/** Reads the CA. @returns undefined if the Secret does not exist */
export async function readCa(location: CaSecretLocation): Promise<StoredCa | undefined> {
  const secret = await readSecret(location.client, { namespace: location.namespace, name: caSecret })
  return secret && parseCa(secret, location.groupDomain)
}

export function parseCa(secret: KubeObject, groupDomain: string): StoredCa {
  const { certPem, keyPem, resourceVersion, isOurs } = parsePair(secret)
  const read = (key: string) => secretData(secret, key)?.toString('utf8') ?? ''
  const next = { certPem: read('next.crt'), keyPem: read('next.key') }
  const others = splitCertificates(read('ca.crt')).filter(pem => pem !== certPem.trim())
  return {
    current: { certPem, keyPem },
    next: next.certPem === '' || next.keyPem === '' ? undefined : next,
    // The signing CA is always trusted, even if ca.crt omits it.
    trusted: [certPem, ...others.map(pem => `${pem}\n`)],
    resourceVersion,
    isOurs,
    isRotationRequested: secret.metadata.annotations?.[rotateAnnotation(groupDomain)] !== undefined,
  }
}

/**
 * Writes the Secret without the annotation, unless another replica has changed it.
 *
 * @param old the replaced version; undefined for a new Secret
 * @returns whether the Secret was written
 */
export async function writeCa(
  { client, namespace }: CaSecretLocation,
  { current, next, trusted }: CertificateAuthority,
  old: StoredCa | undefined,
): Promise<boolean> {
  const data = {
    'tls.crt': current.certPem,
    'tls.key': current.keyPem,
    'ca.crt': trusted.join(''),
    ...(next === undefined ? {} : { 'next.crt': next.certPem, 'next.key': next.keyPem }),
  }
  const content = { type: pairSecretType, data }
  return (await writeSecret(client, { namespace, name: caSecret }, content, old)) !== undefined
}
