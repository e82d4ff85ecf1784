import type { User } from '../iam/users/user.ts'
import { oauthError } from './server/error.ts'

/**
 * Checks the user of a new or existing login. Locked users keep their logins, since otherwise
 * anyone could end them by guessing; the lockout prevents new logins by password.
 *
 * @throws Status invalid_grant for a disabled user
 */
export function assertUserEnabled(user: User): void {
  if (user.state === 'Disabled')
    throw oauthError(400, 'invalid_grant', 'account is not active', { why: 'user_disabled', user: user.name })
}

/**
 * For flows without a password prompt, which cannot show the change-password page.
 *
 * @throws Status invalid_grant for a user who must change the password first
 */
export function assertPasswordIsOwn({ mustChangePassword, name: user }: User): void {
  if (!mustChangePassword) return
  const what = 'the password of this user was set by an administrator: log in with it and change it first'
  throw oauthError(400, 'invalid_grant', what, { why: 'password_to_change', user })
}
