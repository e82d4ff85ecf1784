import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../../kubeclient/client.ts'
import { parseList, parseObject } from '../../kubeclient/object/object.ts'
import { readSecret, secretData, writeSecret } from '../../kubeclient/object/secret.ts'
import { isConflict } from '../../kubeclient/retry.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { PasswordHasher } from '../passwords/password.ts'
import type { PasswordStore } from '../passwords/password-store.ts'
import { iamVersion, usersPath } from './user.ts'

export type FirstAdministratorOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly namespace: string
  readonly hasher: PasswordHasher
  readonly store: Pick<PasswordStore, 'keep'>
  readonly logger: Logger
}

const secretName = 'kapis-initial-admin'
const username = 'admin'
/** manifests/base/rbac.yaml binds this group to cluster-admin. */
const group = 'platform-admins'

/**
 * Creates the first user if there are none, with a random password in a Secret. The Secret is
 * created before the user: if two replicas start together, both use the password of the first
 * Secret.
 */
export async function ensureFirstAdministrator(options: FirstAdministratorOptions): Promise<void> {
  const { client, groupDomain, hasher, store, logger } = options
  const existing = parseList(await client.call({ path: `${usersPath(groupDomain)}?limit=1` }))
  if ((existing.items ?? []).length > 0) return
  const hash = await hasher.hash(await ensureSecret(options))
  const reference = await store.keep({ name: username, uid: '', credential: '' }, hash)
  const user = {
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'User',
    metadata: { name: username, labels: { 'app.kubernetes.io/managed-by': 'kapis' } },
    spec: { email: `${username}@${groupDomain}`, groups: [group], ...reference },
  }
  const made = await create(client, usersPath(groupDomain), user)
  if (made !== undefined) {
    const { uid } = parseObject(made).metadata
    await store.keep({ name: username, uid, credential: reference.credential }, hash)
    logger.info(
      { user: username, secretName, namespace: options.namespace },
      'created the first administrator',
    )
  }
}

async function ensureSecret({ client, namespace }: FirstAdministratorOptions): Promise<string> {
  const secretRef = { namespace, name: secretName }
  const password = randomBytes(18).toString('base64url')
  if ((await writeSecret(client, secretRef, { data: { username, password } })) !== undefined) return password
  const secret = await readSecret(client, secretRef)
  const stored = secret && secretData(secret, 'password')
  if (stored === undefined) throw new Error(`Secret ${namespace}/${secretName} has no password`)
  return stored.toString('utf8')
}

/** @returns undefined if the object already exists */
async function create(client: KubeClient, path: string, body: unknown): Promise<unknown> {
  try {
    return await client.call({ method: 'POST', path, body })
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}
