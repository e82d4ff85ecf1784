import type { Status } from '../apierrors/status.ts'

export type ConcurrencyLimiter = {
  /**
   * Runs `work` as soon as a slot is free.
   *
   * @throws the error of `rejection` if too many calls are waiting; the reason of the signal if it is
   * aborted while waiting
   */
  readonly run: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>
  /** Returns the number of calls in progress and waiting. */
  readonly pending: () => number
}

/** Creates a limiter that runs at most `maxConcurrent` calls concurrently, in the order of arrival. */
export function createConcurrencyLimiter({
  maxConcurrent,
  maxWaiting,
  rejection,
}: {
  readonly maxConcurrent: number
  readonly maxWaiting: number
  readonly rejection: () => Status
}): ConcurrencyLimiter {
  const waiting = new Set<() => void>()
  let running = 0

  function turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      waiting.delete(enter)
      reject(signal?.reason)
    }
    const enter = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    signal?.addEventListener('abort', leave, { once: true })
    waiting.add(enter)
    return promise
  }

  /** Passes the slot to the call that has waited longest. */
  function next(): void {
    const [enter] = waiting
    if (enter === undefined) {
      running--
      return
    }
    waiting.delete(enter)
    enter()
  }

  return {
    async run(work, signal) {
      signal?.throwIfAborted()
      if (running < maxConcurrent) running++
      else if (waiting.size < maxWaiting) await turn(signal)
      else throw rejection()
      try {
        return await work()
      } finally {
        next()
      }
    },
    pending: () => running + waiting.size,
  }
}
