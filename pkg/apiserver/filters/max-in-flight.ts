import { tooManyRequests } from '../../apierrors/status.ts'
import { isSuperuser } from '../../apirequest/identity.ts'
import { mayLast } from '../../apirequest/long-running.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { createBodyArrival } from './body-arrival.ts'
import { createFairQueue, type Seat, unlimitedSeat } from './fair-queue.ts'

/** Requests at once, at most; 0 is no limit. */
export type MaxInFlightLimits = {
  readonly reading: number
  readonly mutating: number
  /** Watches, followed logs and upgraded connections. */
  readonly lasting: number
  /** How long a request may take; it waits for its place for a quarter of that, as at kube-apiserver. */
  readonly requestSeconds: number
}

export type SeatKind = 'reading' | 'mutating' | 'lasting'

/** A request among those in flight. */
export type RequestSeat = Seat & {
  /** The answer turns out to last for hours: its place is for others. @throws Status 429 when its user has too many such */
  readonly longRunning: () => void
}

export type MaxInFlight = {
  /**
   * Takes a place for a request until it is left. One with a body gets it once that is there: anyone who sends slowly must not
   * hold places.
   *
   * @param isUntimed for what may last at kube-apiserver, where it takes no place either
   * @throws Status 429 with Retry-After when there is none, also by the promise
   */
  readonly enter: (exchange: AuthenticatedExchange, isUntimed: boolean) => RequestSeat | Promise<RequestSeat>
  /** Requests that are queued by the in-flight limits. */
  readonly waiting: (kind: SeatKind) => number
}

export type MaxInFlightOptions = {
  /** As they are now. */
  readonly limits: () => MaxInFlightLimits
  /** Told of each refusal. */
  readonly refused: (kind: SeatKind) => void
}

const readingVerbs = new Set(['get', 'list', 'watch', 'head', 'options'])
// What kube-apiserver calls itself when it reads discovery and OpenAPI documents.
const aggregators = new Set(['system:aggregator', 'system:kube-aggregator'])

/**
 * kube-apiserver's max-in-flight with fair shares: reads, writes and what lasts for hours have places of their own, and no user
 * can take all of them. Members of system:masters, who have to repair a cluster, and kube-apiserver itself are exempt.
 */
export function createMaxInFlight({ limits, refused }: MaxInFlightOptions): MaxInFlight {
  const bodies = createBodyArrival()
  const placesOf = (kind: SeatKind, waitMs: () => number) =>
    createFairQueue({
      most: () => limits()[kind],
      waitMs,
      refuse() {
        refused(kind)
        return tooManyRequests('Too many requests, please try again later.', 1)
      },
    })
  const waitMs = () => (limits().requestSeconds * 1_000) / 4
  const places = {
    reading: placesOf('reading', waitMs),
    mutating: placesOf('mutating', waitMs),
    // Nobody knows when one of them comes free.
    lasting: placesOf('lasting', () => 0),
  }

  /** What asks to last has a second place, which it keeps until its end. */
  function stay(short: Seat, user: string, asksToLast: boolean): RequestSeat {
    let long: Seat | undefined
    const takeLong = () => {
      long ??= places.lasting.takeNow(user)
    }
    try {
      if (asksToLast) takeLong()
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
      const asksToLast = upgrade !== undefined || mayLast(exchange)
      if (isUntimed) return stay(unlimitedSeat, user, true)
      const kind = readingVerbs.has(info.verb) ? 'reading' : 'mutating'
      const take = () => {
        const place = places[kind].take(user, res)
        return place instanceof Promise
          ? place.then(given => stay(given, user, asksToLast))
          : stay(place, user, asksToLast)
      }
      const arrived = bodies.of(req)
      return arrived === undefined ? take() : arrived.then(take)
    },
    waiting: kind => places[kind].waiting(),
  }
}

function isExempt({ identity, isAggregated }: AuthenticatedExchange): boolean {
  return isSuperuser(identity) || (isAggregated && aggregators.has(identity.username))
}

const exempt: RequestSeat = { ...unlimitedSeat, longRunning: () => undefined }
