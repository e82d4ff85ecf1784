/** What was read and decompressed, as long as there is room: the longest unused goes first. */
export type PieceCache = {
  /**
   * @param bytes how much memory a value takes
   * @param isPassing whether nothing else has to go for it: of what is gone through once, the beginning would be gone before it
   *   is wanted again
   */
  readonly get: <T extends object>(
    key: string,
    load: () => T,
    bytes: (value: T) => number,
    isPassing?: boolean,
  ) => T
  /** What was kept under a key; undefined when it was not, or had to go. */
  readonly find: <T extends object>(key: string) => T | undefined
  readonly has: (key: string) => boolean
  readonly keep: (key: string, value: object, bytes: number) => void
  readonly forget: (prefix: string) => void
}

export function createPieceCache(limitBytes: number): PieceCache {
  const entries = new Map<string, { readonly value: object; readonly size: number }>()
  const somewhat = limitBytes / 8
  let total = 0

  function drop(key: string): void {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  function find<T extends object>(key: string): T | undefined {
    const known = entries.get(key)
    if (known === undefined) return undefined
    entries.delete(key)
    entries.set(key, known)
    // A key says what is kept under it, so it is what the same caller put there.
    return known.value as T
  }

  function keep(key: string, value: object, size: number): void {
    if (size > limitBytes / 4) return
    drop(key)
    entries.set(key, { value, size })
    total += size
    if (total <= limitBytes) return
    // Some together: whoever looks for the oldest passes the places of those that went before.
    for (const oldest of entries.keys()) {
      if (total <= limitBytes - somewhat) break
      drop(oldest)
    }
  }

  return {
    find,
    keep,
    has: key => entries.has(key),
    get: <T extends object>(
      key: string,
      load: () => T,
      bytes: (value: T) => number,
      isPassing = false,
    ): T => {
      const known = find<T>(key)
      if (known !== undefined) return known
      const value = load()
      const size = bytes(value)
      // Not the room that was made for others: they would have it made again and again.
      if (!isPassing || total + size <= limitBytes - somewhat) keep(key, value, size)
      return value
    },
    forget: prefix => {
      for (const key of entries.keys()) if (key.startsWith(prefix)) drop(key)
    },
  }
}
