import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { performance } from 'node:perf_hooks'

/** How much the thread that made it does, and when it answers requests, in memory that all threads of a store share. */
export type Bustle = {
  readonly memory: SharedArrayBuffer
  /** Looks again and again until the function that is returned is called; what was seen last holds for a second more. */
  readonly follow: () => () => void
}

const lookEveryMs = 100
// Who follows soon after another has not to wait for a look: of questions of 300 ms that is a third of the time.
const heldMs = 1000
// Its own timers take one to one and a half thousandths; fifty small requests a second take 11 to 20.
const fewThousandths = 5
// Node.js tells of each request that a server of the process takes and has answered.
const channels = ['http.server.request.start', 'http.server.response.finish']

export type BustleMeans = {
  /** Begins; what it returns tells the part of the time, from 0 to 1, in which something was done since it was last asked. */
  readonly measure: () => () => number
  /** The clock in milliseconds. */
  readonly now: () => number
  /** For how many milliseconds requests are counted after nobody follows any more. */
  readonly countedMs: number
}

const defaults: BustleMeans = {
  measure: measureThread,
  now: () => performance.now(),
  // Who comes or goes on a channel changes what V8 has compiled for it, and with that what serves all requests: it would be
  // compiled anew with each question.
  countedMs: 60_000,
}

export function createBustle(means: Partial<BustleMeans> = {}): Bustle {
  const { measure, now, countedMs } = { ...defaults, ...means }
  const memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const told = new Int32Array(memory)
  let followers = 0
  let timer: NodeJS.Timeout | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  // Requests are counted from the first follower on until this is over.
  let forgetting: NodeJS.Timeout | undefined

  function count(): void {
    Atomics.add(told, 1, 1)
  }

  function begin(): void {
    if (now() - lookedAt > heldMs) Atomics.store(told, 0, 0)
    // Only what is done meanwhile: what is asked takes this thread some milliseconds too, before and after.
    const look = measure()
    timer = setInterval(() => {
      Atomics.store(told, 0, Math.round(1000 * look()))
      lookedAt = now()
    }, lookEveryMs).unref()
    if (forgetting === undefined) for (const channel of channels) subscribe(channel, count)
    clearTimeout(forgetting)
  }

  function leave(): void {
    clearInterval(timer)
    forgetting = setTimeout(() => {
      forgetting = undefined
      for (const channel of channels) unsubscribe(channel, count)
    }, countedMs).unref()
  }

  return {
    memory,
    follow() {
      if (followers === 0) begin()
      followers += 1
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        followers -= 1
        if (followers === 0) leave()
      }
    },
  }
}

/** Whether that thread answers others, for one that has the memory. */
export function createIsBusy(memory: SharedArrayBuffer): () => boolean {
  const told = new Int32Array(memory)
  return () => Atomics.load(told, 0) >= fewThousandths
}

/** How often a request began or was answered since then, for one that has the memory: another number is all that it tells. */
export function createTurns(memory: SharedArrayBuffer): () => number {
  const told = new Int32Array(memory)
  return () => Atomics.load(told, 1)
}

function measureThread(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const present = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(present, last)
    last = present
    return utilization
  }
}
