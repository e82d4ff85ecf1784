import type { KubeClient } from '../kubeclient/client.ts'
import type { KubeObject } from '../kubeclient/object/object.ts'
import {
  managedBy,
  readSecret,
  type SecretName,
  secretData,
  writeSecret,
} from '../kubeclient/object/secret.ts'
import type { KeyPair } from './issue.ts'

/** A stored Secret of type kubernetes.io/tls. */
export type StoredKeyPair = KeyPair & { readonly resourceVersion: string; readonly isOurs: boolean }

export const pairSecretType = 'kubernetes.io/tls'

/** Reads a certificate. @returns undefined if the Secret does not exist */
export async function readPair(client: KubeClient, name: SecretName): Promise<StoredKeyPair | undefined> {
  const secret = await readSecret(client, name)
  return secret && parsePair(secret)
}

/**
 * Writes a certificate, unless another replica has changed it.
 *
 * @param old the replaced version; undefined for a new Secret
 * @returns whether it was written; if not, the stored certificate must be used
 */
export async function writePair(
  client: KubeClient,
  name: SecretName,
  { certPem, keyPem }: KeyPair,
  old: StoredKeyPair | undefined,
): Promise<boolean> {
  const data = { 'tls.crt': certPem, 'tls.key': keyPem }
  return (await writeSecret(client, name, { type: pairSecretType, data }, old)) !== undefined
}

export function parsePair(secret: KubeObject): StoredKeyPair {
  const { metadata } = secret
  const read = (key: string) => {
    const value = secretData(secret, key)
    if (value === undefined) throw new Error(`Secret ${metadata.namespace}/${metadata.name} has no ${key}`)
    return value.toString('utf8')
  }
  return {
    certPem: read('tls.crt'),
    keyPem: read('tls.key'),
    resourceVersion: metadata.resourceVersion,
    isOurs: metadata.labels?.[managedBy] === 'kapis',
  }
}
