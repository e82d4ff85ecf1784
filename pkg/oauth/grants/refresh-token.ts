import type { Session } from '../../iam/session.ts'
import { Status } from '../../status/status.ts'
import type { TokenClaims } from '../../token/verify.ts'
import { oauthError } from '../error.ts'
import type { Grant, GrantTools, TokenAnswer } from '../grant.ts'
import { assertMayLogIn } from '../user-state.ts'

// A client whose answer was lost asks again with the same token; later than this it is somebody else (RFC 9700 section 4.14).
const graceMs = 10_000
const attempts = 3

/** RFC 6749 section 6, with rotation: each refresh token is good once, and one that comes back ends the login. */
export const refreshTokenGrant: Grant = {
  grantType: 'refresh_token',
  async handle(tools, { client, form }) {
    const claims = await readToken(tools, form.get('refresh_token'))
    if (claims.clientId !== client.name) throw invalid('the refresh token was issued to another client')
    const user = tools.users.get(claims.sub)
    if (user === undefined) throw invalid('authenticated user does not exist')
    assertMayLogIn(user)
    // Two replicas may be asked at once: the second finds the session changed, reads it again and judges anew.
    for (let attempt = 0; attempt < attempts; attempt++) {
      const session = await tools.sessions.read(claims.sid)
      if (session === undefined || session.ended !== '') throw invalid('the login has ended')
      const answer = await refresh(tools, { session, claims, groups: user.groups })
      if (answer) return answer
    }
    throw oauthError(503, 'temporarily_unavailable', 'try again in a moment', { 'retry-after': '1' })
  },
}

type Refresh = { session: Session; claims: TokenClaims; groups: readonly string[] }

/** @returns undefined when the session has changed meanwhile */
async function refresh(
  tools: GrantTools,
  { session, claims, groups }: Refresh,
): Promise<TokenAnswer | undefined> {
  const nowMs = Date.now()
  const isCurrent = claims.jti === session.refreshId
  const isRetry = claims.jti === session.previousRefreshId && nowMs - session.rotatedAtMs < graceMs
  if (!isCurrent && !isRetry) {
    if (!(await tools.sessions.update({ ...session, ended: 'refresh token used twice' }))) return undefined
    throw invalid('the refresh token was used before; the login has ended')
  }
  const { sid, clientId, scope, user: username } = session
  const subject = { username, groups, sid, clientId, scope }
  const access = await tools.issuer.access(subject, tools.accessTokenSeconds)
  const next = await tools.issuer.refresh(
    subject,
    tools.refreshTokenSeconds,
    isRetry ? session.refreshId : undefined,
  )
  const rotated = {
    ...session,
    refreshId: next.jti,
    previousRefreshId: claims.jti,
    rotatedAtMs: isRetry ? session.rotatedAtMs : nowMs,
    expiresAtMs: next.expiresAt * 1000,
  }
  if (!isRetry && !(await tools.sessions.update(rotated))) return undefined
  return {
    access_token: access.token,
    token_type: 'Bearer',
    refresh_token: next.token,
    expires_in: tools.accessTokenSeconds,
  }
}

async function readToken(tools: GrantTools, token: string | undefined): Promise<TokenClaims> {
  if (token === undefined) throw oauthError(400, 'invalid_request', 'the parameter refresh_token is required')
  try {
    return await tools.verifier.verifyRefresh(token)
  } catch (error) {
    if (error instanceof Status && error.code === 401)
      throw invalid('the refresh token is invalid or expired')
    throw error
  }
}

function invalid(description: string): Status {
  return oauthError(400, 'invalid_grant', description)
}
