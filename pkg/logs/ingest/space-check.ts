import { Status } from '../../apierrors/status.ts'
import type { LogStore } from '../store.ts'

export type SpaceCheck = {
  /** The store's, followed. */
  readonly ingest: LogStore['ingest']
  /** Why batches are refused; undefined while they are not. */
  readonly problem: () => string | undefined
}

// Shippers wait longer and longer before they send a batch again.
const rememberedMs = 300_000

/** Tracks whether the store is full: from a rejected batch until the next accepted one. */
export function createSpaceCheck(ingest: LogStore['ingest'], now = () => performance.now()): SpaceCheck {
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    ingest: async batch => {
      try {
        const ingested = await ingest(batch)
        refusedAt = Number.NEGATIVE_INFINITY
        return ingested
      } catch (error) {
        if (error instanceof Status && error.code === 507) refusedAt = now()
        throw error
      }
    },
    problem: () => (now() < refusedAt + rememberedMs ? 'the log store has no space left' : undefined),
  }
}
