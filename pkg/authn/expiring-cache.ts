/**
 * A bounded map whose entries are good for a time; the oldest give way first.
 *
 * What is good for a while is told by performance.now: a clock that is set back must not make it good for longer. What says itself
 * until when it is good is told by Date.now.
 */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>()
  readonly #max: number
  readonly #now: () => number

  constructor(max: number, now: () => number) {
    this.#max = max
    this.#now = now
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs > this.#now()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: V, untilMs: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, untilMs })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max) break
      this.#entries.delete(oldest)
    }
  }
}
