import type { Status } from '../../apierrors/status.ts'

/** An acquired seat. After `leave`, its other methods have no effect. */
export type Seat = {
  readonly leave: () => void
  /**
   * Marks a request as idle while it waits for its client: for a slow body, or for a response to be
   * read. An idle request counts only against the limit of its user.
   */
  readonly idle: (isIdle: boolean) => void
}

export type FairQueueOptions = {
  /** Returns the current number of seats; 0 for no limit. */
  readonly seats: () => number
  /** Returns the time for which a request waits for a seat. */
  readonly waitMs: () => number
  /** Creates the error for a request that found no seat. */
  readonly rejection: () => Status
}

export type FairQueue = {
  /**
   * Acquires a seat for a request of a flow (a user), or returns a promise of one.
   *
   * @param gone emits `close` when the request no longer waits for a seat
   * @throws Status made by `rejection`, also through the promise
   */
  readonly take: (flow: string, gone: CloseEmitter) => Seat | Promise<Seat>
  /** Acquires a seat without waiting. @throws Status */
  readonly takeNow: (flow: string) => Seat
  readonly waiting: () => number
}

type CloseEmitter = {
  readonly once: (event: 'close', listener: () => void) => unknown
  readonly off: (event: 'close', listener: () => void) => unknown
}
type Waiter = { readonly grant: () => void }
type Flow = { readonly name: string; taken: number; readonly waiting: Set<Waiter> }

/** The share of the seats that one user may occupy. */
export const share = 1 / 4
/** Maximum number of idle requests per seat: each keeps a part of its response in memory. */
const maxIdle = 1 / 2
// Maximum queue length of one user. As in kube-apiserver, thousands of concurrent requests of one
// client are queued.
const maxWaitingOfFlow = 10_000

export const unlimitedSeat: Seat = { leave: () => undefined, idle: () => undefined }

/**
 * Creates a fair queue like API Priority and Fairness of kube-apiserver (KEP-1040). A user gets at
 * most a quarter of the seats. Further requests wait in the queue of their user for a limited time,
 * and free seats are given to waiting users in turn.
 */
export function createFairQueue({ seats, waitMs, rejection }: FairQueueOptions): FairQueue {
  const flows = new Map<string, Flow>()
  // Users with queued requests who have not used up their share, in the order of their turns.
  const ready = new Set<Flow>()
  let taken = 0
  let idling = 0
  let waiting = 0

  const limit = () => seats() || Number.POSITIVE_INFINITY
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
      // Re-inserting moves the user to the end, so that others are next.
      if (flow.waiting.size > 0) ready.add(flow)
    }
  }

  function wait(flow: Flow, gone: CloseEmitter): Promise<Seat> {
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
        const seat = enter(flow)
        stop()
        resolve(seat)
      },
    }
    const abandon = () => {
      stop()
      resolve(unlimitedSeat)
    }
    const timer = setTimeout(() => {
      stop()
      reject(rejection())
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
      const seat = takeOrNone(flow)
      if (seat !== undefined) return seat
      if (flow.waiting.size >= maxWaitingOfFlow) throw rejection()
      flows.set(name, flow)
      return wait(flow, gone)
    },
    takeNow(name) {
      const seat = takeOrNone(flowOf(name))
      if (seat === undefined) throw rejection()
      return seat
    },
    waiting: () => waiting,
  }
}
