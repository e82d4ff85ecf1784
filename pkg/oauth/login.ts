import { randomUUID } from 'node:crypto'
import type { ClientConfig } from '../config/sections/client.ts'
import type { Source } from '../iam/sessions/client-info.ts'
import { endOtherLogins } from '../iam/sessions/revoke-session.ts'
import type { User } from '../iam/users/user.ts'
import type { AuthenticationMethods } from '../jwt/authentication-methods.ts'
import { assertSecondFactor } from './second-factor.ts'
import type { Granted, GrantTools } from './tokens/grant.ts'
import { issueIdToken } from './tokens/id-token.ts'
import { lifetimesOf } from './tokens/lifetimes.ts'
import { grantScope } from './tokens/scope.ts'

/** The scope granted in an earlier request; '' if that requested none. */
export type GrantedScope = { readonly granted: string; readonly isAsked: boolean }

export type Login = {
  readonly user: User
  readonly client: ClientConfig
  /** The identity provider that authenticated the user; '' for a local password. */
  readonly provider: string
  readonly amr: AuthenticationMethods
  readonly source: Source
  /** The scope that the request names; undefined when it names none. */
  readonly requestedScope?: string | undefined
  /** The scope granted before the token request, and whether the client had requested one. */
  readonly scope?: GrantedScope
  /** The sid of a login that can be started only once: a second attempt gets a conflict. */
  readonly sid?: string
  /** The browser session that the login comes from; without sid it does not end with it. */
  readonly browser?: { readonly nonce: string; readonly authTime: number; readonly sid?: string }
}

/**
 * Starts a login: its session and the first tokens.
 *
 * @throws Status invalid_grant for a user who needs a second factor since, invalid_scope; 409 if a
 * session with that sid exists
 */
export async function beginLogin(tools: GrantTools, login: Login): Promise<Granted> {
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
  // Stored before the response: a token of an unknown login could never be revoked.
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
    // A client without openid gets no sid, and has no part in the session (OpenID Connect Core).
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
    answer: {
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
 * RFC 6749 section 5.1: scope is only required in the response if it differs from the requested
 * one. If that was in another request it is always included, unless none was requested: an empty
 * scope is not valid (section 3.3).
 */
function saidScope({ scope: before, requestedScope }: Login, scope: string) {
  const isKnown =
    before === undefined ? requestedScope === undefined || requestedScope === scope : !before.isAsked
  return isKnown ? {} : { scope }
}
