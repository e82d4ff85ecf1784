import { isStatus } from '../../apierrors/status.ts'
import type { LogStore } from '../store.ts'

export type SpaceCheck = {
  /** The store's `ingest`; its results are tracked. */
  readonly ingest: LogStore['ingest']
  /** Returns why batches are rejected; undefined unless the store is known to be full. */
  readonly problem: () => string | undefined
}

// How long a store counts as full after a rejected batch. Shippers retry with increasing delays.
const rememberedMs = 300_000

/** Tracks whether the store is full: from a batch rejected with 507 until the next stored one. */
export function createSpaceCheck(ingest: LogStore['ingest'], now = () => performance.now()): SpaceCheck {
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    ingest: async batch => {
      try {
        const ingested = await ingest(batch)
        refusedAt = Number.NEGATIVE_INFINITY
        return ingested
      } catch (error) {
        if (isStatus(error, 507)) refusedAt = now()
        throw error
      }
    },
    problem: () => (now() < refusedAt + rememberedMs ? 'the log store has no space left' : undefined),
  }
}
