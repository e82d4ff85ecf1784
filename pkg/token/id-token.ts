import { createHash } from 'node:crypto'
import type { SigningAlgorithm } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import { isReservedName } from './reserved-name.ts'
import { signJwt } from './sign.ts'

/** Who logged in, when and for which client (OpenID Connect Core section 2). */
export type IdTokenSubject = {
  readonly username: string
  readonly displayName: string
  readonly email: string
  readonly lang: string
  readonly groups: readonly string[]
  readonly sid: string
  readonly clientId: string
  readonly scope: string
  /** When the user proved who they are, in seconds since the epoch; 0 where it is not known. */
  readonly authTime: number
  /** '' when the client sent none. */
  readonly nonce: string
  /** The access token that goes along with it. */
  readonly accessToken: string
}

export type IdTokenOptions = { readonly lifeSeconds: number; readonly alg: SigningAlgorithm }

/** Signs an ID token. Of the user it says what the scope names (OpenID Connect Core section 5.4). */
export async function signIdToken(
  { issuer, keys }: { issuer: string; keys: KeySource },
  subject: IdTokenSubject,
  { lifeSeconds, alg }: IdTokenOptions,
): Promise<string> {
  if (isReservedName(subject.username))
    throw new Error(`a token for ${subject.username} must never be issued`)
  const now = Math.floor(Date.now() / 1000)
  const signer = keys.current().signer(alg, now)
  const scopes = subject.scope.split(' ')
  const claims = {
    ...(subject.authTime === 0 ? {} : { auth_time: subject.authTime }),
    sid: subject.sid,
    at_hash: halfHash(subject.accessToken),
    // Consoles of the platform tell its tokens apart by it.
    token_type: 'id_token',
    ...present({ nonce: subject.nonce }),
    ...(scopes.includes('profile') ? profileOf(subject) : {}),
    ...(scopes.includes('email') ? present({ email: subject.email }) : {}),
    iss: issuer,
    sub: subject.username,
    aud: subject.clientId,
    iat: now,
    exp: now + lifeSeconds,
  }
  return signJwt('JWT', claims, signer)
}

function profileOf({ username, displayName, lang, groups }: IdTokenSubject) {
  return {
    ...present({ name: displayName, locale: lang }),
    preferred_username: username,
    groups: groups.filter(group => !isReservedName(group)),
  }
}

function present(claims: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== ''))
}

/** OpenID Connect Core section 3.1.3.6; both algorithms hash with SHA-256. */
function halfHash(token: string): string {
  return createHash('sha256').update(token, 'ascii').digest().subarray(0, 16).toString('base64url')
}
