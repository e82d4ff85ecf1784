import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** An LRU cache that is limited by the number of entries or by memory. */
export type BoundedCache<Value> = {
  readonly get: (key: string) => Value | undefined
  /** @param ttlMs maximum age of the entry; unlimited if omitted */
  readonly set: (key: string, value: Value, ttlMs?: number) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
  /** Returns the estimated size of all entries and keys in bytes. */
  readonly bytes: () => number
}

export type BoundedCacheOptions<Value> = {
  readonly maxBytes: number
  /** Returns the estimated size of a value in bytes. */
  readonly sizeOf: (value: Value) => number
  /** Maximum number of entries; unlimited if omitted. */
  readonly maxEntries?: number
  /**
   * The clock for `ttlMs`. The default, performance.now, prevents that setting the system clock
   * back extends the life of entries. Entries with an absolute expiry must use Date.now.
   */
  readonly now?: () => number
}

// Overhead of a hash table per entry.
const overheadBytes = 200
// Longer keys are replaced by their digests, so that large input of callers is not kept in memory.
const maxKeyLength = 512

export function createBoundedCache<Value extends object | string | number | boolean>({
  maxBytes,
  sizeOf,
  maxEntries = 0,
  now = () => performance.now(),
}: BoundedCacheOptions<Value>): BoundedCache<Value> {
  const cache = new LRUCache<string, Value>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: (value, key) => overheadBytes + 2 * key.length + Math.ceil(sizeOf(value)),
    // The library treats a start time of 0 as unset.
    perf: { now: () => now() + 1 },
    ttlResolution: 0,
  })
  return {
    get: key => cache.get(toCacheKey(key)),
    set(key, value, ttlMs) {
      const short = toCacheKey(key)
      if (ttlMs === undefined) cache.set(short, value)
      else if (ttlMs > 0) cache.set(short, value, { ttl: ttlMs })
      else cache.delete(short)
    },
    delete: key => void cache.delete(toCacheKey(key)),
    clear: () => cache.clear(),
    bytes: () => cache.calculatedSize,
  }
}

/** Returns a key of limited length for a text of any length. */
export function toCacheKey(text: string): string {
  return text.length <= maxKeyLength ? text : `sha256:${hash('sha256', text, 'base64url')}`
}
