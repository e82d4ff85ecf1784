import { isRecord } from '../kubeclient/object/object.ts'
import { type PublicKey, type StoredKey, toPublicJwk } from './key-set.ts'

/**
 * A key that no longer signs or verifies tokens. Its public part only verifies id_token_hint: at a
 * logout, clients send ID tokens that expired long ago.
 */
export type RetiredKey = PublicKey & {
  /** When its successor began to sign, in seconds since the epoch. */
  readonly signsUntil: number
}

// At least a month of keys with daily rotation. Hints with older keys are ignored.
const maxRetired = 100

/**
 * Returns the retired keys after a rotation, newest last.
 *
 * @param isRemembered reports whether an active login has ID tokens that were signed between two
 * times, in seconds
 */
export function retire(
  retired: readonly RetiredKey[],
  { before, after }: { readonly before: readonly StoredKey[]; readonly after: readonly StoredKey[] },
  isRemembered: (fromSeconds: number, untilSeconds: number) => boolean,
): readonly RetiredKey[] {
  const kept = new Set(after.map(({ kid }) => kid))
  const dropped = before.filter(({ kid }) => !kept.has(kid)).map(key => toRetired(key, [...before, ...after]))
  return [...retired, ...dropped]
    .filter(({ signsFrom, signsUntil }) => isRemembered(signsFrom, signsUntil))
    .sort((a, b) => a.signsFrom - b.signsFrom)
    .slice(-maxRetired)
}

function toRetired({ kid, alg, signsFrom, jwk }: StoredKey, all: readonly StoredKey[]): RetiredKey {
  const later = all.filter(key => key.alg === alg && key.signsFrom > signsFrom)
  const signsUntil = Math.min(...later.map(key => key.signsFrom), Number.MAX_SAFE_INTEGER)
  return { kid, alg, signsFrom, signsUntil, jwk: toPublicJwk({ kid, alg, jwk }) }
}

/** @throws Error with the problem, but no key material */
export function parseRetiredKeys(text: string): readonly RetiredKey[] {
  const parsed: unknown = JSON.parse(text)
  if (!Array.isArray(parsed) || !parsed.every(isRetiredKey))
    throw new Error('retired.json is not a list of public keys')
  return parsed
}

function isRetiredKey(value: unknown): value is RetiredKey {
  if (!isRecord(value) || !isRecord(value.jwk) || 'd' in value.jwk) return false
  const { kid, alg, signsFrom, signsUntil } = value
  const isKnown = alg === 'ES256' || alg === 'RS256'
  return typeof kid === 'string' && isKnown && typeof signsFrom === 'number' && typeof signsUntil === 'number'
}
