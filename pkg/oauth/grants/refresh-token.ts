import { isStatus } from '../../apierrors/status.ts'
import type { ClientConfig } from '../../config/sections/client.ts'
import { isObsoleteSession, type Session } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'
import type { TokenClaims } from '../../jwt/verify.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { assertSecondFactor } from '../second-factor.ts'
import { invalidGrant, oauthError } from '../server/error.ts'
import { type Form, requireParameter } from '../server/form.ts'
import type { Grant, GrantOutcome, GrantTools } from '../tokens/grant.ts'
import { issueIdToken } from '../tokens/id-token.ts'
import { type Lifetimes, lifetimesOf } from '../tokens/lifetimes.ts'
import { narrowScope } from '../tokens/scope.ts'

// A client that lost the response retries with the same token within this time. Later reuse means
// theft (RFC 9700 section 4.14).
const graceMs = 10_000
const attempts = 3

/** The refresh token grant (RFC 6749 section 6) with rotation: reuse ends the login. */
export const refreshTokenGrant: Grant = {
  grantType: 'refresh_token',
  async handle(tools, { client, form }) {
    const claims = await readToken(tools, requireParameter(form, 'refresh_token'))
    if (claims.clientId !== client.name)
      throw invalidGrant('the refresh token was issued to another client', { why: 'wrong_client' })
    const user = tools.users.get(claims.sub)
    if (user === undefined) throw invalidGrant('authenticated user does not exist', { why: 'unknown_user' })
    assertUserEnabled(user)
    // Of concurrent requests to two replicas, the second gets a conflict, reads the session again
    // and decides again.
    for (let attempt = 0; attempt < attempts; attempt++) {
      const session = await tools.sessions.read(claims.sid)
      if (session === undefined || session.ended !== '' || isObsoleteSession(session, user))
        throw invalidGrant('the login has ended', { why: 'login_ended', user: user.name })
      assertSecondFactor(tools.factors, user, session.amr)
      const lifetimes = lifetimesOf(client, tools.lifetimes, (Date.now() - session.createdAtMs) / 1000)
      if (lifetimes.loginMaxAgeSeconds <= 0)
        throw invalidGrant('the login has ended', { why: 'login_too_old', user: user.name })
      const granted = await refresh(tools, { session, claims, user, client, form, lifetimes })
      if (granted) return granted
    }
    throw oauthError(503, 'temporarily_unavailable', 'try again in a moment', {
      headers: { 'retry-after': '1' },
    })
  },
}

type Refresh = {
  session: Session
  claims: TokenClaims
  user: User
  client: ClientConfig
  form: Form
  lifetimes: Lifetimes
}

/** @returns undefined if the session was changed in the meantime */
async function refresh(
  tools: GrantTools,
  { session, claims, user, client, form, lifetimes }: Refresh,
): Promise<GrantOutcome | undefined> {
  const nowMs = Date.now()
  const isCurrent = claims.jti === session.refreshId
  const isRetry = claims.jti === session.previousRefreshId && nowMs - session.rotatedAtMs < graceMs
  if (!isCurrent && !isRetry) {
    if (!(await tools.sessions.update({ ...session, ended: 'refresh token used twice' }))) return undefined
    throw invalidGrant('the refresh token was used before; the login has ended', {
      why: 'refresh_token_reused',
      user: user.name,
    })
  }
  const requested = form.get('scope')
  const scope = narrowScope(session.scope, requested, client)
  const { name: username, uid, groups, mustChangePassword } = user
  const { sid, clientId } = session
  const subject = { username, uid, groups, mustChangePassword, sid, clientId }
  const authTime = Math.floor(session.authenticatedAtMs / 1000)
  const { amr } = session
  const [access, next] = await Promise.all([
    tools.issuer.access({ ...subject, scope, login: { amr, authTime } }, lifetimes.accessTokenSeconds),
    tools.issuer.refresh(
      { ...subject, scope: session.scope },
      lifetimes.refreshTokenSeconds,
      // A retry gets the refresh token of the lost response.
      isRetry ? session.refreshId : undefined,
    ),
  ])
  const rotated = {
    ...session,
    refreshId: next.jti,
    previousRefreshId: claims.jti,
    rotatedAtMs: nowMs,
    expiresAtMs: next.expiresAt * 1000,
  }
  if (!isRetry && !(await tools.sessions.update(rotated))) return undefined
  const response = {
    access_token: access.token,
    token_type: 'Bearer',
    refresh_token: next.token,
    expires_in: lifetimes.accessTokenSeconds,
    // OpenID Connect Core section 12.2: an ID token with the login and auth_time of the first,
    // without its nonce.
    ...(await issueIdToken(tools, {
      ...{ user, client, sid, scope, nonce: '', authTime, amr },
      accessToken: access.token,
      lifeSeconds: lifetimes.accessTokenSeconds,
    })),
    ...(requested === undefined || requested === scope ? {} : { scope }),
  } as const
  return { user: user.name, response }
}

async function readToken(tools: GrantTools, token: string): Promise<TokenClaims> {
  try {
    return await tools.verifier.verifyRefresh(token)
  } catch (error) {
    if (isStatus(error, 401))
      throw invalidGrant('the refresh token is invalid or expired', { why: 'invalid_refresh_token' })
    throw error
  }
}
