import { tooManyRequests } from '../../../apierrors/status.ts'
import type { LogConcurrency } from '../../../platformapi/logs/concurrency-limits.ts'
import { createFairQueue } from '../../filters/fair-queue.ts'

// Fewer than the concurrent queries of a search engine: live tails and checks query it too.
const maxSearches = 12
const waitMs = 10_000
// Each holds a connection and polls the store.
const maxTails = 256

/** Each user gets a quarter of the searches and live tails, since the store has no fair queuing. */
export function createLogConcurrency(): LogConcurrency {
  const searches = createFairQueue({
    most: () => maxSearches,
    waitMs: () => waitMs,
    refuse: () => tooManyRequests('too many log searches in progress', 1),
  })
  const tails = createFairQueue({
    most: () => maxTails,
    waitMs: () => 0,
    refuse: () => tooManyRequests('too many live tails are open', 10),
  })
  return { search: searches.take, tail: tails.takeNow }
}
