import { generateKey, type SigningAlgorithm, type StoredKey } from './key-set.ts'

const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256']
const maxPublishAheadSeconds = 3600

/**
 * How long a new key is published before it signs, so that clients with a cached key set have
 * fetched it.
 */
export function publishAhead(rotateAfterSeconds: number): number {
  return Math.min(maxPublishAheadSeconds, Math.floor(rotateAfterSeconds / 4))
}

export type Rotation = {
  readonly nowSeconds: number
  /** For how long a key signs before another one does. */
  readonly rotateAfterSeconds: number
  /** How long a key is kept at least after it was replaced. */
  readonly tokenSeconds: number
  /**
   * Returns whether a token that was signed between these two times is still in use; then its key
   * is kept longer.
   */
  readonly isNeeded?: (fromSeconds: number, untilSeconds: number) => boolean
  /** Someone wants new keys before it is time for them. */
  readonly isAsked?: boolean
}

/** The keys after rotation; undefined when nothing is due. */
export async function rotate(
  stored: readonly StoredKey[],
  { nowSeconds, rotateAfterSeconds, tokenSeconds, isNeeded = () => false, isAsked = false }: Rotation,
): Promise<readonly StoredKey[] | undefined> {
  const publishAheadSeconds = publishAhead(rotateAfterSeconds)
  const next: StoredKey[] = []
  let isDue = false
  for (const alg of algorithms) {
    const own = stored.filter(key => key.alg === alg).sort((a, b) => a.signsFrom - b.signsFrom)
    const newest = own.at(-1)
    // A key can be removed once everything that it signed has expired: the start of its successor
    // plus the lifetime of a token.
    const kept = own.filter(({ signsFrom }, i) => {
      const successor = own[i + 1]
      if (successor === undefined || successor.signsFrom + tokenSeconds > nowSeconds) return true
      return isNeeded(signsFrom, successor.signsFrom)
    })
    const isDueByAge =
      newest !== undefined && newest.signsFrom + rotateAfterSeconds - publishAheadSeconds <= nowSeconds
    // One that was published and does not sign yet is the new key that is asked for.
    const isDueByWish = isAsked && newest !== undefined && newest.signsFrom <= nowSeconds
    const wantsNew = newest === undefined || isDueByAge || isDueByWish
    if (wantsNew)
      kept.push(await generateKey(alg, newest === undefined ? nowSeconds : nowSeconds + publishAheadSeconds))
    isDue ||= wantsNew || kept.length !== own.length
    next.push(...kept)
  }
  return isDue ? next : undefined
}
