import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { isRecord } from '../../kubeclient/object/object.ts'

/** A passkey of a user: a public key credential of Web Authentication. */
export type Passkey = {
  /** The credential id, in base64url. */
  readonly id: string
  /** A COSE_Key, in base64url. */
  readonly publicKey: string
  /** The signature counter of the last use; 0 for an authenticator without a counter. */
  readonly counter: number
  /** How the browser reaches the authenticator, as reported by the browser. */
  readonly transports: readonly string[]
  /** The user handle in the authenticator, which the passkey keeps if the user is restored. */
  readonly userHandle: string
  readonly name: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
}

/** The maximum number of passkeys of a user: the login page contains the id of each. */
export const maxPasskeys = 10

/** Kapis as a Relying Party (Web Authentication section 4). */
export type RelyingParty = { readonly id: string; readonly origin: string; readonly name: string }

/** @returns undefined if the host of the issuer is an IP address, which cannot have passkeys */
export function toRelyingParty(issuer: string, name: string): RelyingParty | undefined {
  const { hostname, origin } = new URL(issuer)
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith('[')
  return isAddress ? undefined : { id: hostname, origin, name }
}

/** Returns a random challenge of 32 bytes in base64url (Web Authentication section 13.4.3). */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url')
}

/** @returns undefined for a name over 64 characters, or with control characters */
export function parsePasskeyName(text: string): string | undefined {
  const name = text.trim()
  return /^[^\p{Cc}\u202a-\u202e\u2066-\u2069]{1,64}$/u.test(name) ? name : undefined
}

/** @throws Error */
export function parsePasskey(value: unknown): Passkey {
  if (!isRecord(value)) throw new Error('a passkey is not an object')
  const { id, publicKey, counter, transports, userHandle, name, createdAtMs, lastUsedAtMs } = value
  if (typeof id !== 'string' || typeof publicKey !== 'string' || typeof name !== 'string')
    throw new Error('a passkey is invalid')
  if (typeof userHandle !== 'string') throw new Error('a passkey is invalid')
  if (typeof counter !== 'number' || typeof createdAtMs !== 'number' || typeof lastUsedAtMs !== 'number')
    throw new Error('a passkey is invalid')
  if (!Array.isArray(transports) || !transports.every(each => typeof each === 'string'))
    throw new Error('the transports of a passkey are invalid')
  return { id, publicKey, counter, transports, userHandle, name, createdAtMs, lastUsedAtMs }
}
