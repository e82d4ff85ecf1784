import { type JWTPayload, jwtVerify } from 'jose'
import { Status, unauthorized } from '../status/status.ts'
import type { KeySource } from './key-source.ts'

/** The claims of a verified token that Kapis acts on. Times are seconds since the epoch. */
export type TokenClaims = {
  readonly sub: string
  readonly sid: string
  readonly jti: string
  readonly exp: number
  readonly iat: number
  readonly clientId: string
  readonly scope: string
}

export type TokenVerifier = {
  /** Whether a token says that it is of this issuer. Nothing is verified: it only decides who is to verify it. */
  readonly isOurs: (token: string) => boolean
  /** @throws Status 401 */
  readonly verifyAccess: (token: string) => Promise<TokenClaims>
  /** @throws Status 401 */
  readonly verifyRefresh: (token: string) => Promise<TokenClaims>
}

// Ours are about 900 bytes, more with many groups. Looked at before anything is decoded.
const maxTokenLength = 16 * 1024

export function createTokenVerifier(options: {
  issuer: string
  audience: string
  clockSkewSeconds: number
  keys: KeySource
}): TokenVerifier {
  const { issuer, audience, clockSkewSeconds, keys } = options

  async function verify(token: string, kind: 'access' | 'refresh'): Promise<TokenClaims> {
    if (token.length > maxTokenLength) throw unauthorized('the token is too long')
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid, alg }) => {
          const key = keys.current().find(kid ?? '', alg)
          if (key === undefined) throw new Error('unknown key')
          return key
        },
        {
          issuer,
          audience: kind === 'access' ? audience : issuer,
          typ: kind === 'access' ? 'at+jwt' : 'JWT',
          // Asymmetric ones alone: a public key can never be taken for a shared secret (RFC 8725 section 2.1).
          algorithms: ['ES256', 'RS256'],
          clockTolerance: clockSkewSeconds,
          requiredClaims: ['sub', 'sid', 'jti', 'exp', 'iat'],
        },
      )
      if (payload.token_type !== `${kind}_token`) throw new Error('the token is of another type')
      const latest = Date.now() / 1000 + clockSkewSeconds
      if ((payload.iat ?? 0) > latest) throw new Error('the token was issued in the future')
      return toClaims(payload)
    } catch (error) {
      if (error instanceof Status) throw error
      throw unauthorized(error)
    }
  }

  return {
    isOurs: token => readIssuer(token) === issuer,
    verifyAccess: token => verify(token, 'access'),
    verifyRefresh: token => verify(token, 'refresh'),
  }
}

function toClaims(payload: JWTPayload): TokenClaims {
  const { sub = '', jti = '', exp = 0, iat = 0 } = payload
  const text = (name: string) => (typeof payload[name] === 'string' ? payload[name] : '')
  return { sub, sid: text('sid'), jti, exp, iat, clientId: text('client_id'), scope: text('scope') }
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
