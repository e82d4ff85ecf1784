import { timedOut } from '../../apierrors/status.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { QueryLimits } from '../store.ts'
import type { Steps } from './pipes/sort-in-steps.ts'

/** Time slices of one query, which lets other requests run every few milliseconds. */
export type QueryTimeSlices = {
  readonly restart: () => void
  /** Returns the remaining time until the timeout. @throws Status 504 */
  readonly leftMs: () => number
  readonly isOver: () => boolean
  /** Waits for the next time slice. @throws Status 504; the reason of the aborted signal */
  readonly next: () => Promise<void>
  readonly run: <T>(steps: Steps<T>) => Promise<T>
}

export function createQueryTimeSlices({
  timeSlices,
  limits,
}: {
  readonly timeSlices: TimeSlices
  readonly limits: QueryLimits
}): QueryTimeSlices {
  let end = 0
  let deadline = 0
  const begin = () => {
    end = performance.now() + timeSlices.sliceMs
  }
  const restart = () => {
    begin()
    deadline = performance.now() + limits.timeoutMs
  }
  const leftMs = () => {
    const left = Math.ceil(deadline - performance.now())
    if (left <= 0) throw timedOut(`the query was stopped: it took longer than ${limits.timeoutMs} ms`)
    return left
  }
  const isOver = () => performance.now() >= end
  const next = async (): Promise<void> => {
    await timeSlices.next()
    limits.signal?.throwIfAborted()
    leftMs()
    begin()
  }
  restart()
  return {
    ...{ restart, leftMs, isOver, next },
    async run(steps) {
      begin()
      for (;;) {
        const step = steps.next()
        if (step.done) return step.value
        if (isOver()) await next()
      }
    },
  }
}
