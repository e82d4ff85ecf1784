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
  readonly forget: (prefix: string) => void
}

export function createPieceCache(limitBytes: number): PieceCache {
  const entries = new Map<string, { readonly value: object; readonly size: number }>()
  let total = 0

  function drop(key: string, size: number): void {
    entries.delete(key)
    total -= size
  }

  return {
    get: <T extends object>(
      key: string,
      load: () => T,
      bytes: (value: T) => number,
      isPassing = false,
    ): T => {
      const known = entries.get(key)
      if (known !== undefined) {
        entries.delete(key)
        entries.set(key, known)
        // A key says what is kept under it, so it is what the same caller put there.
        return known.value as T
      }
      const value = load()
      const size = bytes(value)
      if (size > limitBytes / 4 || (isPassing && total + size > limitBytes)) return value
      entries.set(key, { value, size })
      total += size
      for (const [oldest, { size: freed }] of entries) {
        if (total <= limitBytes) break
        drop(oldest, freed)
      }
      return value
    },
    forget: prefix => {
      for (const [key, { size }] of entries) if (key.startsWith(prefix)) drop(key, size)
    },
  }
}
