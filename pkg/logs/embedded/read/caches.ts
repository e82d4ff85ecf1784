import { LRUCache } from 'lru-cache'
import type { ReaderCaches } from '../partition/partition-reader.ts'

// Estimated overhead of a cache entry, including its key.
export const overheadBytes = 200

/** Creates the caches. @param bytes total size of all caches */
export function createCaches(bytes: number): ReaderCaches {
  return {
    columns: createCache(
      bytes / 4,
      ({ times, fieldEnds }) => times.length * (fieldEnds === undefined ? 16 : 20),
    ),
    texts: createCache(bytes / 4, text => text.length),
    lists: createCache(bytes / 4, list => list.byteLength),
    // Callers set the size of each entry.
    results: createCache(bytes / 4),
  }
}

function createCache<T extends object | string>(
  maxSize: number,
  sizeOf?: (value: T) => number,
): LRUCache<string, T> {
  return new LRUCache<string, T>({
    maxSize,
    // A single entry must not evict most others.
    maxEntrySize: maxSize / 4,
    ...(sizeOf === undefined ? {} : { sizeCalculation: value => sizeOf(value) + overheadBytes }),
  })
}
