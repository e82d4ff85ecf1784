/** What devices are told. */
export const pollIntervalSeconds = 5

/**
 * How often each device may ask (RFC 8628 section 3.5). Kept by each replica for itself: a device that asks several of them
 * in turn is slowed by none, and would gain nothing but answers that say "not yet".
 */
export function createPollPace(now: () => number = Date.now): (name: string) => boolean {
  const polls = new Map<string, { lastMs: number; intervalMs: number }>()
  // A timer of the device and the way to us are not exact.
  const toleranceMs = 500
  const maxPolls = 10_000

  /** @returns false when it is too soon; from then on it has to wait five seconds longer */
  return name => {
    const poll = polls.get(name)
    const nowMs = now()
    const isInTime = poll === undefined || nowMs - poll.lastMs >= poll.intervalMs - toleranceMs
    const next = {
      lastMs: nowMs,
      intervalMs: (poll?.intervalMs ?? pollIntervalSeconds * 1000) + (isInTime ? 0 : 5_000),
    }
    // At the end, so that the first ones are those that have not been heard of for longest.
    polls.delete(name)
    polls.set(name, next)
    const [oldest] = polls.keys()
    if (polls.size > maxPolls && oldest !== undefined) polls.delete(oldest)
    return isInTime
  }
}
