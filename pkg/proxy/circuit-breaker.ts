/**
 * A circuit breaker: stops requests to a server that is not responding, and lets one through
 * periodically to check it.
 */
export type CircuitBreaker = {
  /** Returns whether to try a request, whose result must then be reported. */
  readonly mayTry: () => boolean
  readonly succeeded: () => void
  readonly failed: () => void
  /** Neither success nor failure: the client disconnected first. */
  readonly abandoned: () => void
}

export type CircuitBreakerOptions = {
  /** Failures in a row before it opens. */
  readonly failures: number
  readonly openMs: number
  readonly now: () => number
}

/** Creates a circuit breaker that is closed. */
export function createCircuitBreaker({ failures, openMs, now }: CircuitBreakerOptions): CircuitBreaker {
  let inARow = 0
  let retryAtMs = 0
  let isTrying = false
  const isOpen = () => inARow >= failures
  return {
    mayTry() {
      if (!isOpen()) return true
      if (isTrying || now() < retryAtMs) return false
      isTrying = true
      return true
    },
    succeeded() {
      inARow = 0
      isTrying = false
    },
    failed() {
      inARow++
      isTrying = false
      if (isOpen()) retryAtMs = now() + openMs
    },
    abandoned() {
      isTrying = false
    },
  }
}
