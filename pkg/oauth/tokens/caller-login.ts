import { Status } from '../../apierrors/status.ts'
import type { Session } from '../../iam/sessions/session.ts'
import { loginRequired } from '../login-required.ts'
import { Refusal } from '../server/error.ts'
import type { GrantTools } from './grant.ts'
import type { Standing } from './token-validation.ts'

/**
 * The login behind an access token, for what a token that was made without one must not do: it may be a leaked one, and one that
 * may only read.
 *
 * @param message what the caller is told otherwise
 * @throws Status 401 for a login that has ended, 403 access_denied for a token that is none of a login
 */
export async function requireCallerLogin(
  { sessions }: Pick<GrantTools, 'sessions'>,
  { claims, user }: Standing,
  message: string,
): Promise<Session> {
  const session = await sessions.read(claims.sid)
  if (session?.type !== '') throw denied(message, 'not_a_login', user.name)
  // Read from kube-apiserver: the watch may not have told of the end yet.
  if (session.ended !== '') throw loginRequired()
  return session
}

/** @throws Status 403 access_denied for a user whose password was set by an administrator and was not changed since */
export function requireOwnPassword({ user }: Standing): void {
  if (!user.mustChangePassword) return
  const message = 'the password of this user was set by an administrator: change it first'
  throw denied(message, 'password_to_change', user.name)
}

function denied(message: string, why: string, user: string): Status {
  return new Status(403, 'access_denied', message, { cause: new Refusal(why, { user }) })
}
