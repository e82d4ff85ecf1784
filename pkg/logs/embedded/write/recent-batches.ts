/** Names of recently stored batches, so that a retry is not stored twice. */
export type RecentBatches = {
  readonly has: (name: string) => boolean
  readonly add: (name: string) => void
  readonly delete: (name: string) => void
}

/** @param limit maximum number of names; the oldest is dropped */
export function createRecentBatches(limit: number): RecentBatches {
  const names = new Set<string>()
  return {
    has: name => names.has(name),
    delete: name => void names.delete(name),
    add: name => {
      names.add(name)
      for (const oldest of names) {
        if (names.size <= limit) break
        names.delete(oldest)
      }
    },
  }
}
