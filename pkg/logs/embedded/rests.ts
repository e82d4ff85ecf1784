import { availableParallelism } from 'node:os'

/** The clock in milliseconds, and what stops the thread that calls for so many of them. */
export type RestMeans = {
  readonly now: () => number
  readonly sleep: (ms: number) => void
  readonly processors: number
}

// Of three processors two are left.
const fewProcessors = 2
// As much rest as leaves the p99 of others where it was: docs/log-store-performance.md has what less and more do.
const workMs = 0.3
const restMs = 0.7

/**
 * For a thread whose work lasts: what it calls within it, each fraction of a millisecond. Where processors are few it rests
 * most of the time while others are answered. Who waits for the processor that it has would wait for the kernel to take it away:
 * that is a slice of 1.4 ms and the next tick, 4 ms in all, whatever the nice of both (Linux 6.18, EEVDF without preemption).
 *
 * @param isWanted whether what goes on lasts, and others are answered
 */
export function createRests(isWanted: () => boolean, means: Partial<RestMeans> = {}): () => void {
  const { now, sleep, processors } = { ...createMeans(), ...means }
  if (processors > fewProcessors) return () => undefined
  let restedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (!isWanted() || now() - restedAt < workMs) return
    sleep(restMs)
    restedAt = now()
  }
}

function createMeans(): RestMeans {
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  return {
    now: () => performance.now(),
    sleep: ms => void Atomics.wait(never, 0, 0, ms),
    processors: availableParallelism(),
  }
}
