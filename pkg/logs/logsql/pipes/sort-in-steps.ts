/** A computation in short steps: other requests may be served after each `yield`. */
export type Steps<T = void> = Generator<undefined, T, undefined>

// Comparisons per step. Few, because comparing long values takes long.
const comparisons = 8

/** A stable merge sort in steps: sorting a large result takes seconds. */
export function* sortInSteps<T extends object>(
  items: Iterable<T>,
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  let runs: readonly (readonly T[])[] = Array.from(items, item => [item])
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let i = 0; i < runs.length; i += 2) {
      const [a = [], b] = [runs[i], runs[i + 1]]
      merged.push(b === undefined ? a : yield* merge(a, b, compare))
      yield
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<T extends object>(
  a: readonly T[],
  b: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  const merged: T[] = []
  let [i, j] = [0, 0]
  for (let [x, y] = [a[i], b[j]]; x !== undefined || y !== undefined; ) {
    if (y === undefined || (x !== undefined && compare(x, y) <= 0)) {
      if (x !== undefined) merged.push(x)
      x = a[++i]
    } else {
      merged.push(y)
      y = b[++j]
    }
    if (merged.length % comparisons === 0) yield
  }
  return merged
}

/** Keeps the first of the added items in sort order. Each new item is compared with only a few. */
export type TopItems<T> = {
  /** Adds an item. @returns the item that is not, or no longer, among the first */
  readonly add: (item: T) => T | undefined
  readonly items: readonly T[]
}

/** Creates a collection of the first `limit` items: a heap with the last of them at its top. */
export function createTopItems<T extends object>(
  limit: number,
  compare: (a: T, b: T) => number,
): TopItems<T> {
  const items: T[] = []
  const isAfter = (i: number, j: number): boolean => {
    const [a, b] = [items[i], items[j]]
    return a !== undefined && b !== undefined && compare(a, b) > 0
  }
  const swap = (i: number, j: number): void => {
    const [a, b] = [items[i], items[j]]
    if (a === undefined || b === undefined) return
    items[i] = b
    items[j] = a
  }

  const siftUp = (from: number): void => {
    for (let at = from; at > 0 && isAfter(at, (at - 1) >> 1); at = (at - 1) >> 1) swap(at, (at - 1) >> 1)
  }
  const siftDown = (): void => {
    for (let at = 0; ; ) {
      const child = isAfter(2 * at + 2, 2 * at + 1) ? 2 * at + 2 : 2 * at + 1
      if (!isAfter(child, at)) return
      swap(at, child)
      at = child
    }
  }

  return {
    items,
    add(item) {
      if (items.length < limit) {
        items.push(item)
        // Without a limit no item is removed, so the heap need not be maintained.
        if (limit !== Number.POSITIVE_INFINITY) siftUp(items.length - 1)
        return undefined
      }
      const [last] = items
      if (last === undefined || compare(item, last) >= 0) return item
      items[0] = item
      siftDown()
      return last
    },
  }
}
