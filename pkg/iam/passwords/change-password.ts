import { toMetaTime } from '../lockout/lockout-reconciler.ts'
import { toUser, type User } from '../users/user.ts'
import type { PasswordWriter } from './password-writer.ts'

/**
 * Stores a password that a user has chosen, so it no longer counts as set by an administrator.
 *
 * @throws Status 409 if the user has changed since it was read
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
