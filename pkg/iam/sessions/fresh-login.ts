import type { User } from '../users/user.ts'
import type { Session } from './session.ts'

/** How long a login counts as recent, in milliseconds. */
export const freshLoginMs = 10 * 60_000
const skewMs = 60_000

/**
 * Reports whether a session is a login of the last ten minutes with the current password of the
 * user. An older token may have been stolen, and other sessions need no password.
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
