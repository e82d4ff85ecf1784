import { tooManyRequests } from '../../../apierrors/status.ts'
import type { LogConcurrency } from '../../../platformapi/logs/concurrency-limits.ts'
import { createFairQueue } from '../../filters/fair-queue.ts'

// A search engine runs more queries concurrently, but live tails and checks need some of them.
const maxSearches = 12
const waitMs = 10_000
// Each live tail occupies a connection and polls the store.
const maxTails = 256

/** Limits searches and live tails to a quarter per user: the store has no fair queues. */
export function createLogConcurrency(): LogConcurrency {
  const searches = createFairQueue({
    seats: () => maxSearches,
    waitMs: () => waitMs,
    rejection: () => tooManyRequests('too many log searches in progress', 1),
  })
  const tails = createFairQueue({
    seats: () => maxTails,
    waitMs: () => 0,
    rejection: () => tooManyRequests('too many live tails are open', 10),
  })
  return { search: searches.take, tail: tails.takeNow }
}
