/**
 * Shares a call among all callers that request it before it starts. Callers that request it while
 * it runs share the next call, since the running one may have read its data before their request.
 */
export class SharedCalls<T> {
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<T>>()

  /** @param key identifies calls that can be shared */
  run(key: string, call: () => Promise<T>): Promise<T> {
    const found = this.#next.get(key)
    if (found !== undefined) return found
    const made = this.#begin(key, call)
    this.#next.set(key, made)
    return made
  }

  async #begin(key: string, call: () => Promise<T>): Promise<T> {
    await this.#running.get(key)
    this.#next.delete(key)
    const made = call()
    const settled = made.then(
      () => undefined,
      () => undefined,
    )
    this.#running.set(key, settled)
    void settled.then(() => {
      if (this.#running.get(key) === settled) this.#running.delete(key)
    })
    return made
  }
}
