import { tooManyRequests } from '../../../status/status.ts'

/** A body that is under way, or has come and is being stored. */
export type Held = {
  /** So many bytes of memory in place of those before. @throws Status 429 */
  readonly hold: (bytes: number) => void
  /** Nothing of it is there any more. */
  readonly end: () => void
}

/**
 * Bounds how many bodies there are at once, and the memory that they take together.
 *
 * @returns begins one. @throws Status 429
 */
export function createBodies({
  maxBodies,
  maxBytes,
}: {
  readonly maxBodies: number
  readonly maxBytes: number
}): () => Held {
  let bodies = 0
  let heldBytes = 0
  return () => {
    if (bodies >= maxBodies) throw tooManyRequests('too many batches are under way; send this one again', 1)
    bodies++
    let own = 0
    return {
      hold: bytes => {
        if (heldBytes - own + bytes > maxBytes)
          throw tooManyRequests('the batches that are under way are too large; send this one again', 1)
        heldBytes += bytes - own
        own = bytes
      },
      end: () => {
        bodies--
        heldBytes -= own
      },
    }
  }
}
