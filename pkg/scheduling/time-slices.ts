/**
 * A cooperative scheduler for long work of several requests. It runs one slice of all such work per
 * event-loop turn: if each request took a slice of every turn, short requests would wait for all of
 * them.
 */
export type TimeSlices = {
  /** Resolves when the caller may continue, for about `sliceMs` milliseconds. */
  readonly next: () => Promise<void>
  readonly sliceMs: number
}

/** Time slices that are distributed among users, however many requests they have. */
export type UserTimeSlices = { readonly of: (user: string) => TimeSlices }

const sliceMs = 1.5

export function createTimeSlices(): TimeSlices {
  return createUserTimeSlices().of('')
}

export function createUserTimeSlices(): UserTimeSlices {
  /** Waiting calls by user. The first user is next. */
  const waiting = new Map<string, (() => void)[]>()
  let isRunning = false

  function release(): void {
    const [next] = waiting
    if (next === undefined) {
      isRunning = false
      return
    }
    const [user, queue] = next
    waiting.delete(user)
    const go = queue.shift()
    if (queue.length > 0) waiting.set(user, queue)
    go?.()
    // The next slice follows after pending I/O has been processed.
    setImmediate(release)
  }

  return {
    of: user => ({
      sliceMs,
      next: () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        const queue = waiting.get(user)
        if (queue === undefined) waiting.set(user, [resolve])
        else queue.push(resolve)
        if (!isRunning) setImmediate(release)
        isRunning = true
        return promise
      },
    }),
  }
}
