import type { Writable } from 'node:stream'
import { badRequest, toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../apirequest/request-info.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import type { Auditor } from '../../audit/auditor.ts'
import type { AuthorizeRequest } from '../../authz/authorize-request.ts'
import { countsPlural, createCounts } from '../../platformapi/counts/serve.ts'
import { createMergedList, mergedPlural } from '../../platformapi/subrequests/merged-list.ts'
import { type CollectList, createCollectList } from '../../platformapi/subrequests/subrequest.ts'
import { createSubscriptions, subscriptionsPlural } from '../../platformapi/subscriptions/serve.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { UserTimeSlices } from '../../scheduling/time-slices.ts'
import type { MaxInFlight, RequestSeat } from '../filters/max-in-flight.ts'
import type { Router } from './path-router.ts'

export type SubrequestParts = {
  readonly group: string
  readonly version: string
  /** Handles all other requests of the group. */
  readonly platform: Handler
  readonly maxParameterLength: number
  readonly timeSlices: UserTimeSlices
  readonly broadcaster: WatchBroadcaster
  readonly requestSeconds: () => number
  /** Returns the filters for subrequests; available when the handler chain has been created. */
  readonly chain: () => {
    readonly auditor: Auditor
    readonly authorize: AuthorizeRequest
    readonly maxInFlight: MaxInFlight
    readonly router: Pick<Router, 'route' | 'narrows'>
  }
}

export type Subrequests = {
  /** Lists a kind as a part of another request. */
  readonly collect: CollectList
  /** The handler of the resources group, including requests that consist of subrequests. */
  readonly platform: Handler
  /** Returns whether a request consists of subrequests, each of which is authorized. */
  readonly judgesItself: (exchange: AuthenticatedExchange) => boolean
}

/**
 * Adds requests that consist of subrequests to the resources group: subscriptions, counts, and
 * lists of several kinds.
 */
export function createSubrequestRoutes(parts: SubrequestParts): Subrequests {
  const { group, version, platform, broadcaster } = parts
  const startMs = () => parts.requestSeconds() * 1_000
  const readLine = createLineReader(parts.maxParameterLength)
  const serve: Handler = exchange => {
    // Nested subrequests would circumvent the limit per connection.
    if (handlerOf(exchange) !== undefined)
      throw badRequest(`invalid path: ${exchange.info.resource} cannot be part of another request`)
    return serveSubrequest(parts.chain(), exchange)
  }
  const root = `/kapis/${group}/${version}`
  const collect = createCollectList({ readLine, serveList: serve })
  const handlers = new Map<string, Handler>([
    [subscriptionsPlural, createSubscriptions({ readLine, broadcaster, startMs, serveWatch: serve })],
    [countsPlural, createCounts({ root, readLine, serveList: serve })],
    [mergedPlural, createMergedList({ root, collect, timeSlices: parts.timeSlices })],
  ])
  function handlerOf({ info }: AuthenticatedExchange): Handler | undefined {
    const isOwn = isPlatformPrefix(info.prefix) && info.group === group && info.version === version
    return info.isResource && isOwn && info.parts.length === 1 ? handlers.get(info.resource) : undefined
  }
  return {
    collect,
    platform: exchange => (handlerOf(exchange) ?? platform)(exchange),
    judgesItself: exchange => handlerOf(exchange) !== undefined,
  }
}

async function serveSubrequest(
  { auditor, authorize, maxInFlight, router }: ReturnType<SubrequestParts['chain']>,
  exchange: AuthenticatedExchange,
): Promise<void> {
  const { identity, impersonator, openWatch } = exchange
  const record = auditor.begin(exchange)
  record.identified(
    { ...exchange, identity: impersonator ?? identity },
    impersonator === undefined ? undefined : identity,
  )
  let seat: RequestSeat | undefined
  let isOpened = false
  let isDone = false
  function done(code: number): void {
    seat?.leave()
    if (!isDone) record.completed(code)
    isDone = true
  }
  function open(): Writable {
    if (openWatch === undefined) throw new Error('only a subscription has a stream')
    seat?.longRunning()
    const out = openWatch()
    isOpened = true
    out.once('close', () => done(200))
    return out
  }
  const subrequest: AuthenticatedExchange =
    openWatch === undefined ? exchange : { ...exchange, openWatch: open }
  try {
    // Other handlers would write to a response that nothing reads.
    if (!router.narrows(subrequest))
      throw badRequest(
        'invalid path: expected a watch of a kind that Kapis caches, below /kapis, /kapi or /apis/resources.<group domain>',
      )
    // Each watch needs a seat, since its connection has none. Counts run one by one in the seat of
    // their request.
    if (openWatch !== undefined) seat = await maxInFlight.enter(subrequest, false)
    if ((await authorize(subrequest)) !== 'delegated') record.allowed()
    await router.route(subrequest)
    if (!isOpened) done(200)
  } catch (error) {
    record.failed(error)
    done(toStatus(error).code)
    throw error
  }
}
