import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, methodNotAllowed } from '../../apierrors/status.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { requirementsOf } from '../../apirequest/selector/selector.ts'
import { hostCluster, isClusterName } from '../../apirequest/target.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import { createFieldsForm } from '../../resourcecache/list/field-projection.ts'
import type { TimeSlices, UserTimeSlices } from '../../scheduling/time-slices.ts'
import { isForComponents } from '../components/serve.ts'
import { withAbortOnDisconnect } from '../logs/abort-on-disconnect.ts'
import { isForRegistries } from '../registries/serve.ts'
import {
  type ClusterError,
  type ClusterPart,
  createClusterReader,
  type ReadInMember,
} from './cluster-part.ts'
import { type MergedList, mergeCurrent, sendMerged } from './merge.ts'
import { type CollectList, passWarnings, totalOf } from './subrequest.ts'

export type ClusterListOptions = {
  readonly groupDomain: string
  readonly collect: CollectList
  readonly readInMember: ReadInMember
  /** Returns the names of the member clusters that the caller may use. @throws Status 503 */
  readonly usableMembers: (exchange: AuthenticatedExchange) => Promise<readonly string[]>
  /** Returns the kind with a plural; undefined if this cluster does not serve it. @throws Status 503 */
  readonly kindOf: (plural: string) => Promise<Kind | undefined>
  /** Reserves memory for the lists of members, or waits for it. @throws Status 429 */
  readonly reserve: (user: string, res: AuthenticatedExchange['res']) => Seat | Promise<Seat>
  readonly timeSlices: UserTimeSlices
}

/** A reserved slot; `leave` releases it. */
type Seat = { readonly leave: () => void }

const allClusters = '*'
// Limits time and memory, regardless of the number and speed of the clusters.
const maxClusters = 32
const maxObjects = 1_000
const maxBytes = 16 * 1024 * 1024
const maxMs = 10_000

// Not supported: the clusters change independently of each other.
const unsupported = ['watch', 'resourceVersion', 'resourceVersionMatch']

/** Returns whether a request is a list over several clusters. @throws Status 400 */
export function isForClusters({ info, query }: AuthenticatedExchange): boolean {
  const isList = info.verb === 'list' || info.verb === 'watch'
  return isList && info.subresource === '' && (query.get('clusters') ?? '') !== ''
}

/**
 * Serves a platform list with `clusters=host,east`, or with `clusters=*` for all clusters that the
 * caller may use: one sorted list of the objects of these clusters. Each cluster authorizes and
 * narrows its list like a separate request. A cluster whose list fails is in `clusters` with its
 * Status, and in a Warning.
 *
 * @throws Status 400 that names the parameter, 404 if no cluster serves the kind, 405, 410, 429; if
 * no list succeeds, the first error
 */
export function createClusterList(options: ClusterListOptions): Handler {
  const { groupDomain, kindOf, reserve, usableMembers, timeSlices } = options
  return async exchange => {
    const { res, identity, info } = exchange
    const { requested, query } = parseClusterList(exchange)
    const kind = await kindOf(info.resource)
    const names = requested ?? limited([hostCluster, ...(await usableMembers(exchange))])
    const slot = await reserve(identity.username, res)
    try {
      await withAbortOnDisconnect(exchange, async left => {
        const signal = AbortSignal.any([left, AbortSignal.timeout(maxMs)])
        const share = Math.floor(maxBytes / names.length)
        // All objects of the page may be in one cluster.
        const limit = query.page * query.limit
        const request = { url: toUrl(exchange, limit), limit, query, groupDomain, signal }
        const list = { ...request, plural: info.resource, kind, maxBytes: share }
        const read = createClusterReader(options, exchange, list)
        // Reads the member clusters first, since the permissions of the caller in this cluster may
        // change in the meantime.
        const inMembers = new Map(
          await Promise.all(
            names.filter(name => name !== hostCluster).map(async name => [name, await read(name)] as const),
          ),
        )
        const collect = async () => {
          const parts: PartOfPage[] = []
          for (const name of names) parts.push(inMembers.get(name) ?? (await read(name)))
          return { parts, lists: parts.filter(part => 'list' in part) }
        }
        const slices = timeSlices.of(identity.username)
        const page = await mergeCurrent(exchange, collect, query, slices)
        if (page !== undefined) await sendPage(exchange, page, slices)
      })
    } finally {
      slot.leave()
    }
  }
}

/** @throws Status 400, 405 */
function parseClusterList({ req, info, query: parameters }: AuthenticatedExchange) {
  if (req.method !== 'GET') throw methodNotAllowed(['GET'])
  if (isForComponents(info.resource) || isForRegistries(info.resource))
    throw badRequest(`clusters is not supported for ${info.resource}; send a request to each cluster`)
  const wrong = unsupported.find(name => (parameters.get(name) ?? '') !== '')
  if (wrong !== undefined)
    throw badRequest(`${wrong} is not supported with clusters; send a request to each cluster`)
  const query = parseListQuery(parameters, ['clusters'])
  for (const selector of [query.labelSelector, query.fieldSelector, query.columns])
    requirementsOf<unknown>(selector)
  if (query.fields !== '') createFieldsForm(query.fields)
  const { page, limit } = query
  const requested = parseClusters(parameters.get('clusters') ?? '')
  if (limit < 0) return { requested, query: { ...query, page: 1, limit: maxObjects } }
  if (page * limit > maxObjects)
    throw badRequest(
      `page ${page} with limit ${limit} exceeds the first ${maxObjects} objects, the limit of a list over clusters; use filters`,
    )
  return { requested, query }
}

/** Parses `clusters=host,east`; undefined for `*`. @throws Status 400 */
function parseClusters(text: string): readonly string[] | undefined {
  if (text === allClusters) return undefined
  const names = [...new Set(text.split(','))]
  const wrong = names.find(name => !isClusterName(name))
  if (wrong !== undefined)
    throw badRequest(
      `invalid clusters: ${JSON.stringify(wrong.slice(0, 64))}; expected names of clusters separated by commas, or ${allClusters}`,
    )
  return limited(names)
}

/** @throws Status 400 */
function limited(names: readonly string[]): readonly string[] {
  if (names.length <= maxClusters) return names
  throw badRequest(`clusters has ${names.length} names; at most ${maxClusters} are allowed`)
}

/** Returns the list in one cluster, without the parameters that apply to the merged list. */
function toUrl({ rawPath, query: parameters }: AuthenticatedExchange, limit: number): string {
  const rest = new URLSearchParams()
  const replaced = new Set(['clusters', 'fields', 'page', 'limit'])
  for (const [name, value] of parameters) if (!replaced.has(name)) rest.append(name, value)
  rest.append('limit', String(limit))
  return `${rawPath}?${rest}`
}

type PartOfPage = ClusterPart | ClusterError

async function sendPage(
  exchange: AuthenticatedExchange,
  page: {
    readonly parts: readonly PartOfPage[]
    readonly lists: readonly ClusterPart[]
    readonly merged: MergedList
  },
  timeSlices: TimeSlices,
): Promise<void> {
  const { parts, lists, merged } = page
  const { res } = exchange
  const rejections = parts.flatMap(part => ('rejection' in part ? [part.rejection] : []))
  // A 404 would claim that no cluster serves the kind, but those with other errors may serve it.
  const rejection = rejections.find(({ code }) => code !== 404) ?? rejections[0]
  if (lists.length === 0 && rejection !== undefined) throw rejection
  let totalItems = 0
  const clusters = parts.map(part => {
    const { cluster } = part
    const where = `cluster ${JSON.stringify(cluster)}`
    if ('rejection' in part) {
      addWarning(res, `${where} is missing: ${part.rejection.message}`)
      return { cluster, status: toKubeStatus(part.rejection) }
    }
    passWarnings(part.headers, res)
    const total = part.total ?? merged.totals[lists.indexOf(part)] ?? 0
    totalItems += total
    return { cluster, ...totalOf(part, total) }
  })
  const { entries } = merged
  const isCut = entries.length === maxObjects && totalItems > maxObjects
  if (isCut)
    addWarning(res, `only the first ${maxObjects} of ${totalItems} objects are included; use filters`)
  await sendMerged(exchange, { lists, entries, totalItems, members: { clusters }, timeSlices })
}
