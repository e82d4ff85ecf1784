import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'
import { type Cookie, clearCookie, readCookie, setCookie } from '../../httpserver/cookie.ts'
import { endBrowserSession, endLogin, endOtherLogins } from '../../iam/sessions/revoke-session.ts'
import type { Session } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import { assertPasswordIsOwn } from '../check-user-state.ts'
import { lacksSecondFactor } from '../second-factor.ts'
import { clientInfoOf } from '../server/client-info.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { keepIdToken } from './id-token-cookie.ts'
import type { LoginProgress } from './login-progress.ts'
import { withLoginProof } from './login-proof.ts'

export const loginCookie: Cookie = { name: '__Host-kapis-session', sameSite: 'Lax' }

export type BrowserLogin = {
  readonly user: User
  readonly sid: string
  /** When the user authenticated, in seconds since the epoch. */
  readonly authTime: number
  readonly amr: AuthenticationMethods
  /** The name of the identity provider; '' for a local password. */
  readonly provider: string
}

type Tools = Pick<
  GrantTools,
  'users' | 'sessions' | 'internalJwts' | 'lifetimes' | 'recordLogin' | 'multipleLogin' | 'factors'
>

/**
 * Returns the valid login of the session cookie. The login is a LoginSession, and ends when that is
 * revoked. Users who must change the password do not count as logged in. The same applies if the
 * policy requires a second factor that the login has not used.
 */
export async function readBrowserLogin(
  tools: Tools,
  req: IncomingMessage,
): Promise<BrowserLogin | undefined> {
  const value = readCookie(req, loginCookie)
  const claims = value === undefined ? undefined : await tools.internalJwts.verify('browser', value)
  if (claims === undefined) return undefined
  const { jti: sid, iat, auth_time, uid, idp, generation } = claims
  const authTime = typeof auth_time === 'number' ? auth_time : iat
  const user = tools.users.get(String(claims.sub))
  if (user === undefined || user.uid !== uid || user.state === 'Disabled') return undefined
  // The user cache may not have received the password change of this login yet. Its
  // mustChangePassword is then out of date.
  const isStale = user.generation < Number(generation)
  if ((user.mustChangePassword && !isStale) || tools.sessions.isRevoked(sid, iat)) return undefined
  const amr = typeof claims.amr === 'string' ? claims.amr : ''
  if (lacksSecondFactor(tools.factors, user, amr)) return undefined
  return { user, sid, authTime, amr, provider: String(idp) }
}

/**
 * Starts a browser session for an authenticated user. An earlier session of the browser ends, and
 * the cookie gets a new value (session fixation).
 *
 * @throws Status invalid_grant for a user who must change the password first; 409 if the login was
 * completed before
 */
async function beginBrowserLogin(
  tools: Tools,
  { req, res }: { req: IncomingMessage; res: Response },
  { user, provider, amr, authTime, idToken, sid }: LoginProgress,
): Promise<void> {
  assertPasswordIsOwn(user)
  const earlier = await readBrowserSession(tools, req)
  const { refreshTokenSeconds, loginMaxAgeSeconds } = tools.lifetimes
  const lifeSeconds = Math.min(refreshTokenSeconds, loginMaxAgeSeconds)
  const nowMs = Date.now()
  const session = await tools.sessions.create({
    sid,
    type: 'Browser',
    displayName: '',
    user: user.name,
    userUid: user.uid,
    userGeneration: user.generation,
    credential: provider === '' ? user.credential : '',
    provider,
    clientId: '',
    scope: '',
    authenticatedAtMs: authTime === undefined ? nowMs : authTime * 1000,
    amr,
    refreshId: '',
    parent: '',
    // For clients, a user who authenticates again is still in the same session.
    browserSid: earlier?.userUid === user.uid ? earlier.browserSid || earlier.sid : '',
    previousRefreshId: '',
    rotatedAtMs: nowMs,
    expiresAtMs: nowMs + lifeSeconds * 1000,
    ended: '',
  })
  // The earlier session ends only now: a form sent twice (409) must not log out the user.
  if (earlier !== undefined)
    await endLogin(tools.sessions, earlier, 'replaced by another login in the same browser')
  if (!tools.multipleLogin()) await endOtherLogins(tools.sessions, session)
  const time = authTime === undefined ? {} : { auth_time: authTime }
  const claims = { sub: user.name, uid: user.uid, idp: provider, generation: user.generation, amr, ...time }
  const value = await tools.internalJwts.sign('browser', claims, { lifeSeconds, jti: sid })
  // The cookie has no Max-Age: it ends with the browser, or when the login expires.
  setCookie(res, loginCookie, value)
  keepIdToken({ req, res }, idToken)
  tools.recordLogin({ user, provider, source: clientInfoOf(req) })
}

/**
 * Starts a browser session and redirects to `returnTo`, with a proof that the user has
 * authenticated for it. Only continue-login.ts may call this, since it checks the other steps of a
 * login.
 */
export async function logBrowserIn(
  tools: Tools,
  exchange: { req: IncomingMessage; res: Response },
  progress: LoginProgress,
): Promise<void> {
  await beginBrowserLogin(tools, exchange, progress)
  const { returnTo, sid } = progress
  const target = await withLoginProof(tools.internalJwts, returnTo, { kind: 'login', sid })
  exchange.res.set('cache-control', 'no-store').redirect(303, target)
}

/**
 * Logs the user of the browser out: ends the browser session, and the logins at clients that began
 * in it (OpenID Connect Back-Channel Logout 1.0 section 2.7).
 *
 * @returns the ended login; undefined if the user was not logged in
 */
export async function endBrowserLogin(
  tools: Tools,
  { req, res }: { req: IncomingMessage; res: Response },
): Promise<BrowserLogin | undefined> {
  const login = await readBrowserLogin(tools, req)
  if (login === undefined) return undefined
  const session = await tools.sessions.read(login.sid)
  if (session !== undefined) await endBrowserSession(tools.sessions, session, 'logout')
  clearCookie(res, loginCookie)
  keepIdToken({ req, res }, undefined)
  return login
}

async function readBrowserSession(tools: Tools, req: IncomingMessage): Promise<Session | undefined> {
  const login = await readBrowserLogin(tools, req)
  return login === undefined ? undefined : tools.sessions.read(login.sid)
}
