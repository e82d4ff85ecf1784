import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../../kubeclient/client.ts'
import { readSecret, secretData, writeSecret } from '../../kubeclient/object/secret.ts'

const name = 'kapis-login-names'

/** Returns the HMAC key for entered login names, which the first replica creates. */
export async function ensureLoginNameHmacKey(client: KubeClient, namespace: string): Promise<Buffer> {
  const secretRef = { namespace, name }
  const secret =
    (await readSecret(client, secretRef)) ??
    (await writeSecret(client, secretRef, { data: { key: randomBytes(32) } })) ??
    // Another replica has created the Secret concurrently.
    (await readSecret(client, secretRef))
  const key = secret && secretData(secret, 'key')
  if (key === undefined || key.length === 0) throw new Error(`Secret ${namespace}/${name} has no key`)
  return key
}
