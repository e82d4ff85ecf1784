import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus, Status, unavailable } from '../apierrors/status.ts'
import type { Logger } from '../telemetry/logger.ts'

export type RetryOptions = {
  readonly isRetriable: (error: unknown) => boolean
  /** Maximum number of attempts; unlimited if omitted. */
  readonly attempts?: number
  /** Returns the delay before the next attempt, given the number of failed ones. */
  readonly delayMs?: (failed: number) => number
  /** Aborts waiting and retrying. */
  readonly signal?: AbortSignal
  readonly onRetry?: (error: unknown) => void
}

/** Calls `work` until it succeeds. @throws its last error, not retriable or after all attempts */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isRetriable, attempts = Number.POSITIVE_INFINITY, delayMs = () => 0, signal, onRetry } = options
  for (let failed = 1; ; failed++) {
    try {
      return await work()
    } catch (error) {
      if (!isRetriable(error) || failed >= attempts || signal?.aborted) throw error
      onRetry?.(error)
      const ms = delayMs(failed)
      if (ms > 0) await sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined)
      if (signal?.aborted) throw error
    }
  }
}

/** Returns whether a write failed because another writer has changed or created the object. */
export function isConflict(error: unknown): boolean {
  return isStatus(error, 409)
}

/**
 * Repeats a read and write after conflicts with other writers (RetryOnConflict of client-go).
 *
 * @param busy message of the 503 that replaces the last conflict
 */
export async function retryOnConflict<T>(work: () => Promise<T>, busy?: string): Promise<T> {
  try {
    return await retry(work, { isRetriable: isConflict, attempts: 5 })
  } catch (error) {
    throw busy !== undefined && isConflict(error) ? unavailable(busy, error) : error
  }
}

/** Returns whether kube-apiserver is overloaded or not responding. */
export function isTransient(error: unknown): boolean {
  return error instanceof Status && (error.code >= 500 || error.code === 429)
}

/** Tries a request up to three times while kube-apiserver is overloaded or not responding. */
export function retryTransient<T>(work: () => Promise<T>): Promise<T> {
  return retry(work, {
    isRetriable: isTransient,
    attempts: 3,
    delayMs: failed => 250 * failed,
  })
}

/** Calls `work` until it succeeds or `signal` aborts, and logs each failure. */
export async function retryUntilSuccess(
  work: () => Promise<void>,
  options: {
    readonly logger: Logger
    readonly signal: AbortSignal
    readonly delayMs?: number
    readonly message?: string
  },
): Promise<void> {
  const { logger, signal, delayMs = 2_000, message = 'failed to start, retrying' } = options
  if (signal.aborted) return
  await retry(work, {
    isRetriable: () => true,
    delayMs: () => delayMs,
    signal,
    onRetry: err => logger.warn({ err }, message),
  }).catch(error => {
    if (!signal.aborted) throw error
  })
}
