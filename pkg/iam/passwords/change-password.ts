import { toMetaTime } from '../lockout/lockout-reconciler.ts'
import { toUser, type User } from '../users/user.ts'
import type { PasswordWriter } from './password-writer.ts'

/**
 * Stores the password that a user has chosen himself: it is none that was given to him any more.
 *
 * @throws Status 409 when the user was changed since he was read
 */
export function createOwnPasswordWriter(options: {
  groupDomain: string
  write: PasswordWriter
}): (user: User, passwordHash: string) => Promise<User> {
  const { groupDomain, write } = options
  return async (user, passwordHash) =>
    toUser(
      await write(user, passwordHash, {
        [`iam.${groupDomain}/uninitialized`]: null,
        [`iam.${groupDomain}/last-password-change-time`]: toMetaTime(Date.now()),
      }),
    )
}
