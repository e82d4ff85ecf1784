import { unavailable } from '../../apierrors/status.ts'
import { hasOwnFactor } from '../../jwt/authentication-methods.ts'
import { isLater } from '../../kubeclient/object/resource-version.ts'
import type { Session, SessionType } from './session.ts'

export type EndableSessions = {
  readonly read: (sid: string) => Promise<Session | undefined>
  readonly update: (session: Session) => Promise<boolean>
}

type ListedSessions = EndableSessions & { readonly list: (user: string) => Promise<readonly Session[]> }

// An attempt only fails if the login changes then, by a refresh or another revocation.
const attempts = 5

/**
 * Ends a login permanently and stores the reason.
 *
 * @param known the cached state; after a conflict the session is read again
 * @returns false if the login had already ended or does not exist
 * @throws Status 503
 */
export async function endLogin(sessions: EndableSessions, known: Session, why: string): Promise<boolean> {
  let session: Session | undefined = known
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (session === undefined || session.ended !== '') return false
    if (await sessions.update({ ...session, ended: why })) return true
    session = await sessions.read(session.sid)
  }
  throw unavailable('the login is being updated concurrently; try again')
}

/**
 * Ends a browser session, and the logins of clients that began in it or in an earlier session of
 * the same user in the same browser. The browser session ends last: if a write fails, the user can
 * log out again.
 *
 * @throws Status 503
 */
export async function endBrowserSession(
  sessions: ListedSessions,
  browser: Session,
  why: string,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const all = await sessions.list(browser.user)
    const sids = sidsOfRow(all, browser)
    const open = all.filter(session => session.ended === '' && isOfRow(sids, session))
    // Repeated until nothing is left: a client may redeem a code at the same time.
    if (open.length === 0) return
    for (const session of open.toSorted((a, b) => Number(sids.has(a.sid)) - Number(sids.has(b.sid))))
      await endLogin(sessions, session, why)
  }
  throw unavailable('the login is being updated concurrently; try again')
}

/** Returns the sids of consecutive sessions of a user in a browser (Session.browserSid). */
function sidsOfRow(all: readonly Session[], browser: Session): ReadonlySet<string> {
  const first = browser.browserSid || browser.sid
  const inRow = all.filter(({ type, browserSid }) => type === 'Browser' && browserSid === first)
  return new Set([first, ...inRow.map(({ sid }) => sid)])
}

function isOfRow(sids: ReadonlySet<string>, { sid, browserSid }: Session): boolean {
  return sids.has(sid) || sids.has(browserSid)
}

/**
 * Ends the logins of a user that used no second factor, after a factor was set up: someone else may
 * have the password. Logins of the browser that set it up stay active.
 *
 * @param browserSid the browser session; undefined if there is none yet
 * @throws Status 503
 */
export async function endLoginsWithoutFactor(
  sessions: ListedSessions,
  user: string,
  browserSid: string | undefined,
): Promise<void> {
  const all = await sessions.list(user)
  const browser = all.find(({ sid }) => sid === browserSid)
  const own = browser === undefined ? new Set<string>() : sidsOfRow(all, browser)
  for (const session of all) {
    const isLogin = session.type === '' || session.type === 'Browser'
    if (isLogin && session.ended === '' && !hasOwnFactor(session.amr) && !isOfRow(own, session))
      await endLogin(sessions, session, 'a second factor was set up')
  }
}

/**
 * Ends the other logins of a user who has just logged in. Of two concurrent logins, the one with
 * the higher resource version stays active, even on different replicas.
 *
 * @param own the new login
 * @param types the types of sessions that are ended
 */
export async function endOtherLogins(
  sessions: ListedSessions,
  own: Session,
  types: readonly SessionType[] = ['', 'Browser'],
): Promise<void> {
  for (const session of await sessions.list(own.user)) {
    const isOther = types.includes(session.type) && session.sid !== own.sid && session.ended === ''
    // A refreshed login is not new: its resourceVersion is that of the refresh.
    const isNewer = session.previousRefreshId === '' && isLater(session.resourceVersion, own.resourceVersion)
    if (isOther && !isNewer) await endLogin(sessions, session, 'another login')
  }
}
