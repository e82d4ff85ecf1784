import type { Status } from '../../apierrors/status.ts'

/** An acquired seat. After `leave` its other methods do nothing. */
export type Seat = {
  readonly leave: () => void
  /**
   * While a request waits for its client (for a slow body, or a response that is not read) it
   * counts only against the limit of its user.
   */
  readonly idle: (isIdle: boolean) => void
}

export type FairQueueOptions = {
  /** Number of seats, as configured now; 0 for no limit. */
  readonly most: () => number
  /** How long a request waits for a place. */
  readonly waitMs: () => number
  /** Creates the error for a request that found no seat. */
  readonly refuse: () => Status
}

export type FairQueue = {
  /**
   * Acquires a seat for a request of a flow (a user), or returns a promise of one.
   *
   * @param gone emits `close` when the request no longer waits for a seat
   * @throws Status made by `refuse`, also through the promise
   */
  readonly take: (flow: string, gone: Gone) => Seat | Promise<Seat>
  /** The same without waiting. @throws Status */
  readonly takeNow: (flow: string) => Seat
  /** Requests that are queued by the in-flight limits. */
  readonly waiting: () => number
}

type Gone = {
  readonly once: (event: 'close', listener: () => void) => unknown
  readonly off: (event: 'close', listener: () => void) => unknown
}
type Waiter = { readonly grant: () => void }
type Flow = { readonly name: string; taken: number; readonly waiting: Set<Waiter> }

/** The share of one user. */
export const share = 1 / 4
/**
 * Limits the requests that wait for their clients in addition to the seats: each holds a part of
 * its response in memory.
 */
const maxIdle = 1 / 2
// Queues thousands of concurrent requests of one client in order, as kube-apiserver does.
const maxWaitingOfFlow = 10_000

export const unlimitedSeat: Seat = { leave: () => undefined, idle: () => undefined }

/**
 * Fair queuing like API Priority and Fairness of kube-apiserver (KEP-1040): a user gets at most a
 * quarter of the seats, further requests wait in the queue of their user for a limited time, and
 * free seats are given to waiting users in turn.
 */
export function createFairQueue({ most, waitMs, refuse }: FairQueueOptions): FairQueue {
  const flows = new Map<string, Flow>()
  // Users with queued requests who have not used up their share; the next one first.
  const ready = new Set<Flow>()
  let taken = 0
  let idling = 0
  let waiting = 0

  const limit = () => most() || Number.POSITIVE_INFINITY
  const isBelowShare = (flow: Flow) => flow.taken < Math.max(1, Math.ceil(limit() * share))

  function enter(flow: Flow): Seat {
    flow.taken++
    taken++
    let isLeft = false
    let isIdle = false
    return {
      leave() {
        if (isLeft) return
        isLeft = true
        flow.taken--
        if (isIdle) idling--
        else taken--
        if (flow.waiting.size > 0) ready.add(flow)
        else if (flow.taken === 0) flows.delete(flow.name)
        next()
      },
      idle(now) {
        if (isLeft || now === isIdle || (now && idling >= limit() * maxIdle)) return
        isIdle = now
        idling += now ? 1 : -1
        taken += now ? -1 : 1
        if (now) next()
      },
    }
  }

  /** Gives free seats to queued requests. */
  function next(): void {
    for (const flow of ready) {
      if (taken >= limit()) return
      ready.delete(flow)
      const [waiter] = flow.waiting
      if (waiter === undefined || !isBelowShare(flow)) continue
      waiter.grant()
      // Moves the user to the end: others are next.
      if (flow.waiting.size > 0) ready.add(flow)
    }
  }

  function wait(flow: Flow, gone: Gone): Promise<Seat> {
    const { promise, resolve, reject } = Promise.withResolvers<Seat>()
    const stop = () => {
      if (!flow.waiting.delete(waiter)) return
      waiting--
      clearTimeout(timer)
      gone.off('close', abandon)
      if (flow.waiting.size > 0) return
      ready.delete(flow)
      if (flow.taken === 0) flows.delete(flow.name)
    }
    const waiter: Waiter = {
      grant() {
        const place = enter(flow)
        stop()
        resolve(place)
      },
    }
    const abandon = () => {
      stop()
      resolve(unlimitedSeat)
    }
    const timer = setTimeout(() => {
      stop()
      reject(refuse())
    }, waitMs())
    gone.once('close', abandon)
    flow.waiting.add(waiter)
    waiting++
    if (isBelowShare(flow)) ready.add(flow)
    return promise
  }

  const flowOf = (name: string): Flow => flows.get(name) ?? { name, taken: 0, waiting: new Set() }

  function takeOrNone(flow: Flow): Seat | undefined {
    if (taken >= limit() || !isBelowShare(flow)) return undefined
    flows.set(flow.name, flow)
    return enter(flow)
  }

  return {
    take(name, gone) {
      const flow = flowOf(name)
      const place = takeOrNone(flow)
      if (place !== undefined) return place
      if (flow.waiting.size >= maxWaitingOfFlow) throw refuse()
      flows.set(name, flow)
      return wait(flow, gone)
    },
    takeNow(name) {
      const place = takeOrNone(flowOf(name))
      if (place === undefined) throw refuse()
      return place
    },
    waiting: () => waiting,
  }
}
