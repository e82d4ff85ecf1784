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
  /** How long a key signs. */
  readonly rotateAfterSeconds: number
  /** Minimum time that a key is kept after it was replaced. */
  readonly tokenSeconds: number
  /**
   * Returns whether a token that was signed between these two times is still in use; then its key
   * is kept longer.
   */
  readonly isNeeded?: (fromSeconds: number, untilSeconds: number) => boolean
  /** Whether a rotation is requested before it is due. */
  readonly isAsked?: boolean
}

/** Returns the keys after a rotation; undefined if none is due. */
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
    // A published key that does not sign yet becomes the requested new key.
    const isDueByWish = isAsked && newest !== undefined && newest.signsFrom <= nowSeconds
    const wantsNew = newest === undefined || isDueByAge || isDueByWish
    if (wantsNew)
      kept.push(await generateKey(alg, newest === undefined ? nowSeconds : nowSeconds + publishAheadSeconds))
    isDue ||= wantsNew || kept.length !== own.length
    next.push(...kept)
  }
  return isDue ? next : undefined
}
