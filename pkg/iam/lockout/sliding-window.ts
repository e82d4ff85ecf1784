/** The number of failures within a window that lock a key, and the duration of window and lock. */
export type LockoutRule = { readonly maxTries: number; readonly durationSeconds: number }

/** The failures and the lock of one key (a user, name or address). Times are in milliseconds. */
export class SlidingWindow {
  readonly #rule: LockoutRule
  #failures: number[] = []
  #lockedUntilMs = 0

  constructor(rule: LockoutRule) {
    this.#rule = rule
  }

  /** Adds a failure. @returns whether this failure locks the key */
  add(atMs: number): boolean {
    if (atMs < this.#lockedUntilMs) return false
    this.#forget(atMs)
    this.#failures.push(atMs)
    if (this.#failures.length < this.#rule.maxTries) return false
    this.#lockedUntilMs = atMs + this.#rule.durationSeconds * 1000
    this.#failures = []
    return true
  }

  /** Returns the number of failures that remain before the key is locked. */
  left(nowMs: number): number {
    if (nowMs < this.#lockedUntilMs) return 0
    this.#forget(nowMs)
    return this.#rule.maxTries - this.#failures.length
  }

  lockedUntilMs(nowMs: number): number | undefined {
    return nowMs < this.#lockedUntilMs ? this.#lockedUntilMs : undefined
  }

  /** Removes all failures until `atMs`, and a lock. */
  forgive(atMs: number): void {
    this.#failures = this.#failures.filter(failure => failure > atMs)
    if (this.#lockedUntilMs - this.#rule.durationSeconds * 1000 <= atMs) this.#lockedUntilMs = 0
  }

  isEmpty(nowMs: number): boolean {
    this.#forget(nowMs)
    return this.#failures.length === 0 && nowMs >= this.#lockedUntilMs
  }

  #forget(nowMs: number): void {
    const since = nowMs - this.#rule.durationSeconds * 1000
    // Most windows have at most one failure: recent failures need no copy.
    if ((this.#failures[0] ?? nowMs) <= since)
      this.#failures = this.#failures.filter(failure => failure > since)
  }
}
