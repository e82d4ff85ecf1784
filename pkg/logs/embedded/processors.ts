import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'

const lookEveryMs = 1000

/** How much time of all processors together has passed, and how much of it the machine below gave to others; in any unit. */
export type ProcessorTimes = { readonly all: number; readonly stolen: number }

/** @returns how many processors this process has: parts of one too, where the machine below gives some of them to others */
export function createProcessors(): () => number {
  const given = availableParallelism()
  let last: ProcessorTimes | undefined
  let stolen = 0
  let lookedAt = Number.NEGATIVE_INFINITY

  async function look(): Promise<void> {
    const times = parseTimes(await readFile('/proc/stat', 'utf8').catch(() => ''))
    if (times !== undefined && last !== undefined) stolen = stolenBetween(last, times)
    last = times
  }

  return () => {
    const now = performance.now()
    if (now - lookedAt > lookEveryMs) {
      lookedAt = now
      void look()
    }
    return given * (1 - stolen)
  }
}

/** What proc_stat(5) says of all processors; undefined when it does not. */
export function parseTimes(stat: string): ProcessorTimes | undefined {
  const found = /^cpu +(\d+(?: \d+){7})/.exec(stat)?.[1]
  // What guests take comes behind, and is part of user already.
  const times = found?.split(' ').map(Number)
  return times && { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 }
}

/** @returns the part of the time, from 0 to 1 */
export function stolenBetween(first: ProcessorTimes, second: ProcessorTimes): number {
  const all = second.all - first.all
  return all > 0 ? Math.min(Math.max((second.stolen - first.stolen) / all, 0), 1) : 0
}
