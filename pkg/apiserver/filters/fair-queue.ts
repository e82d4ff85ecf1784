import type { Status } from '../../apierrors/status.ts'

/** A place that was taken. After `leave` all of these do nothing. */
export type Seat = {
  readonly leave: () => void
  /** While a request waits for its client (a body that trickles in, an answer that is not read) it only counts for its user. */
  readonly idle: (isIdle: boolean) => void
}

export type FairQueueOptions = {
  /** Places in all, as configured now; 0 is no limit. */
  readonly most: () => number
  /** How long a request waits for a place. */
  readonly waitMs: () => number
  /** What a request is refused with that found no place. */
  readonly refuse: () => Status
}

export type FairQueue = {
  /**
   * Takes a place for a request of a flow, which is a user. Where there is none yet, a promise of one.
   *
   * @param gone emits `close` when nobody waits for the place any more
   * @throws Status as `refuse` makes it, also by the promise
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

/** What one user may have of all places. */
export const share = 1 / 4
/** As many requests beyond the places may wait for their clients: each has a piece of its answer in memory. */
const maxIdle = 1 / 2
// Ten thousand connections of one client at once are answered in turn, as kube-apiserver answers them.
const maxWaitingOfFlow = 10_000

export const unlimitedSeat: Seat = { leave: () => undefined, idle: () => undefined }

/**
 * Fair shares, as API Priority and Fairness of kube-apiserver has them (KEP-1040): a user has at most a quarter of the places,
 * what finds none waits in the queue of its user for a while, and free places go to the users who wait by turns.
 */
export function createFairQueue({ most, waitMs, refuse }: FairQueueOptions): FairQueue {
  const flows = new Map<string, Flow>()
  // Users with requests that wait, and places left of their share; the next one first.
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

  /** Gives free places to those who wait. */
  function next(): void {
    for (const flow of ready) {
      if (taken >= limit()) return
      ready.delete(flow)
      const [waiter] = flow.waiting
      if (waiter === undefined || !isBelowShare(flow)) continue
      waiter.grant()
      // At the end: it is the turn of the others.
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
