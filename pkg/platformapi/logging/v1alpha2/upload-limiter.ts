import { tooManyRequests } from '../../../apierrors/status.ts'

/** A body that is under way, or has come and is being stored. */
export type Held = {
  /** So many bytes of memory in place of those before. @throws Status 429 */
  readonly hold: (bytes: number) => void
  /** Nothing of it is there any more. */
  readonly end: () => void
}

/**
 * Bounds the memory that bodies take together.
 *
 * @returns begins one
 */
export function createBodies(maxBytes: number): () => Held {
  let heldBytes = 0
  return () => {
    let own = 0
    return {
      hold: bytes => {
        if (heldBytes - own + bytes > maxBytes)
          throw tooManyRequests('the batches in progress are too large; retry later', 1)
        heldBytes += bytes - own
        own = bytes
      },
      end: () => {
        heldBytes -= own
      },
    }
  }
}
