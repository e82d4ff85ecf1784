import { tooManyRequests } from '../../apierrors/status.ts'
import type { LogPlaces } from '../../platformapi/logs/places.ts'
import { createFairQueue } from '../filters/fair-queue.ts'

// Fewer than a search engine is asked at once: live tails and checks ask it too.
const maxSearches = 12
const waitMs = 10_000
// Each holds a connection, and asks the store again and again.
const maxTails = 256

/** A quarter of the searches and of the live tails for each user: the store itself has no turns for users. */
export function createLogPlaces(): LogPlaces {
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
