import { Status } from '../../apierrors/status.ts'
import type { Session } from '../../iam/sessions/session.ts'
import { loginRequired } from '../login-required.ts'
import { lacksSecondFactor } from '../second-factor.ts'
import { RejectionCause } from '../server/error.ts'
import type { GrantTools } from './grant.ts'
import type { ValidToken } from './token-validation.ts'

/**
 * Requires the token of a login, for operations that a personal access token must not perform,
 * since it may be leaked or read-only.
 *
 * @param message the error message for other tokens
 * @throws Status 401 if the login has ended, 403 access_denied for another token
 */
export async function requireCallerLogin(
  { sessions }: Pick<GrantTools, 'sessions'>,
  { claims, user }: ValidToken,
  message: string,
): Promise<Session> {
  const session = await sessions.read(claims.sid)
  if (session?.type !== '') throw denied(message, 'not_a_login', user.name)
  // The session is read from kube-apiserver, since the watch may not have delivered its end yet.
  if (session.ended !== '') throw loginRequired()
  return session
}

/**
 * Requires that the login has no pending step: the policy may be newer than the login.
 *
 * @throws Status 403 access_denied for a user who has not changed a password that an administrator
 * set, or needs a second factor that the login has not used
 */
export function requireCompleteLogin(
  { factors }: Pick<GrantTools, 'factors'>,
  { user, login }: ValidToken & { readonly login: Pick<Session, 'amr'> },
): void {
  if (user.mustChangePassword) {
    const message = 'the password of this user was set by an administrator: change it first'
    throw denied(message, 'password_to_change', user.name)
  }
  if (lacksSecondFactor(factors, user, login.amr))
    throw denied('this user needs a second factor: log in again', 'second_factor_required', user.name)
}

function denied(message: string, why: string, user: string): Status {
  return new Status(403, 'access_denied', message, { cause: new RejectionCause(why, { user }) })
}
