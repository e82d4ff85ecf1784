import { tooManyRequests } from '../../apierrors/status.ts'
import { isSuperuser } from '../../apirequest/identity/identity.ts'
import { mayBeLongRunning } from '../../apirequest/long-running.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { createBodyArrival } from './body-arrival.ts'
import { createFairQueue, type Seat, unlimitedSeat } from './fair-queue.ts'

/** Maximum number of concurrent requests; 0 for no limit. */
export type MaxInFlightLimits = {
  readonly reading: number
  readonly mutating: number
  /** Limit for watches, logs that are followed, and upgraded connections. */
  readonly lasting: number
  /** The request timeout. As in kube-apiserver, a request is queued for a quarter of it. */
  readonly requestSeconds: number
}

export type SeatKind = 'reading' | 'mutating' | 'lasting'

export type RequestSeat = Seat & {
  /** Marks the request as long-running and releases its seat. @throws Status 429 */
  readonly longRunning: () => void
}

export type MaxInFlight = {
  /**
   * Acquires a seat for a request until it is released. A request with a body gets one after the
   * body has arrived, so that slow uploads occupy no seats.
   *
   * @param isUntimed for proxied requests that may be long-running, which need no seat at
   * kube-apiserver either
   * @throws Status 429 with Retry-After, also through the promise
   */
  readonly enter: (exchange: AuthenticatedExchange, isUntimed: boolean) => RequestSeat | Promise<RequestSeat>
  /** Returns the number of queued requests. */
  readonly waiting: (kind: SeatKind) => number
}

export type MaxInFlightOptions = {
  readonly limits: () => MaxInFlightLimits
  /** Called for each rejected request. */
  readonly onRejected: (kind: SeatKind) => void
}

const readingVerbs = new Set(['get', 'list', 'watch', 'head', 'options'])
// The user names with which kube-apiserver fetches discovery and OpenAPI documents.
const aggregators = new Set(['system:aggregator', 'system:kube-aggregator'])

/**
 * Creates a max-in-flight filter with fair shares. Reads, writes and long-running requests have
 * separate limits, none of which a single user can use up. Members of system:masters (who may have
 * to repair a cluster) and kube-apiserver itself are exempt.
 */
export function createMaxInFlight({ limits, onRejected }: MaxInFlightOptions): MaxInFlight {
  const bodies = createBodyArrival()
  const createQueue = (kind: SeatKind, waitMs: () => number) =>
    createFairQueue({
      seats: () => limits()[kind],
      waitMs,
      rejection() {
        onRejected(kind)
        return tooManyRequests('Too many requests, please try again later.', 1)
      },
    })
  const waitMs = () => (limits().requestSeconds * 1_000) / 4
  const queues = {
    reading: createQueue('reading', waitMs),
    mutating: createQueue('mutating', waitMs),
    // Does not wait: long-running requests release their seats at unpredictable times.
    lasting: createQueue('lasting', () => 0),
  }

  /**
   * Returns the seat of a request. When the request becomes long-running, its short seat is replaced
   * by a long one. A request that may become long-running acquires both in advance.
   */
  function stay(short: Seat, user: string, mayBeLong: boolean): RequestSeat {
    let long: Seat | undefined
    const takeLong = () => {
      long ??= queues.lasting.takeNow(user)
    }
    try {
      if (mayBeLong) takeLong()
    } catch (error) {
      short.leave()
      throw error
    }
    return {
      leave() {
        short.leave()
        long?.leave()
      },
      idle: short.idle,
      longRunning() {
        takeLong()
        short.leave()
      },
    }
  }

  return {
    enter(exchange, isUntimed) {
      if (isExempt(exchange)) return exempt
      const { req, res, info, upgrade } = exchange
      const user = exchange.identity.username
      const mayBeLong = upgrade !== undefined || mayBeLongRunning(exchange)
      if (isUntimed) return stay(unlimitedSeat, user, true)
      const kind = readingVerbs.has(info.verb) ? 'reading' : 'mutating'
      const take = () => {
        const seat = queues[kind].take(user, res)
        return seat instanceof Promise
          ? seat.then(acquired => stay(acquired, user, mayBeLong))
          : stay(seat, user, mayBeLong)
      }
      const arrived = bodies.of(req)
      return arrived === undefined ? take() : arrived.then(take)
    },
    waiting: kind => queues[kind].waiting(),
  }
}

function isExempt({ identity, isAggregated }: AuthenticatedExchange): boolean {
  return isSuperuser(identity) || (isAggregated && aggregators.has(identity.username))
}

const exempt: RequestSeat = { ...unlimitedSeat, longRunning: () => undefined }
