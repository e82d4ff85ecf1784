import type { IncomingMessage } from 'node:http'
import { isStatus } from '../../apierrors/status.ts'
import { readBearer } from '../../authn/read-bearer.ts'
import type { User } from '../../iam/users/user.ts'
import type { TokenClaims } from '../../jwt/verify.ts'
import type { GrantTools } from './grant.ts'

/** The claims of a valid token of Kapis, and its user. */
export type ValidToken = { readonly claims: TokenClaims; readonly user: User }

export type TokenValidator = Pick<GrantTools, 'verifier' | 'users' | 'sessions'>

/** Validates an access token for Kapis. @returns undefined if it is invalid */
export function validateAccessToken(tools: TokenValidator, token: string): Promise<ValidToken | undefined> {
  return validate(tools, () => tools.verifier.verifyAccess(token))
}

/**
 * Validates an access token for any audience: for introspection, never as a credential.
 *
 * @returns undefined if the token is invalid for any reason
 */
export function validateIssuedToken(tools: TokenValidator, token: string): Promise<ValidToken | undefined> {
  return validate(tools, () => tools.verifier.verifyIssued(token))
}

/**
 * Validates a refresh token, which must be the newest of its login. Reads the session from
 * kube-apiserver.
 *
 * @returns undefined if the token is invalid for any reason
 */
export async function validateRefreshToken(
  tools: TokenValidator,
  token: string,
): Promise<ValidToken | undefined> {
  const valid = await validate(tools, () => tools.verifier.verifyRefresh(token))
  if (valid === undefined) return undefined
  const session = await tools.sessions.read(valid.claims.sid)
  return session?.ended === '' && session.refreshId === valid.claims.jti ? valid : undefined
}

/** Returns the caller of the access token in Authorization; undefined without one. */
export async function readCaller(
  tools: TokenValidator,
  req: IncomingMessage,
): Promise<ValidToken | undefined> {
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

async function validate(
  { users, sessions }: TokenValidator,
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
