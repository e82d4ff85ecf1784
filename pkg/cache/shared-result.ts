export type SharedResultOptions = {
  /** How long a result is used; 0 shares it only among concurrent calls. */
  readonly keepMs: number
  /** How long a failure is repeated without another try. */
  readonly failedForMs: number
  /** A monotonic clock. */
  readonly now?: () => number
}

/**
 * Runs `work` once for all concurrent calls. A failure is repeated for calls soon after it: where
 * unauthenticated requests cause the work, each of them would otherwise cause it again.
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
