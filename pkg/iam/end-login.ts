import { unavailable } from '../status/status.ts'
import type { Session } from './session.ts'

export type EndableSessions = {
  readonly read: (sid: string) => Promise<Session | undefined>
  readonly update: (session: Session) => Promise<boolean>
}

// Each is lost only to somebody who changed the login in the moment between: a refresh, or another end.
const attempts = 5

/**
 * Ends a login for good and writes down why.
 *
 * @param known as it was last seen; it is read again when it has changed
 * @returns false when it had ended or was gone already
 * @throws Status 503
 */
export async function endLogin(sessions: EndableSessions, known: Session, why: string): Promise<boolean> {
  let session: Session | undefined = known
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (session === undefined || session.ended !== '') return false
    if (await sessions.update({ ...session, ended: why })) return true
    session = await sessions.read(session.sid)
  }
  throw unavailable('the login is changing all the time; try again')
}
