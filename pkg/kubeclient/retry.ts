import { setTimeout as sleep } from 'node:timers/promises'
import { Status, unavailable } from '../apierrors/status.ts'
import type { Logger } from '../telemetry/logger.ts'

export type RetryOptions = {
  readonly isRetriable: (error: unknown) => boolean
  /** How often `work` is called at most; there is no limit where it is left out. */
  readonly attempts?: number
  /** How long to wait before the next call, after this many have failed. */
  readonly delayMs?: (failed: number) => number
  /** Ends the waiting, and with it the attempts. */
  readonly signal?: AbortSignal
  readonly onRetry?: (error: unknown) => void
}

/**
 * Calls `work` until it succeeds.
 *
 * @throws its last error: one that is not retriable, or that of the last attempt
 */
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

/** A write to an object that another writer has changed, or made, in the meantime. */
export function isConflict(error: unknown): boolean {
  return error instanceof Status && error.code === 409
}

/**
 * Repeats a read and write that conflicts with other writers (RetryOnConflict of client-go).
 *
 * @param busy message of the Status 503 that replaces the last conflict
 */
export async function retryOnConflict<T>(work: () => Promise<T>, busy?: string): Promise<T> {
  try {
    return await retry(work, { isRetriable: isConflict, attempts: 5 })
  } catch (error) {
    throw busy !== undefined && isConflict(error) ? unavailable(busy, error) : error
  }
}

/** Asks kube-apiserver up to three times while it is overloaded or does not respond. */
export function retryTransient<T>(work: () => Promise<T>): Promise<T> {
  return retry(work, {
    isRetriable: error => error instanceof Status && (error.code >= 500 || error.code === 429),
    attempts: 3,
    delayMs: failed => 250 * failed,
  })
}

/**
 * Calls `work` until it succeeds or `signal` aborts, and logs each failure: its dependencies may
 * start later than the program.
 */
export async function untilDone(
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
