import type { User } from '../users/user.ts'
import type { Session } from './session.ts'

/** How long a login counts as recent. */
export const freshLoginMs = 10 * 60_000
const skewMs = 60_000

/**
 * Returns whether a session is a login with the current password of a user, of the last ten
 * minutes. Any older token of the user may have been stolen, and others were got without the password.
 */
export function isFreshLogin(session: Session, user: User, nowMs = Date.now()): boolean {
  const { type, ended, provider, credential, userUid, authenticatedAtMs } = session
  const ageMs = nowMs - authenticatedAtMs
  return (
    type === '' &&
    ended === '' &&
    provider === '' &&
    userUid === user.uid &&
    credential !== '' &&
    credential === user.credential &&
    ageMs <= freshLoginMs &&
    ageMs >= -skewMs
  )
}
