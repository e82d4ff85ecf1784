import { createPace, type Pace } from './pace.ts'
import { createPauses, type RestMeans } from './rests.ts'

/** Whether somebody waits for an answer, in memory that all threads of a store share. */
export type Precedence = {
  readonly memory: SharedArrayBuffer
  /** A question is asked: who gives way does so until the function that is returned is called, or it takes long. */
  readonly goAhead: () => () => void
  /**
   * For what goes on in the same thread: to be waited for while there are questions, half of the time at most, and between
   * those that come one soon after the other, so that they find a processor; undefined when there is nothing to wait for.
   */
  readonly untilAnswered: () => Promise<void> | undefined
}

const mostHeldMs = 50
const soonMs = 1000

/** @param pace of what goes on between questions */
export function createPrecedence(pace: Pace = createPace()): Precedence {
  // How many are being asked, and how many ever were.
  const memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const asked = new Int32Array(memory)
  let waiting: { readonly answered: Promise<void>; readonly goOn: () => void } | undefined
  let freeUntil = 0
  let askedAt = Number.NEGATIVE_INFINITY

  function wait(): Promise<void> {
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const since = performance.now()
    const goOn = (): void => {
      clearTimeout(patience)
      waiting = undefined
      const now = performance.now()
      freeUntil = now + (now - since)
      resolve()
    }
    // While there is always another question, too.
    const patience = setTimeout(goOn, mostHeldMs)
    waiting = { answered, goOn }
    return answered
  }

  return {
    memory,
    untilAnswered: () => {
      if (waiting !== undefined) return waiting.answered
      const now = performance.now()
      if (Atomics.load(asked, 0) > 0 && now >= freeUntil) return wait()
      return now - askedAt < soonMs ? pace() : undefined
    },
    goAhead: () => {
      Atomics.add(asked, 0, 1)
      Atomics.add(asked, 1, 1)
      askedAt = performance.now()
      let isOver = false
      const end = (): void => {
        if (isOver) return
        isOver = true
        clearTimeout(patience)
        if (Atomics.sub(asked, 0, 1) > 1) return
        Atomics.notify(asked, 0)
        waiting?.goOn()
      }
      // What lasts is not helped by it.
      const patience = setTimeout(end, mostHeldMs)
      return end
    },
  }
}

/** Whether somebody waits, for a thread that has the memory. */
export function createIsAsked(memory: SharedArrayBuffer): () => boolean {
  const asked = new Int32Array(memory)
  return () => Atomics.load(asked, 0) > 0
}

/**
 * For a thread whose work nobody waits for: what it calls about every millisecond, or more often. It sleeps while there are
 * questions, for half of its time at most; and where processors are few, for moments while they come one soon after the other.
 */
export function createGiveWay(memory: SharedArrayBuffer, means: Partial<RestMeans> = {}): () => void {
  const asked = new Int32Array(memory)
  const pause = createPauses(createIsAskedSoon(asked, means.now), means)
  let freeUntil = 0
  return () => {
    if (Atomics.load(asked, 0) === 0) return pause()
    const since = performance.now()
    if (since < freeUntil) return
    let now = since
    for (let open = Atomics.load(asked, 0); open > 0 && now - since < mostHeldMs; ) {
      Atomics.wait(asked, 0, open, mostHeldMs - (now - since))
      now = performance.now()
      open = Atomics.load(asked, 0)
    }
    freeUntil = now + (now - since)
  }
}

/** Whether a question came within the last second, or since it was last called. */
function createIsAskedSoon(asked: Int32Array, now = () => performance.now()): () => boolean {
  let seen = 0
  let seenAt = Number.NEGATIVE_INFINITY
  return () => {
    const count = Atomics.load(asked, 1)
    if (count !== seen) seenAt = now()
    seen = count
    return now() - seenAt < soonMs
  }
}
