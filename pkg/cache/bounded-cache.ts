import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** An LRU cache with a limit of entries or memory. */
export type BoundedCache<Value> = {
  readonly get: (key: string) => Value | undefined
  /** @param ttlMs maximum age of entries; unlimited if omitted */
  readonly set: (key: string, value: Value, ttlMs?: number) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
  /** Estimated bytes of all entries and keys. */
  readonly bytes: () => number
}

export type BoundedCacheOptions<Value> = {
  readonly maxBytes: number
  /** Estimated bytes of a value. */
  readonly sizeOf: (value: Value) => number
  /** No limit when it is left out. */
  readonly maxEntries?: number
  /**
   * The clock for `ttlMs`; by default performance.now, so that setting the system clock back
   * extends nothing. Entries with an absolute expiry must use Date.now.
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
    // The library treats a time of 0 as unset.
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

/** Returns a short key for a text of any length. */
export function toCacheKey(text: string): string {
  return text.length <= maxKeyLength ? text : `sha256:${hash('sha256', text, 'base64url')}`
}
