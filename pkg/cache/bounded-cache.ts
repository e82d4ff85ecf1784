import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Forgets what was used the longest ago once it would hold more bytes than it may. */
export type BoundedCache<Value> = {
  readonly get: (key: string) => Value | undefined
  /** @param ttlMs how long it is good at most; as long as there is room when it is left out */
  readonly set: (key: string, value: Value, ttlMs?: number) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
  /** Estimated bytes of all that it holds, keys among them. */
  readonly bytes: () => number
}

export type BoundedCacheOptions<Value> = {
  readonly maxBytes: number
  /** Estimated bytes of a value. */
  readonly sizeOf: (value: Value) => number
}

// A hash table's own, and the key.
const overheadBytes = 200
// Longer keys are replaced by their digests: what a caller sends must not be kept because it was once asked for.
const maxKeyLength = 128

export function createBoundedCache<Value extends object | string | number | boolean>({
  maxBytes,
  sizeOf,
}: BoundedCacheOptions<Value>): BoundedCache<Value> {
  const cache = new LRUCache<string, Value>({
    maxSize: maxBytes,
    sizeCalculation: value => overheadBytes + Math.ceil(sizeOf(value)),
  })
  return {
    get: key => cache.get(toCacheKey(key)),
    set: (key, value, ttlMs) =>
      void cache.set(toCacheKey(key), value, ttlMs === undefined ? {} : { ttl: ttlMs }),
    delete: key => void cache.delete(toCacheKey(key)),
    clear: () => cache.clear(),
    bytes: () => cache.calculatedSize,
  }
}

/** A key that stands for a text of whatever length in a few bytes. */
export function toCacheKey(text: string): string {
  return text.length <= maxKeyLength ? text : `sha256:${hash('sha256', text, 'base64url')}`
}
