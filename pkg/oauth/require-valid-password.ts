import type { PasswordVerdict } from '../iam/passwords/password-check.ts'
import type { User } from '../iam/users/user.ts'
import { invalidGrant, oauthError } from './server/error.ts'

/**
 * Returns the user if the password is correct.
 *
 * @throws Status invalid_grant: 400 for a wrong password, an unknown user or a user without a
 * password, with the same message; 429 with Retry-After if the name or address is locked
 */
export function requireValidPassword(verdict: PasswordVerdict): User {
  const { outcome, user } = verdict
  if (outcome === 'right') return user
  const whose = user === undefined ? {} : { user: user.name }
  if (outcome === 'locked') {
    throw oauthError(429, 'invalid_grant', 'auth rate limit exceeded', {
      headers: { 'retry-after': String(verdict.retryAfterSeconds) },
      why: 'locked',
      ...whose,
    })
  }
  const why = user === undefined ? 'unknown_user' : 'wrong_password'
  throw invalidGrant('incorrect password', { why, ...whose })
}
