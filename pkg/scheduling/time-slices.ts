/**
 * A cooperative scheduler for long work of several requests: it runs one slice of all such work per
 * event-loop turn. Otherwise each would take a slice of every turn, and a short request would wait
 * for all of them.
 */
export type TimeSlices = {
  /** Resolves when the caller may continue, for about `sliceMs`. */
  readonly next: () => Promise<void>
  readonly sliceMs: number
}

/** Time slices in turn by user, however many requests each of them has. */
export type UserTimeSlices = { readonly of: (user: string) => TimeSlices }

const sliceMs = 1.5

export function createTimeSlices(): TimeSlices {
  return createUserTimeSlices().of('')
}

export function createUserTimeSlices(): UserTimeSlices {
  /** Queues by user; the next one first. */
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
    // After this slice, and after pending input was handled.
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
