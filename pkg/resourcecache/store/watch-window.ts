import type { CachedObject } from './cached-object.ts'
import { lowerBound } from './lower-bound.ts'

/**
 * A change of an object. `entry` is the state after the change; for a deletion it is the last
 * state, at the version of the deletion.
 */
export type WatchChange = {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly entry: CachedObject
  readonly old: CachedObject | undefined
}

// kube-apiserver keeps at least 75 s. With this longer time, clients that were disconnected for a
// few minutes need no new list.
const keepMs = 5 * 60_000
const batchMs = 30_000
const maxChanges = 100_000
// Limits the memory of previous states, which are only kept for resumed watches: frequent writes of
// a large object would otherwise fill it.
const defaultMaxBytes = 64 * 1024 * 1024

/** The changes of the last minutes, for watches that resume and for lists at an older version. */
export class WatchWindow {
  #changes: { readonly change: WatchChange; readonly at: number }[] = []
  /** Changes up to this version have been removed. */
  #horizon: number
  #bytes = 0
  readonly #maxBytes: number

  /** @param maxBytes maximum total size of the changed objects */
  constructor(horizon: number, maxBytes = defaultMaxBytes) {
    this.#horizon = horizon
    this.#maxBytes = maxBytes
  }

  get horizon(): number {
    return this.#horizon
  }

  push(change: WatchChange, now = performance.now()): void {
    this.#changes.push({ change, at: now })
    this.#bytes += change.entry.size
    // Trimmed in batches, since removing the first items of an array moves all others. With few
    // changes, a batch may take many minutes to fill, so the history is also trimmed by time.
    const oldest = this.#changes[0]?.at ?? now
    const isDue = this.#changes.length % 1024 === 0 || oldest < now - keepMs - batchMs
    if (isDue || this.#bytes > this.#maxBytes) this.#trim(now)
  }

  /** Returns the changes after `version`, oldest first; undefined if some have been removed. */
  since(version: number): readonly WatchChange[] | undefined {
    if (version < this.#horizon) return undefined
    const first = lowerBound(this.#changes, ({ change }) => change.version <= version)
    return this.#changes.slice(first).map(item => item.change)
  }

  #trim(now: number): void {
    const tooMany = Math.max(this.#changes.length - maxChanges, 0)
    const firstFresh = this.#changes.findIndex(item => item.at >= now - keepMs)
    const tooOld = firstFresh < 0 ? this.#changes.length : firstFresh
    const drop = Math.max(tooMany, tooOld, this.#tooLarge())
    if (drop === 0) return
    for (const { change } of this.#changes.slice(0, drop)) this.#bytes -= change.entry.size
    this.#horizon = this.#changes[drop - 1]?.change.version ?? this.#horizon
    this.#changes = this.#changes.slice(drop)
  }

  /** Returns the number of changes to remove in order to stay within the memory limit. */
  #tooLarge(): number {
    let over = this.#bytes > this.#maxBytes ? this.#bytes - (this.#maxBytes * 3) / 4 : 0
    let drop = 0
    for (; over > 0; drop++) over -= this.#changes[drop]?.change.entry.size ?? over
    return drop
  }
}
