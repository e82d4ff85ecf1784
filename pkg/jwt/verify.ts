import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { Status, unauthorized } from '../apierrors/status.ts'
import { readLoginClaims, type TokenLogin } from './authentication-methods.ts'
import type { KeySource } from './key-source.ts'
import { isReadOnly, onlineAudience } from './online-audience.ts'
import { isReservedName } from './reserved-username.ts'

/** The claims of a verified token that Kapis uses. Times are in seconds since the epoch. */
export type TokenClaims = {
  readonly sub: string
  /** The uid of the user; '' in tokens of older releases, and in refresh tokens. */
  readonly uid: string
  readonly sid: string
  readonly jti: string
  readonly exp: number
  readonly iat: number
  readonly clientId: string
  readonly scope: string
  readonly aud: readonly string[]
  readonly login?: TokenLogin
}

/** The user, login and client of an ID token (id_token_hint). */
export type IdTokenHint = { readonly sub: string; readonly sid: string; readonly clientId: string }

export type TokenVerifier = {
  /** Reports whether a token claims to be from this issuer, which is not verified. */
  readonly isOurs: (token: string) => boolean
  /** Verifies an access token for Kapis. @throws Status 401 */
  readonly verifyAccess: (token: string) => Promise<TokenClaims>
  /**
   * Like `verifyAccess`, for any audience, such as that of an exchanged token: for introspection
   * and revocation, never as a credential.
   *
   * @throws Status 401
   */
  readonly verifyIssued: (token: string) => Promise<TokenClaims>
  /** Verifies a refresh token. @throws Status 401 */
  readonly verifyRefresh: (token: string) => Promise<TokenClaims>
  /** Returns the login of an ID token, even an expired one; undefined for other text. */
  readonly readIdTokenHint: (token: string) => Promise<IdTokenHint | undefined>
}

// Tokens of Kapis have about 900 bytes, more with many groups. Checked before the token is decoded.
const maxTokenLength = 16 * 1024

/**
 * Creates the verifier of tokens of Kapis (RFC 9068, RFC 8725). It verifies signature, type,
 * issuer, audience and times, with a tolerance of `clockSkewSeconds`. It does not check sessions
 * and users.
 */
export function createTokenVerifier(options: {
  issuer: string
  audience: string
  clockSkewSeconds: number
  keys: KeySource
}): TokenVerifier {
  const { issuer, audience, clockSkewSeconds, keys } = options

  const rules = {
    access: { audience: [audience, onlineAudience(audience)], typ: 'at+jwt' },
    issued: { typ: 'at+jwt' },
    refresh: { audience: issuer, typ: 'JWT' },
  } as const satisfies Record<string, JWTVerifyOptions>

  /** Verifies signature, issuer and times of a token. @throws Error */
  async function check(
    token: string,
    options: JWTVerifyOptions,
    find: 'find' | 'findForHint' = 'find',
  ): Promise<JWTPayload> {
    const { payload } = await jwtVerify(
      token,
      ({ kid, alg }) => {
        const key = keys.current()[find](kid ?? '', alg)
        if (key === undefined) throw new Error('unknown key')
        return key
      },
      {
        issuer,
        // Only asymmetric algorithms: a public key must never be used as a shared secret (RFC 8725
        // section 2.1).
        algorithms: ['ES256', 'RS256'],
        clockTolerance: clockSkewSeconds,
        ...options,
      },
    )
    return payload
  }

  async function readIdTokenHint(token: string): Promise<IdTokenHint | undefined> {
    if (token.length > maxTokenLength) return undefined
    try {
      // OpenID Connect RP-Initiated Logout 1.0 section 2: an expired ID token is a valid hint.
      const {
        aud,
        sub,
        sid,
        token_type: type,
      } = await check(token, { typ: 'JWT', currentDate: new Date(0) }, 'findForHint')
      const clientId = Array.isArray(aud) ? aud[0] : aud
      const isIdToken = type === undefined || type === 'id_token'
      if (!isIdToken || typeof sub !== 'string' || typeof sid !== 'string' || clientId === undefined)
        return undefined
      return { sub, sid, clientId }
    } catch (error) {
      if (error instanceof Status) throw error
      return undefined
    }
  }

  async function verify(token: string, kind: 'access' | 'issued' | 'refresh'): Promise<TokenClaims> {
    if (token.length > maxTokenLength) throw unauthorized(new Error('the token is too long'))
    try {
      const payload = await check(token, rules[kind])
      if (payload.token_type !== `${kind === 'refresh' ? 'refresh' : 'access'}_token`)
        throw new Error('the token has an unexpected type')
      const latest = Date.now() / 1000 + clockSkewSeconds
      const claims = toClaims(payload)
      const isForAll = claims.aud.includes(audience) && !claims.aud.includes(onlineAudience(audience))
      if (isReadOnly(claims.scope) && isForAll)
        throw new Error('a token with this scope must not be accepted where the scope is not enforced')
      if (claims.iat > latest) throw new Error('the token was issued in the future')
      return claims
    } catch (error) {
      if (error instanceof Status) throw error
      throw unauthorized(error)
    }
  }

  return {
    isOurs: token => readIssuer(token) === issuer,
    verifyAccess: token => verify(token, 'access'),
    verifyIssued: token => verify(token, 'issued'),
    verifyRefresh: token => verify(token, 'refresh'),
    readIdTokenHint,
  }
}

/** @throws Error if claims have other types than those of issued tokens */
function toClaims(payload: JWTPayload): TokenClaims {
  const { sub, uid = '', jti, exp, iat, sid, aud = [], client_id: clientId, scope = '' } = payload
  if (typeof sub !== 'string' || sub === '' || isReservedName(sub)) throw new Error('invalid claim sub')
  if (typeof sid !== 'string' || sid === '' || typeof jti !== 'string' || jti === '')
    throw new Error('invalid claim sid or jti')
  if (typeof exp !== 'number' || typeof iat !== 'number') throw new Error('invalid claim exp or iat')
  if (typeof clientId !== 'string' || typeof scope !== 'string' || typeof uid !== 'string')
    throw new Error('invalid claim client_id, scope or uid')
  const audience = typeof aud === 'string' ? [aud] : aud
  const login = readLoginClaims(payload)
  const claims = { sub, uid, sid, jti, exp, iat, clientId, scope, aud: audience }
  return login === undefined ? claims : { ...claims, login }
}

function readIssuer(token: string): unknown {
  if (token.length > maxTokenLength) return undefined
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    return JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'))?.iss
  } catch {
    return undefined
  }
}
