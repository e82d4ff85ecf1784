import type { KubeClient } from '../kube/client.ts'
import { parseObject } from '../kube/object.ts'
import { toUser, type User, usersPath } from './user.ts'

/**
 * Stores the password that a user has chosen himself: it is none that was given to him any more.
 *
 * @throws Status 409 when the user was changed since he was read
 */
export function createOwnPasswordWriter(options: {
  client: KubeClient
  groupDomain: string
}): (user: User, passwordHash: string) => Promise<User> {
  const { client, groupDomain } = options
  return async ({ name, uid, resourceVersion }, passwordHash) => {
    const annotations = {
      [`iam.${groupDomain}/uninitialized`]: null,
      [`iam.${groupDomain}/last-password-change-time`]: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    }
    const answer = await client.call({
      method: 'PATCH',
      path: `${usersPath(groupDomain)}/${encodeURIComponent(name)}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid, resourceVersion, annotations }, spec: { password: passwordHash } },
    })
    return toUser(parseObject(answer))
  }
}
