import { LRUCache } from 'lru-cache'

/** Names of recently stored batches, by which a retry is recognized and not stored. */
export type RecentBatches = {
  readonly has: (name: string) => boolean
  /** Reports whether a line was rejected when its batch was stored. */
  readonly isRejected: (name: string, index: number) => boolean
  /** Adds a stored batch. @param rejected indexes of the lines that were not stored */
  readonly add: (name: string, rejected?: ReadonlySet<number>) => void
  readonly delete: (name: string) => void
}

// Limits the remembered lines to about two batches of maximum size. Only retries need them.
const rememberedRejections = 200_000

/** @param limit maximum number of names; beyond it the oldest are removed */
export function createRecentBatches(limit: number): RecentBatches {
  const names = new Set<string>()
  const rejections = new LRUCache<string, ReadonlySet<number>>({
    maxSize: rememberedRejections,
    sizeCalculation: ({ size }) => size,
  })
  return {
    has: name => names.has(name),
    isRejected: (name, index) => rejections.get(name)?.has(index) === true,
    delete: name => {
      names.delete(name)
      rejections.delete(name)
    },
    add: (name, rejected) => {
      names.add(name)
      if (rejected !== undefined && rejected.size > 0) rejections.set(name, rejected)
      for (const oldest of names) {
        if (names.size <= limit) break
        names.delete(oldest)
        rejections.delete(oldest)
      }
    },
  }
}
