import { type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import { type KubeObject, parseObject } from '../../kubeclient/object/object.ts'
import { type User, userPath } from '../users/user.ts'
import type { PasswordStore } from './password-store.ts'

export type PasswordWriterOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly store: Pick<PasswordStore, 'keep'>
}

/**
 * Replaces the password of a user by a bcrypt hash, which ends all logins with the old password.
 *
 * @param annotations annotations to change as well; null deletes one
 * @returns the stored user
 * @throws Status 404, 409 if the user has changed since it was read, 503
 */
export type PasswordWriter = (
  user: Pick<User, 'name' | 'uid' | 'resourceVersion' | 'credential'>,
  hash: string,
  annotations: Readonly<Record<string, string | null>>,
) => Promise<KubeObject>

export function createPasswordWriter({ client, groupDomain, store }: PasswordWriterOptions): PasswordWriter {
  return async (user, hash, annotations) => {
    const { name, uid, resourceVersion } = user
    const reference = await store.keep(user, hash)
    // Removes a hash from the User, since it would take precedence.
    const spec = { ...reference, password: null }
    const body = { metadata: { uid, resourceVersion, annotations }, spec }
    return parseObject(await client.call(mergePatch(userPath(groupDomain, name), body)))
  }
}
