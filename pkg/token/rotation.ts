import { generateKey, type SigningAlgorithm, type StoredKey } from './key-set.ts'

const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256']
const rotateAfterSeconds = 30 * 24 * 3600
// A new key is published for so long before it signs, so that whoever caches the key set knows it by then.
const publishAheadSeconds = 3600

/** The keys after rotation; undefined when nothing is due. */
export async function rotate(
  stored: readonly StoredKey[],
  { nowSeconds, tokenSeconds }: { nowSeconds: number; tokenSeconds: number },
): Promise<readonly StoredKey[] | undefined> {
  const next: StoredKey[] = []
  let isDue = false
  for (const alg of algorithms) {
    const own = stored.filter(key => key.alg === alg).sort((a, b) => a.signsFrom - b.signsFrom)
    const newest = own.at(-1)
    // A key is done once all that it signed has expired: its successor's start plus the life of a token.
    const kept = own.filter((_, i) => {
      const successor = own[i + 1]
      return successor === undefined || successor.signsFrom + tokenSeconds > nowSeconds
    })
    const wantsNew =
      newest === undefined || newest.signsFrom + rotateAfterSeconds - publishAheadSeconds <= nowSeconds
    if (wantsNew)
      kept.push(await generateKey(alg, newest === undefined ? nowSeconds : nowSeconds + publishAheadSeconds))
    isDue ||= wantsNew || kept.length !== own.length
    next.push(...kept)
  }
  return isDue ? next : undefined
}
