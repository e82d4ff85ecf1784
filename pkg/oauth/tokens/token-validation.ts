import type { IncomingMessage } from 'node:http'
import { isStatus } from '../../apierrors/status.ts'
import { readBearer } from '../../authn/read-bearer.ts'
import type { User } from '../../iam/users/user.ts'
import type { TokenClaims } from '../../jwt/verify.ts'
import type { GrantTools } from './grant.ts'

/** The claims of a valid token of Kapis, and its user. */
export type ValidToken = { readonly claims: TokenClaims; readonly user: User }

export type TokenJudge = Pick<GrantTools, 'verifier' | 'users' | 'sessions'>

/** Validates an access token for Kapis. @returns undefined if it is invalid */
export function validateAccessToken(tools: TokenJudge, token: string): Promise<ValidToken | undefined> {
  return judge(tools, () => tools.verifier.verifyAccess(token))
}

/**
 * Validates an access token for any audience: for introspection, never as a credential.
 *
 * @returns undefined if the token is invalid for any reason
 */
export function validateIssuedToken(tools: TokenJudge, token: string): Promise<ValidToken | undefined> {
  return judge(tools, () => tools.verifier.verifyIssued(token))
}

/**
 * Validates a refresh token, which must be the newest of its login. Reads the session from
 * kube-apiserver.
 *
 * @returns undefined if the token is invalid for any reason
 */
export async function validateRefreshToken(
  tools: TokenJudge,
  token: string,
): Promise<ValidToken | undefined> {
  const standing = await judge(tools, () => tools.verifier.verifyRefresh(token))
  if (standing === undefined) return undefined
  const session = await tools.sessions.read(standing.claims.sid)
  return session?.ended === '' && session.refreshId === standing.claims.jti ? standing : undefined
}

/** Returns the caller of the access token in Authorization; undefined without one. */
export async function readCaller(tools: TokenJudge, req: IncomingMessage): Promise<ValidToken | undefined> {
  const token = findBearer(req)
  return token === null ? undefined : validateAccessToken(tools, token)
}

/**
 * Returns the bearer token. Other credentials are ignored: requireValidCredential has rejected them
 * where a token is required.
 */
function findBearer(req: IncomingMessage): string | null {
  try {
    return readBearer(req)
  } catch (error) {
    if (isStatus(error, 401)) return null
    throw error
  }
}

async function judge(
  { users, sessions }: TokenJudge,
  verify: () => Promise<TokenClaims>,
): Promise<ValidToken | undefined> {
  try {
    const claims = await verify()
    const user = users.get(claims.sub)
    if (user === undefined || user.state === 'Disabled') return undefined
    if (claims.uid !== '' && claims.uid !== user.uid) return undefined
    return sessions.isRevoked(claims.sid, claims.iat) ? undefined : { claims, user }
  } catch (error) {
    if (isStatus(error, 401)) return undefined
    throw error
  }
}
