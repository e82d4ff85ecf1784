import type { Entry } from './entry.ts'

/** One change of one object. `entry` is its state after it (of a deletion: the last state, at the deletion's version). */
export type Change = {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly entry: Entry
  readonly old: Entry | undefined
}

// kube-apiserver keeps at least 75 s; clients that were cut off for a few minutes need no new list here.
const keepMs = 5 * 60_000
const batchMs = 30_000
const maxChanges = 100_000

/** The changes of the last minutes, for watches that resume and lists that go on at an older version. */
export class History {
  #changes: { readonly change: Change; readonly at: number }[] = []
  /** Changes up to this version are no longer known. */
  #horizon: number

  constructor(horizon: number) {
    this.#horizon = horizon
  }

  get horizon(): number {
    return this.#horizon
  }

  push(change: Change, now = performance.now()): void {
    this.#changes.push({ change, at: now })
    // Trimmed in batches, since taking from the front of an array moves everything behind it; where little changes the batch may
    // take many minutes to fill, and is trimmed by time.
    const oldest = this.#changes[0]?.at ?? now
    if (this.#changes.length % 1024 === 0 || oldest < now - keepMs - batchMs) this.#trim(now)
  }

  /** The changes after `version`, oldest first; undefined when they are not all known any more. */
  since(version: number): readonly Change[] | undefined {
    if (version < this.#horizon) return undefined
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#changes[middle]?.change.version ?? 0) <= version) low = middle + 1
      else high = middle
    }
    return this.#changes.slice(low).map(item => item.change)
  }

  #trim(now: number): void {
    const tooMany = Math.max(this.#changes.length - maxChanges, 0)
    const firstFresh = this.#changes.findIndex(item => item.at >= now - keepMs)
    const drop = Math.max(tooMany, firstFresh < 0 ? this.#changes.length : firstFresh)
    if (drop === 0) return
    this.#horizon = this.#changes[drop - 1]?.change.version ?? this.#horizon
    this.#changes = this.#changes.slice(drop)
  }
}
