import type { User } from '../iam/user.ts'
import { oauthError } from './error.ts'

const lockedRetrySeconds = 600

/** @throws Status invalid_grant: 400 for a user who is disabled, 429 for one who is locked for a while */
export function assertMayLogIn(user: User): void {
  if (user.state === 'AuthLimitExceeded') {
    throw oauthError(429, 'invalid_grant', 'auth rate limit exceeded', {
      'retry-after': String(lockedRetrySeconds),
    })
  }
  if (user.state !== 'Active') throw oauthError(400, 'invalid_grant', 'account is not active')
}
