import { tooManyRequests } from '../../../apierrors/status.ts'

/** The memory that a body occupies while it is uploaded or stored. */
export type BodyMemory = {
  /** Sets the number of reserved bytes. @throws Status 429 */
  readonly hold: (bytes: number) => void
  /** Releases the memory. */
  readonly end: () => void
}

/** Limits the total memory of all bodies. @returns a function that begins one body */
export function createUploadLimiter(maxBytes: number): () => BodyMemory {
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
