import type { User } from '../iam/user.ts'
import { oauthError } from './error.ts'

const lockedRetrySeconds = 600

/** @throws Status invalid_grant: 400 for a user who is disabled, 429 for one who is locked for a while */
export function assertMayLogIn(user: User): void {
  if (user.state === 'AuthLimitExceeded') {
    throw oauthError(429, 'invalid_grant', 'auth rate limit exceeded', {
      headers: { 'retry-after': String(lockedRetrySeconds) },
      why: 'user_locked',
      user: user.name,
    })
  }
  assertMayStay(user)
}

/**
 * For logins that there are: a user who is locked out of logging in keeps them, or anybody could end them by guessing.
 *
 * @throws Status invalid_grant
 */
export function assertMayStay(user: User): void {
  if (user.state === 'Disabled')
    throw oauthError(400, 'invalid_grant', 'account is not active', { why: 'user_disabled', user: user.name })
}
