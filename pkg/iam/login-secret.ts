import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { isRecord, parseObject } from '../kube/object.ts'
import { Status } from '../status/status.ts'

const secretName = 'kapis-login-names'

/** The secret behind the digests of typed names (see login-keys.ts): made once, by whichever replica is first. */
export async function ensureLoginSecret(client: KubeClient, namespace: string): Promise<Buffer> {
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace, labels: { 'app.kubernetes.io/managed-by': 'kapis' } },
    data: { key: randomBytes(32).toString('base64') },
  }
  const stored = (await read(client, `${path}/${secretName}`)) ?? (await create(client, path, secret))
  if (stored !== undefined) return stored
  // Another replica was faster.
  const theirs = await read(client, `${path}/${secretName}`)
  if (theirs === undefined) throw new Error(`Secret ${namespace}/${secretName} has no key`)
  return theirs
}

async function read(client: KubeClient, path: string): Promise<Buffer | undefined> {
  try {
    return toKey(await client.call({ path }))
  } catch (error) {
    if (error instanceof Status && error.code === 404) return undefined
    throw error
  }
}

async function create(client: KubeClient, path: string, body: object): Promise<Buffer | undefined> {
  try {
    return toKey(await client.call({ method: 'POST', path, body }))
  } catch (error) {
    if (error instanceof Status && error.code === 409) return undefined
    throw error
  }
}

function toKey(answer: unknown): Buffer | undefined {
  const { data } = parseObject(answer)
  const key = isRecord(data) ? data.key : undefined
  return typeof key === 'string' && key !== '' ? Buffer.from(key, 'base64') : undefined
}
