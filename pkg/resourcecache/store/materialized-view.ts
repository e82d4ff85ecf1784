import type { CachedObject } from './cached-object.ts'
import type { Chunk } from './chunk.ts'
import { type Compare, SortedIndex } from './sorted-index.ts'

/** The query of a view: those with the same `key` must select and sort equally. */
export type ViewQuery = {
  readonly key: string
  readonly matches: (entry: CachedObject) => boolean
  /** Namespaces that contain all matching objects; undefined if they are not known. */
  readonly namespaces?: ReadonlySet<string> | undefined
  readonly order: Compare
}

/** The sorted result of a query, updated with objects: total and pages need no scan. */
export class View {
  usedAt = 0
  readonly #query: ViewQuery
  readonly #index: SortedIndex

  /** @param entries all that may match @param matches the predicate, if already computed */
  constructor(query: ViewQuery, entries: Iterable<CachedObject>, matches = query.matches) {
    this.#query = query
    this.#index = new SortedIndex(query.order, [...entries].filter(matches))
  }

  get size(): number {
    return this.#index.size
  }

  /** The current chunks. Must be read synchronously: the next change may modify the list. */
  get chunks(): readonly Chunk[] {
    return this.#index.chunks
  }

  snapshot(): readonly Chunk[] {
    return this.#index.snapshot()
  }

  put(old: CachedObject | undefined, entry: CachedObject | undefined): void {
    const was = old !== undefined && this.#query.matches(old)
    const is = entry !== undefined && this.#query.matches(entry)
    if (was && is) this.#index.replace(old, entry)
    else if (was) this.#index.remove(old)
    else if (is) this.#index.insert(entry)
  }
}
