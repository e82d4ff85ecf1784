export type SharedResultOptions = {
  /** Time for which a result is reused; 0 shares it only among concurrent calls. */
  readonly keepMs: number
  /** Time for which an error is repeated without another attempt. */
  readonly failedForMs: number
  /** A monotonic clock. */
  readonly now?: () => number
}

/**
 * Runs `work` once for all concurrent calls, and repeats an error for later calls within
 * `failedForMs`. Otherwise unauthenticated requests could cause the failing work again and again.
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
