/**
 * A circuit breaker: stops requests to a server that is not responding, except for occasional
 * probes.
 */
export type CircuitBreaker = {
  /** Returns whether to send a request. The caller must then report its result. */
  readonly mayTry: () => boolean
  readonly succeeded: () => void
  readonly failed: () => void
  /** Reports neither success nor failure: the client disconnected first. */
  readonly abandoned: () => void
}

export type CircuitBreakerOptions = {
  /** Number of consecutive failures after which the circuit breaker opens. */
  readonly failures: number
  readonly openMs: number
  readonly now: () => number
}

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
