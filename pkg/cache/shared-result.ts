export type SharedResultOptions = {
  /** How long a result is used; 0 shares it only with those who ask while it is being made. */
  readonly keepMs: number
  /** How long a failure is repeated without another try. */
  readonly failedForMs: number
  /** A monotonic clock. */
  readonly now?: () => number
}

/**
 * Runs `work` once for all who ask at the same time. A failure is repeated to those who ask soon
 * after it: where strangers can cause the work, each of them would otherwise cause one more.
 */
export function createSharedResult<T>(
  work: () => Promise<T>,
  { keepMs, failedForMs, now = () => performance.now() }: SharedResultOptions,
): () => Promise<T> {
  let current: { readonly result: Promise<T>; untilMs: number } | undefined
  return () => {
    if (current !== undefined && now() < current.untilMs) return current.result
    const made = { result: work(), untilMs: Number.POSITIVE_INFINITY }
    current = made
    made.result.then(
      () => {
        made.untilMs = now() + keepMs
      },
      () => {
        made.untilMs = now() + failedForMs
      },
    )
    return made.result
  }
}
