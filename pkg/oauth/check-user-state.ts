import type { User } from '../iam/users/user.ts'
import { invalidGrant } from './server/error.ts'

/**
 * Asserts that the user of a login is not disabled. Locked users keep their logins: otherwise
 * anyone could end them by guessing passwords. The lockout only prevents new logins by password.
 *
 * @throws Status invalid_grant for a disabled user
 */
export function assertUserEnabled(user: User): void {
  if (user.state === 'Disabled')
    throw invalidGrant('account is not active', { why: 'user_disabled', user: user.name })
}

/**
 * Rejects users who must change their password, for flows that cannot show the page for it.
 *
 * @throws Status invalid_grant for a user who must change the password first
 */
export function assertPasswordIsOwn({ mustChangePassword, name: user }: User): void {
  if (!mustChangePassword) return
  const what = 'the password of this user was set by an administrator: log in with it and change it first'
  throw invalidGrant(what, { why: 'password_to_change', user })
}
