import type { PasswordVerdict } from '../iam/passwords/password-check.ts'
import type { User } from '../iam/users/user.ts'
import { oauthError } from './server/error.ts'

/**
 * The user whose password was right.
 *
 * @throws Status invalid_grant: 400 for a wrong password, an unknown user and one without a password alike, 429 with
 * Retry-After for a name or an address that has failed too often
 */
export function requireRight(verdict: PasswordVerdict): User {
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
  throw oauthError(400, 'invalid_grant', 'incorrect password', { why, ...whose })
}
