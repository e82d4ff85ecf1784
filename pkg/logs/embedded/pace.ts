import { createProcessors } from './processors.ts'

/** To be waited for, now and then, by whoever makes much work for this process; undefined when it may go on at once. */
export type Pace = () => Promise<void> | undefined

export type PaceMeans = {
  /** Milliseconds of all processors together that this process has taken. */
  readonly takenMs: () => number
  readonly processors: () => number
}

// Ingest alone could take all of them. The share is what it keeps of its speed, of which questions may cost a third.
const share = 0.72
// So that what is only taken for a moment is not held.
const aheadMs = 10
// What others of this process take is counted too, and must not hold it for ever.
const mostRestMs = 25
const freeMs = 2
const forgottenMs = 1000

/**
 * Leaves a part of the processors free. Where all of them are busy, a question waits at each of its steps until the kernel takes
 * one from somebody, which is milliseconds.
 */
export function createPace({ takenMs, processors }: PaceMeans = createMeans()): Pace {
  let lookedAt = Number.NEGATIVE_INFINITY
  let takenBefore = 0
  /** Of what may be taken, in milliseconds. */
  let left = 0
  let freeUntil = 0
  let resting: Promise<void> | undefined

  return () => {
    if (resting !== undefined) return resting
    const now = performance.now()
    const taken = takenMs()
    const perMs = share * processors()
    const most = aheadMs * perMs
    left =
      now - lookedAt > forgottenMs
        ? most
        : Math.min(left + (now - lookedAt) * perMs - (taken - takenBefore), most)
    left = Math.max(left, -mostRestMs * perMs)
    lookedAt = now
    takenBefore = taken
    if (left >= 0 || now < freeUntil) return undefined
    resting = new Promise(resolve => {
      const goOn = (): void => {
        resting = undefined
        freeUntil = performance.now() + freeMs
        resolve()
      }
      setTimeout(goOn, Math.min(Math.max(-left / perMs, 1), mostRestMs))
    })
    return resting
  }
}

function createMeans(): PaceMeans {
  const takenMs = (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return { takenMs, processors: createProcessors() }
}
