import { generateKey, type SigningAlgorithm, type StoredKey } from './key-set.ts'

const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256']
const maxPublishAheadSeconds = 3600

/** Returns how many seconds a new key is published before it signs, for cached key sets. */
export function publishAhead(rotateAfterSeconds: number): number {
  return Math.min(maxPublishAheadSeconds, Math.floor(rotateAfterSeconds / 4))
}

export type Rotation = {
  readonly nowSeconds: number
  /** How long a key signs, in seconds. */
  readonly rotateAfterSeconds: number
  /** Minimum time that a replaced key is kept, in seconds. */
  readonly tokenSeconds: number
  /** Reports whether a token of this time is still in use, whose key is then kept. */
  readonly isNeeded?: (fromSeconds: number, untilSeconds: number) => boolean
  /** Whether an administrator requests a rotation before it is due. */
  readonly isAsked?: boolean
}

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
    // A key is removed when everything that it has signed has expired: one token lifetime after its
    // successor began to sign.
    const kept = own.filter(({ signsFrom }, i) => {
      const successor = own[i + 1]
      if (successor === undefined || successor.signsFrom + tokenSeconds > nowSeconds) return true
      return isNeeded(signsFrom, successor.signsFrom)
    })
    const isDueByAge =
      newest !== undefined && newest.signsFrom + rotateAfterSeconds - publishAheadSeconds <= nowSeconds
    // If a published key does not sign yet, it is the requested new key.
    const isDueByWish = isAsked && newest !== undefined && newest.signsFrom <= nowSeconds
    const wantsNew = newest === undefined || isDueByAge || isDueByWish
    if (wantsNew)
      kept.push(await generateKey(alg, newest === undefined ? nowSeconds : nowSeconds + publishAheadSeconds))
    isDue ||= wantsNew || kept.length !== own.length
    next.push(...kept)
  }
  return isDue ? next : undefined
}
