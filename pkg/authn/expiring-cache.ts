/** A bounded map whose entries are good for a time; the oldest give way first. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get(key: string, nowMs = Date.now()): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs > nowMs) return entry.value
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
