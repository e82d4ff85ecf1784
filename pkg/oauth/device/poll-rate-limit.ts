import { createBoundedCache } from '../../cache/bounded-cache.ts'

/** The interval that clients are asked to poll at, in the response of device authorization. */
export const pollIntervalSeconds = 5

const maxCacheBytes = 4 * 1024 * 1024

/**
 * Limits how often a device may poll (RFC 8628 section 3.5). Each replica counts separately: a
 * device that polls several replicas is not slowed down, but gains nothing.
 */
export function createPollRateLimit(now: () => number = Date.now): (name: string) => boolean {
  const polls = createBoundedCache<{ lastMs: number; intervalMs: number }>({
    maxBytes: maxCacheBytes,
    sizeOf: () => 32,
  })
  // Tolerance for imprecise timers of devices and network delays.
  const toleranceMs = 500

  /** @returns false if the poll is too early, which extends the interval by five seconds */
  return name => {
    const poll = polls.get(name)
    const nowMs = now()
    const isInTime = poll === undefined || nowMs - poll.lastMs >= poll.intervalMs - toleranceMs
    const next = {
      lastMs: nowMs,
      intervalMs: (poll?.intervalMs ?? pollIntervalSeconds * 1000) + (isInTime ? 0 : 5_000),
    }
    polls.set(name, next)
    return isInTime
  }
}
