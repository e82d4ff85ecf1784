import { randomUUID, sign } from 'node:crypto'
import { type JWTPayload, SignJWT } from 'jose'
import type { LoadedKey, SigningAlgorithm } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import { isReservedName } from './reserved-username.ts'

export type IssuedToken = { readonly token: string; readonly jti: string; readonly expiresAt: number }

type UserTokenOptions = {
  readonly typ: string
  readonly alg: SigningAlgorithm
  readonly username: string
  readonly aud: string | string[]
  readonly lifeSeconds: number
  readonly jti?: string
}

/**
 * Signs a token about a user with `claims` and the registered claims (RFC 7519 section 4.1).
 *
 * @throws Status 503 before the keys are loaded, Error for a reserved name
 */
export async function signUserToken(
  { issuer, keys }: { readonly issuer: string; readonly keys: KeySource },
  { typ, alg, username, aud, lifeSeconds, jti = randomUUID() }: UserTokenOptions,
  claims: JWTPayload,
): Promise<IssuedToken> {
  if (isReservedName(username)) throw new Error(`a token for ${username} must never be issued`)
  const now = Math.floor(Date.now() / 1000)
  const expiresAt = now + lifeSeconds
  const registered = { iss: issuer, sub: username, aud, iat: now, exp: expiresAt, jti }
  const token = await signJwt(typ, { ...claims, ...registered }, keys.current().signer(alg, now))
  return { token, jti, expiresAt }
}

/**
 * Signs a JWT in compact form (RFC 7515 section 7.1) with the algorithm of the key. ES256 signs
 * synchronously: 0.1 ms is less than the overhead of a thread, and the threads are busy hashing
 * passwords. RSA takes ten times as long and runs on a thread.
 *
 * @param typ header parameter that distinguishes kinds of tokens (RFC 8725 section 3.11)
 */
export async function signJwt(typ: string, claims: JWTPayload, signer: LoadedKey): Promise<string> {
  const { alg, kid, key, privateKey } = signer
  const header = { alg, kid, typ }
  if (alg !== 'ES256') return new SignJWT(claims).setProtectedHeader(header).sign(key)
  const content = `${encode(header)}.${encode(claims)}`
  // An ECDSA signature in JWS is two concatenated numbers, not DER (RFC 7518 section 3.4).
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${content}.${signature.toString('base64url')}`
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
