import { createPrivateKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'

export type SigningAlgorithm = 'ES256' | 'RS256'

/** A stored key: a JWK (RFC 7517) with the time from which it signs, in seconds since the epoch. */
export type PublicKey = {
  readonly kid: string
  readonly alg: SigningAlgorithm
  readonly signsFrom: number
  readonly jwk: JWK
}

/** A stored key whose JWK includes the private members. */
export type StoredKey = PublicKey

type CryptoKeyLike = Exclude<Awaited<ReturnType<typeof importJWK>>, Uint8Array>
export type LoadedKey = StoredKey & {
  readonly key: CryptoKeyLike
  /** The private key for the synchronous API of node:crypto. */
  readonly privateKey: KeyObject
  readonly publicKey: CryptoKeyLike
  readonly publicJwk: JWK
}

/** The current keys, imported for use. */
export type KeySet = {
  /** Returns the newest key that may sign. @throws Error if there is none */
  readonly signer: (alg: SigningAlgorithm, nowSeconds: number) => LoadedKey
  readonly find: (kid: string, alg: string) => CryptoKeyLike | undefined
  /** Like `find`, including retired keys, which only verify id_token_hint (see retired-keys.ts). */
  readonly findForHint: (kid: string, alg: string) => CryptoKeyLike | undefined
  /** Returns the public part of every key, also of those that may not sign yet. */
  readonly jwks: () => { readonly keys: readonly JWK[] }
}

const keyTypes: Readonly<Record<SigningAlgorithm, string>> = { ES256: 'EC', RS256: 'RSA' }
// Public members of a JWK: an allow-list, so that a private member can never be included.
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const

/** Generates a key pair; its thumbprint is the `kid`. @param signsFrom in seconds since 1970 */
export async function generateKey(alg: SigningAlgorithm, signsFrom: number): Promise<StoredKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(privateKey)
  return { kid: await calculateJwkThumbprint(jwk), alg, signsFrom, jwk }
}

/**
 * Imports stored keys.
 *
 * @param retired keys that only verify id_token_hint (see retired-keys.ts)
 * @throws Error if a key is invalid, or cannot sign with its algorithm
 */
export async function loadKeySet(
  stored: readonly StoredKey[],
  retired: readonly PublicKey[] = [],
): Promise<KeySet> {
  const keys = await Promise.all(stored.map(load))
  const byKid = new Map(keys.map(key => [key.kid, key]))
  const old = await Promise.all(
    retired.map(async key => ({ ...key, publicKey: await importKey(toPublicJwk(key), key.alg) })),
  )
  const hintsByKid = new Map([...old, ...keys].map(key => [key.kid, key]))
  // The algorithm must be that of the key, not one that the token chooses (RFC 8725 3.1).
  const findIn =
    (known: ReadonlyMap<string, Pick<LoadedKey, 'alg' | 'publicKey'>>) => (kid: string, alg: string) => {
      const key = known.get(kid)
      return key?.alg === alg ? key.publicKey : undefined
    }
  return {
    signer(alg, nowSeconds) {
      const ready = keys.filter(key => key.alg === alg && key.signsFrom <= nowSeconds)
      const newest = ready.reduce<LoadedKey | undefined>(
        (best, key) => (best && best.signsFrom >= key.signsFrom ? best : key),
        undefined,
      )
      if (newest === undefined) throw new Error(`no ${alg} signing key`)
      return newest
    },
    find: findIn(byKid),
    findForHint: findIn(hintsByKid),
    jwks: () => ({ keys: keys.map(({ publicJwk }) => publicJwk) }),
  }
}

/** @throws Error with the problem, but no key material */
export function parseStoredKeys(text: string): readonly StoredKey[] {
  const parsed: unknown = JSON.parse(text)
  if (!Array.isArray(parsed) || !parsed.every(isStoredKey))
    throw new Error('keys.json is not a list of signing keys')
  return parsed
}

function isStoredKey(value: unknown): value is StoredKey {
  if (typeof value !== 'object' || value === null) return false
  const { kid, alg, signsFrom, jwk }: { kid?: unknown; alg?: unknown; signsFrom?: unknown; jwk?: unknown } =
    value
  const isKnown = alg === 'ES256' || alg === 'RS256'
  return (
    typeof kid === 'string' &&
    isKnown &&
    typeof signsFrom === 'number' &&
    typeof jwk === 'object' &&
    jwk !== null
  )
}

async function load(stored: StoredKey): Promise<LoadedKey> {
  const { jwk, alg, kid } = stored
  if (jwk.kty !== keyTypes[alg])
    throw new Error(`key ${kid} is of type ${jwk.kty} and cannot sign with ${alg}`)
  const publicJwk = toPublicJwk(stored)
  return {
    ...stored,
    key: await importKey(jwk, alg),
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicKey: await importKey(publicJwk, alg),
    publicJwk,
  }
}

/** Returns the JWK of a public key for the key set document (RFC 7517 section 4). */
export function toPublicJwk({ jwk, alg, kid }: Pick<PublicKey, 'jwk' | 'alg' | 'kid'>): JWK {
  const publicJwk: JWK = { use: 'sig', alg, kid }
  for (const member of publicMembers) if (jwk[member] !== undefined) publicJwk[member] = jwk[member]
  return publicJwk
}

async function importKey(jwk: JWK, alg: string): Promise<CryptoKeyLike> {
  const key = await importJWK(jwk, alg)
  if (key instanceof Uint8Array) throw new Error('a symmetric key cannot sign')
  return key
}
