import { randomUUID } from 'node:crypto'
import type { ClientConfig } from '../config/sections/client.ts'
import type { ClientInfo } from '../iam/sessions/client-info.ts'
import { endOtherLogins } from '../iam/sessions/revoke-session.ts'
import type { User } from '../iam/users/user.ts'
import type { AuthenticationMethods } from '../jwt/authentication-methods.ts'
import { assertSecondFactor } from './second-factor.ts'
import type { GrantOutcome, GrantTools } from './tokens/grant.ts'
import { issueIdToken } from './tokens/id-token.ts'
import { lifetimesOf } from './tokens/lifetimes.ts'
import { grantScope } from './tokens/scope.ts'

/** The scope of an earlier request: what was granted, and whether one was requested. */
export type GrantedScope = { readonly granted: string; readonly isAsked: boolean }

export type Login = {
  readonly user: User
  readonly client: ClientConfig
  /** The identity provider that authenticated the user; '' for a local password. */
  readonly provider: string
  readonly amr: AuthenticationMethods
  readonly source: ClientInfo
  /** The scope that the token request names; undefined without one. */
  readonly requestedScope?: string | undefined
  /** The scope granted before; defaults to the granted part of `requestedScope`. */
  readonly scope?: GrantedScope
  /** The sid of a login that may start only once: a second attempt fails with a conflict. */
  readonly sid?: string
  /** The browser session of the login. The login ends with it if `sid` is set. */
  readonly browser?: { readonly nonce: string; readonly authTime: number; readonly sid?: string }
}

/**
 * Starts a login: creates its session and the first tokens.
 *
 * @throws Status invalid_grant if the policy requires a second factor that the login has not used;
 * invalid_scope; 409 if a session with that sid exists
 */
export async function beginLogin(tools: GrantTools, login: Login): Promise<GrantOutcome> {
  const { user, client, provider, amr, source, requestedScope, sid = randomUUID() } = login
  assertSecondFactor(tools.factors, user, amr)
  const nowMs = Date.now()
  const { nonce, authTime } = login.browser ?? { nonce: '', authTime: Math.floor(nowMs / 1000) }
  const scope = login.scope?.granted ?? grantScope(requestedScope, client)
  const { accessTokenSeconds, refreshTokenSeconds } = lifetimesOf(client, tools.lifetimes)
  const { name: username, uid, groups, mustChangePassword } = user
  const subject = { username, uid, groups, mustChangePassword, sid, clientId: client.name, scope }
  const canRefresh = client.grantTypes.includes('refresh_token')
  const [access, refresh] = await Promise.all([
    tools.issuer.access({ ...subject, login: { amr, authTime } }, accessTokenSeconds),
    canRefresh ? tools.issuer.refresh(subject, refreshTokenSeconds) : undefined,
  ])
  // The session is stored before the response: otherwise a token could not be revoked.
  const session = await tools.sessions.create({
    sid,
    type: '',
    displayName: '',
    user: user.name,
    userUid: user.uid,
    userGeneration: user.generation,
    credential: provider === '' ? user.credential : '',
    provider,
    clientId: client.name,
    scope,
    authenticatedAtMs: authTime * 1000,
    amr,
    refreshId: refresh?.jti ?? '',
    parent: '',
    // A client without openid gets no sid, so its login does not belong to the browser session
    // (OpenID Connect Core).
    browserSid: scope.split(' ').includes('openid') ? (login.browser?.sid ?? '') : '',
    previousRefreshId: '',
    rotatedAtMs: nowMs,
    expiresAtMs: (refresh ?? access).expiresAt * 1000,
    ended: '',
  })
  const others = login.browser === undefined ? (['', 'Browser'] as const) : ([''] as const)
  if (!tools.multipleLogin()) await endOtherLogins(tools.sessions, session, others)
  tools.recordLogin({ user, provider, source })
  return {
    user: user.name,
    response: {
      access_token: access.token,
      token_type: 'Bearer',
      ...(refresh === undefined ? {} : { refresh_token: refresh.token }),
      expires_in: accessTokenSeconds,
      ...(await issueIdToken(tools, {
        ...{ user, client, sid, scope, nonce, authTime, amr },
        accessToken: access.token,
        lifeSeconds: accessTokenSeconds,
      })),
      ...saidScope(login, scope),
    },
  }
}

/**
 * Returns the scope member of the response. RFC 6749 section 5.1 requires it if the scope differs
 * from the requested one. If the scope was requested earlier, the response always includes it,
 * unless no scope was requested: an empty scope is not valid (section 3.3).
 */
function saidScope({ scope: before, requestedScope }: Login, scope: string) {
  const isKnown =
    before === undefined ? requestedScope === undefined || requestedScope === scope : !before.isAsked
  return isKnown ? {} : { scope }
}
