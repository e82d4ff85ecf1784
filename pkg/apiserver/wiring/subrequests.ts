import type { Writable } from 'node:stream'
import { badRequest, tooManyRequests, toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../apirequest/request-info.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import { unknownCluster } from '../../apirequest/target.ts'
import type { Auditor, AuditRecord } from '../../audit/auditor.ts'
import type { AuthorizeRequest } from '../../authz/authorize-request.ts'
import { countsPlural, createCounts } from '../../platformapi/counts/serve.ts'
import { createClusterList, isForClusters } from '../../platformapi/subrequests/cluster-list.ts'
import type { ReadInMember } from '../../platformapi/subrequests/cluster-part.ts'
import { createMergedList, mergedPlural } from '../../platformapi/subrequests/merged-list.ts'
import {
  type CollectList,
  createCollectList,
  toSubrequest,
} from '../../platformapi/subrequests/subrequest.ts'
import { createSubscriptions, subscriptionsPlural } from '../../platformapi/subscriptions/serve.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { UserTimeSlices } from '../../scheduling/time-slices.ts'
import { createFairQueue } from '../filters/fair-queue.ts'
import type { MaxInFlight, RequestSeat } from '../filters/max-in-flight.ts'
import type { Members } from './member-clusters.ts'
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
  readonly groupDomain: string
  /** Returns the kind with a plural of this group. @throws Status 503 */
  readonly kindOf: (plural: string) => Promise<Kind | undefined>
  /** Returns the filters for subrequests; available when the handler chain has been created. */
  readonly chain: () => {
    readonly auditor: Auditor
    readonly authorize: AuthorizeRequest
    readonly maxInFlight: MaxInFlight
    readonly router: Pick<Router, 'route' | 'narrows'>
    /** undefined if there are no member clusters. */
    readonly members: Pick<Members, 'usable' | 'authorize' | 'list'> | undefined
  }
}

type Chain = ReturnType<SubrequestParts['chain']>

export type Subrequests = {
  /** Lists a kind as a part of another request. */
  readonly collect: CollectList
  /** The handler of the resources group, including requests that consist of subrequests. */
  readonly platform: Handler
  /** Returns whether a request consists of subrequests, each of which is authorized. */
  readonly authorizesItself: (exchange: AuthenticatedExchange) => boolean
}

// Each keeps the lists of its members in memory.
const maxClusterLists = 8
const clusterListWaitMs = 10_000

/**
 * Adds requests that consist of subrequests to the resources group: subscriptions, counts, lists of
 * several kinds, and lists over several clusters.
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
  const listOfClusters = createClusterList({
    ...{ groupDomain: parts.groupDomain, collect, timeSlices: parts.timeSlices, kindOf: parts.kindOf },
    readInMember: createReadInMember(parts),
    usableMembers: async ({ identity }) => (await parts.chain().members?.usable(identity)) ?? [],
    reserve: createFairQueue({
      seats: () => maxClusterLists,
      waitMs: () => clusterListWaitMs,
      rejection: () => tooManyRequests('too many lists over clusters in progress', 1),
    }).take,
  })
  function handlerOf(exchange: AuthenticatedExchange): Handler | undefined {
    const { info } = exchange
    const isOwn = isPlatformPrefix(info.prefix) && info.group === group && info.version === version
    if (!info.isResource || !isOwn) return undefined
    const known = info.parts.length === 1 ? handlers.get(info.resource) : undefined
    return known ?? (isForClusters(exchange) ? listOfClusters : undefined)
  }
  return {
    collect,
    platform: exchange => (handlerOf(exchange) ?? platform)(exchange),
    authorizesItself: exchange => handlerOf(exchange) !== undefined,
  }
}

/** Returns a function that audits and authorizes a list in a member cluster, and reads it. */
function createReadInMember({ chain, maxParameterLength }: SubrequestParts): ReadInMember {
  const readLine = createLineReader(maxParameterLength, 'all')
  return async (exchange, res, { cluster, url, ...limits }) => {
    const { auditor, members } = chain()
    if (members === undefined) throw unknownCluster(cluster, 'host')
    const subrequest = toSubrequest(exchange, readLine('GET', `/clusters/${cluster}${url}`), res)
    const record = beginRecord(auditor, subrequest)
    try {
      await members.authorize(subrequest)
      record.allowed()
      const page = await members.list(subrequest, {
        ...limits,
        onResponse(_code, headers) {
          for (const name of ['warning', 'kapis-narrowed-namespaces']) {
            const value = headers[name]
            if (value !== undefined) res.setHeader(name, value)
          }
        },
      })
      record.completed(200)
      return page
    } catch (error) {
      record.failed(error)
      record.completed(toStatus(error).code)
      throw error
    }
  }
}

function beginRecord(auditor: Auditor, exchange: AuthenticatedExchange): AuditRecord {
  const { identity, impersonator } = exchange
  const record = auditor.begin(exchange)
  record.identified(
    { ...exchange, identity: impersonator ?? identity },
    impersonator === undefined ? undefined : identity,
  )
  return record
}

async function serveSubrequest(
  { auditor, authorize, maxInFlight, router }: Chain,
  exchange: AuthenticatedExchange,
): Promise<void> {
  const { openWatch } = exchange
  const record = beginRecord(auditor, exchange)
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
        openWatch === undefined
          ? 'Kapis does not list this kind as a part of another request'
          : 'invalid path: expected a watch of a kind that Kapis caches, below /kapis, /kapi or /apis/resources.<group domain>',
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
