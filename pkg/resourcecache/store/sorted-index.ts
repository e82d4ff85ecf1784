import type { CachedObject } from './cached-object.ts'
import { Chunk, toChunks } from './chunk.ts'
import { lowerBound } from './lower-bound.ts'

export type Compare = (a: CachedObject, b: CachedObject) => number

/**
 * Sorted objects in chunks. An insertion or removal costs a search and the copy of a small chunk. A
 * page costs a walk over the chunks between it and the nearer end.
 */
export class SortedIndex {
  readonly #compare: Compare
  #leaves: Chunk[]
  #size: number

  /** @param compare a total order: different objects never compare as 0 */
  constructor(compare: Compare, entries: readonly CachedObject[]) {
    this.#compare = compare
    this.#leaves = toChunks([...entries].sort(compare))
    this.#size = entries.length
  }

  get size(): number {
    return this.#size
  }

  /** The current chunks. Must be read synchronously: the next change may modify the list. */
  get chunks(): readonly Chunk[] {
    return this.#leaves
  }

  /** Returns the current chunks; later changes do not affect the result. */
  snapshot(): readonly Chunk[] {
    return [...this.#leaves]
  }

  insert(entry: CachedObject): void {
    const at = Math.min(this.#findLeaf(entry), Math.max(this.#leaves.length - 1, 0))
    const entries = [...(this.#leaves[at]?.entries ?? [])]
    entries.splice(this.#findSlot(entries, entry), 0, entry)
    this.#size++
    this.#leaves.splice(at, 1, ...toChunks(entries))
  }

  /** @param entry the object in the index, or one that compares as equal */
  remove(entry: CachedObject): void {
    const at = this.#findLeaf(entry)
    const entries = [...(this.#leaves[at]?.entries ?? [])]
    const slot = this.#findSlot(entries, entry)
    const found = entries[slot]
    if (found === undefined || this.#compare(found, entry) !== 0) return
    entries.splice(slot, 1)
    this.#size--
    if (entries.length > 0) this.#leaves.splice(at, 1, new Chunk(entries))
    else this.#leaves.splice(at, 1)
  }

  replace(old: CachedObject, entry: CachedObject): void {
    if (this.#compare(old, entry) !== 0) {
      this.remove(old)
      this.insert(entry)
      return
    }
    const at = this.#findLeaf(old)
    const entries = [...(this.#leaves[at]?.entries ?? [])]
    entries[this.#findSlot(entries, old)] = entry
    this.#leaves[at] = new Chunk(entries)
  }

  /** Returns a separate index with the same chunks. */
  copy(): SortedIndex {
    const copy = new SortedIndex(this.#compare, [])
    copy.#leaves = [...this.#leaves]
    copy.#size = this.#size
    return copy
  }

  /** Returns the index of the first chunk that does not end before `entry`. */
  #findLeaf(entry: CachedObject): number {
    return lowerBound(this.#leaves, ({ entries }) => {
      const last = entries.at(-1)
      return last !== undefined && this.#compare(last, entry) < 0
    })
  }

  #findSlot(entries: readonly CachedObject[], entry: CachedObject): number {
    return lowerBound(entries, found => this.#compare(found, entry) < 0)
  }
}
