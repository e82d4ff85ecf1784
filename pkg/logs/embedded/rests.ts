import { availableParallelism } from 'node:os'

/** The clock in milliseconds, and what stops the thread that calls for so many of them. */
export type RestMeans = {
  readonly now: () => number
  readonly sleep: (ms: number) => void
  readonly processors: number
}

/** `isWanted`: whether what goes on lasts, and others are busy; `turns`: another number once others were asked or have answered. */
export type RestSigns = {
  readonly isWanted: () => boolean
  readonly turns: () => number
}

// Of three processors two are left.
const fewProcessors = 2
const workMs = 0.3
const pauseMs = 0.2
// As long as it takes to answer what is small, and its client to have it.
const restMs = 0.7
// A millisecond of work allows so many of rest, of which a few can be saved: three tenths of the time are its own, whatever others ask.
const restsOfWork = 7 / 3
const mostSavedMs = 2.5
const shortPauseMs = 0.1

/**
 * For a thread whose work lasts: what it calls within it, each fraction of a millisecond. Where processors are few it stops
 * while a request is answered, and for a moment after each bit of work, as one may be waiting to be. Who waits for the processor
 * that it has would wait for the kernel to take it away: that is a slice of 1.4 ms and the next tick, 4 ms in all, whatever
 * the nice of both (Linux 6.18, EEVDF without preemption). docs/log-store-performance.md has what less and more of it do.
 */
export function createRests({ isWanted, turns }: RestSigns, means: Partial<RestMeans> = {}): () => void {
  const { now, sleep, processors } = { ...createMeans(), ...means }
  if (processors > fewProcessors) return () => undefined
  let wokeAt = Number.NEGATIVE_INFINITY
  let savedMs = mostSavedMs
  let seen = turns()

  return () => {
    if (!isWanted()) return
    const workedMs = now() - wokeAt
    const isQuiet = turns() === seen
    const allowedMs = Math.min(mostSavedMs, savedMs + workedMs * restsOfWork)
    if (isQuiet ? workedMs < workMs : allowedMs < restMs) return
    savedMs = allowedMs
    const stop = (ms: number): void => {
      sleep(ms)
      savedMs -= ms
    }
    if (isQuiet) stop(pauseMs)
    else {
      do {
        seen = turns()
        stop(restMs)
      } while (turns() !== seen && savedMs >= restMs)
    }
    wokeAt = now()
  }
}

/**
 * For a thread whose work nobody waits for: what it calls within it. Where processors are few it stops for a moment after each bit
 * of work for as long as it is wanted: who is about to ask would wait behind it otherwise, and cannot say so before.
 */
export function createPauses(isWanted: () => boolean, means: Partial<RestMeans> = {}): () => void {
  const { now, sleep, processors } = { ...createMeans(), ...means }
  if (processors > fewProcessors) return () => undefined
  let wokeAt = Number.NEGATIVE_INFINITY
  return () => {
    if (!isWanted() || now() - wokeAt < workMs) return
    sleep(shortPauseMs)
    wokeAt = now()
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
