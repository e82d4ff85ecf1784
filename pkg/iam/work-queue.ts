import { unavailable } from '../status/status.ts'

export type WorkQueue = {
  /** @throws Status 503 when too many wait already; the signal's reason when it is aborted before its turn */
  readonly run: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>
  /** Under way and waiting. */
  readonly pending: () => number
}

/**
 * First come, first served, a few at once. Hashing shares its threads with the signing of tokens and with name resolution:
 * without a limit one burst of logins would hold up everything else.
 */
export function createWorkQueue({ threads, maxWaiting }: { threads: number; maxWaiting: number }): WorkQueue {
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

  /** Hands this place to whoever has waited longest. */
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
      if (running < threads) running++
      else if (waiting.size < maxWaiting) await turn(signal)
      else throw unavailable('too many logins at once', undefined, 2)
      try {
        return await work()
      } finally {
        next()
      }
    },
    pending: () => running + waiting.size,
  }
}
