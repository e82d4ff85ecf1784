import { createHash } from 'node:crypto'
import { type AuthenticationMethods, methodClaims } from './authentication-methods.ts'
import type { SigningAlgorithm } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import { signUserToken } from './sign.ts'
import { type ClaimedUser, present, userClaims } from './user-claims.ts'

/** The user, time and client of a login (OpenID Connect Core section 2). */
export type IdTokenSubject = ClaimedUser & {
  readonly sid: string
  readonly clientId: string
  readonly scope: string
  /** When the user authenticated, in seconds since the epoch; 0 if unknown. */
  readonly authTime: number
  readonly amr: AuthenticationMethods
  /** The nonce of the authorization request; '' without one. */
  readonly nonce: string
  /** The access token of the same response. */
  readonly accessToken: string
}

export type IdTokenOptions = { readonly lifeSeconds: number; readonly alg: SigningAlgorithm }

/** Signs an ID token with the claims of the requested scope (OpenID Connect Core section 5.4). */
export async function signIdToken(
  issuer: { readonly issuer: string; readonly keys: KeySource },
  subject: IdTokenSubject,
  { lifeSeconds, alg }: IdTokenOptions,
): Promise<string> {
  const scopes = subject.scope.split(' ')
  const claims = {
    ...(subject.authTime === 0 ? {} : { auth_time: subject.authTime }),
    ...methodClaims(subject.amr),
    sid: subject.sid,
    at_hash: halfHash(subject.accessToken),
    ...present({ nonce: subject.nonce }),
    ...userClaims(subject, scope => scopes.includes(scope)),
  }
  const { username, clientId: aud } = subject
  return (await signUserToken(issuer, { typ: 'JWT', alg, username, aud, lifeSeconds }, claims)).token
}

/** Returns the at_hash of an access token (OIDC Core section 3.1.3.6), by SHA-256. */
function halfHash(token: string): string {
  return createHash('sha256').update(token, 'ascii').digest().subarray(0, 16).toString('base64url')
}
