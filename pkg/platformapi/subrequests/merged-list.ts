import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, methodNotAllowed, toStatus } from '../../apierrors/status.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { requirementsOf } from '../../apirequest/selector/selector.ts'
import { isOver } from '../../httpserver/response/respond.ts'
import type { TimeSlices, UserTimeSlices } from '../../scheduling/time-slices.ts'
import { type MergedList, mergeCurrent, sendMerged } from './merge.ts'
import {
  type CollectedPart,
  type CollectList,
  parseKinds,
  parseNamespace,
  passWarnings,
  totalOf,
} from './subrequest.ts'

export type MergedListOptions = {
  /** The base path of the platform lists, such as `/kapis/resources.kapis.io/v1alpha3`. */
  readonly root: string
  readonly collect: CollectList
  readonly timeSlices: UserTimeSlices
}

/** The plural under which the resources group serves lists of several kinds. */
export const mergedPlural = 'resources'

/** The number of objects of a kind, or the error of its list. */
type KindTotal = {
  readonly resource: string
  readonly totalItems?: number
  /** Number of counted namespaces, if the caller may not list the whole cluster. */
  readonly namespaces?: number
  readonly status?: object
}
type ResourcePart = CollectedPart & { readonly resource: string }
type FailedKind = { readonly resource: string; readonly status: object }

// Not supported: the caches of the kinds change independently of each other.
const unsupported = ['watch', 'resourceVersion', 'resourceVersionMatch', 'clusters']

/**
 * Serves `GET /kapis/resources.<group domain>/v1alpha3/resources?kinds=deployments,statefulsets`:
 * one sorted list over several kinds, with the parameters of lists, in one namespace with
 * `namespace=`. Each kind is authorized, narrowed and audited like a separate list. A kind whose
 * list fails is in `kinds` with its Status.
 *
 * @throws Status 400 that names the parameter, 405, 410
 */
export function createMergedList({ root, collect, timeSlices }: MergedListOptions): Handler {
  return async exchange => {
    const { res } = exchange
    const { kinds, scope, listQuery } = parseMergedList(exchange)
    const urls = kinds.map(kind => ({ kind, url: toUrl(root, exchange, scope, kind) }))
    const slices = timeSlices.of(exchange.identity.username)

    const collect = async () => {
      const parts: (ResourcePart | FailedKind)[] = []
      // One list after another: a request with many kinds uses no more resources than one.
      for (const { kind, url } of urls) if (!isOver(res)) parts.push(await collectKind(exchange, kind, url))
      return { parts, lists: parts.filter(part => 'list' in part) }
    }
    const page = await mergeCurrent(exchange, collect, listQuery, slices)
    if (page !== undefined) await send(exchange, { ...page, slices })
  }

  async function collectKind(
    exchange: AuthenticatedExchange,
    resource: string,
    url: string,
  ): Promise<ResourcePart | FailedKind> {
    try {
      return { resource, ...(await collect(exchange, url)) }
    } catch (error) {
      return { resource, status: toKubeStatus(toStatus(error)) }
    }
  }
}

/** @throws Status 400, 405 */
function parseMergedList({ req, query }: AuthenticatedExchange) {
  if (req.method !== 'GET') throw methodNotAllowed(['GET'])
  query.rejectAmbiguous()
  const wrong = unsupported.find(name => (query.get(name) ?? '') !== '')
  if (wrong !== undefined)
    throw badRequest(`${wrong} is not supported for a list of several kinds; use a list of one kind`)
  const scope = parseNamespace(query.get('namespace') ?? '')
  const text = query.get('kinds') ?? ''
  if (text === '') throw badRequest('kinds is required: plurals joined by commas, such as pods,services')
  const kinds = parseKinds(text)
  const listQuery = parseListQuery(query)
  for (const selector of [listQuery.labelSelector, listQuery.fieldSelector, listQuery.columns])
    requirementsOf<unknown>(selector)
  return { kinds, scope, listQuery }
}

function toUrl(root: string, { query }: AuthenticatedExchange, namespace: string, kind: string): string {
  const rest = new URLSearchParams()
  for (const [name, value] of query) if (name !== 'kinds' && name !== 'namespace') rest.append(name, value)
  return `${root}${namespace === '' ? '' : `/namespaces/${namespace}`}/${kind}?${rest}`
}

async function send(
  exchange: AuthenticatedExchange,
  {
    parts,
    lists,
    merged: { entries, totals },
    slices,
  }: {
    readonly parts: readonly (ResourcePart | FailedKind)[]
    readonly lists: readonly ResourcePart[]
    readonly merged: MergedList
    readonly slices: TimeSlices
  },
): Promise<void> {
  for (const { headers } of lists) passWarnings(headers, exchange.res)
  const kinds = parts.map((part): KindTotal => {
    if (!('list' in part)) return part
    return { resource: part.resource, ...totalOf(part, totals[lists.indexOf(part)] ?? 0) }
  })
  const totalItems = totals.reduce((sum, each) => sum + each, 0)
  await sendMerged(exchange, { lists, entries, totalItems, members: { kinds }, timeSlices: slices })
}
