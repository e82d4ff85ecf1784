import { randomUUID } from 'node:crypto'
import { type JWTPayload, jwtVerify } from 'jose'
import { Status } from '../apierrors/status.ts'
import type { KeySource } from './key-source.ts'
import { signJwt } from './sign.ts'

/** The kinds of data that the OAuth server stores in a browser or client. */
export type InternalJwtKind =
  | 'code'
  | 'browser'
  | 'device'
  | 'login-progress'
  | 'login-proof'
  | 'logout-request'
  | 'provider-login'
  | 'provider-logout'
  | 'newcomer'

export type InternalJwt = JWTPayload & { readonly jti: string; readonly iat: number; readonly exp: number }

export type InternalJwts = {
  readonly sign: (
    kind: InternalJwtKind,
    claims: Readonly<Record<string, string | number>>,
    options: { readonly lifeSeconds: number; readonly jti?: string },
  ) => Promise<string>
  /** Verifies a JWT. @returns undefined unless it is valid and of this kind */
  readonly verify: (kind: InternalJwtKind, token: string) => Promise<InternalJwt | undefined>
}

// The data of a new account includes its groups and an ID token; a logout includes a URL with the
// state of a client.
const maxKilobytes: Partial<Record<InternalJwtKind, number>> = {
  newcomer: 48,
  'login-progress': 48,
  'logout-request': 16,
}
const maxLengthOf = (kind: InternalJwtKind) => (maxKilobytes[kind] ?? 8) * 1024

/**
 * Signs internal JWTs that any replica can verify, such as authorization codes, browser cookies and
 * device codes. Type and audience distinguish the kinds from each other and from all tokens (RFC
 * 8725 section 3.11).
 */
export function createInternalJwts({ issuer, keys }: { issuer: string; keys: KeySource }): InternalJwts {
  const audienceOf = (kind: InternalJwtKind) => `${issuer}#${kind}`
  const typeOf = (kind: InternalJwtKind) => `${kind}+jwt`

  return {
    async sign(kind, claims, { lifeSeconds, jti = randomUUID() }) {
      const now = Math.floor(Date.now() / 1000)
      const signer = keys.current().signer('ES256', now)
      const standard = { iss: issuer, aud: audienceOf(kind), iat: now, exp: now + lifeSeconds, jti }
      return signJwt(typeOf(kind), { ...claims, ...standard }, signer)
    },
    async verify(kind, token) {
      if (token.length > maxLengthOf(kind)) return undefined
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid, alg }) => {
            const key = keys.current().find(kid ?? '', alg)
            if (key === undefined) throw new Error('unknown key')
            return key
          },
          { issuer, audience: audienceOf(kind), typ: typeOf(kind), algorithms: ['ES256'] },
        )
        const { jti, iat, exp } = payload
        return jti === undefined || iat === undefined || exp === undefined
          ? undefined
          : { ...payload, jti, iat, exp }
      } catch (error) {
        if (error instanceof Status) throw error
        return undefined
      }
    },
  }
}
