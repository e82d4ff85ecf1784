/** Batches that were stored lately, so that one that is sent again is not stored again. */
export type RecentBatches = {
  readonly has: (key: string) => boolean
  readonly add: (key: string) => void
  /** The oldest first. */
  readonly list: () => readonly string[]
}

/** @param limit how many are remembered */
export function createRecentBatches(known: readonly string[], limit: number): RecentBatches {
  const keys = new Set(known)
  return {
    has: key => keys.has(key),
    list: () => [...keys],
    add: key => {
      keys.add(key)
      for (const oldest of keys) {
        if (keys.size <= limit) break
        keys.delete(oldest)
      }
    },
  }
}
