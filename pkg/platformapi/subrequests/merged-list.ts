import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, expired, methodNotAllowed, toStatus } from '../../apierrors/status.ts'
import { type ListQuery, parseListQuery } from '../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { requirementsOf } from '../../apirequest/selector/selector.ts'
import { isOver } from '../../httpserver/response/respond.ts'
import { passWarning } from '../../httpserver/response/warning.ts'
import { listPage } from '../../resourcecache/list/list.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import { changedSight, isCurrent } from '../../resourcecache/list/object-visibility.ts'
import { type Order, toOrder } from '../../resourcecache/list/order.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import { sendList } from '../../resourcecache/list/send-list.ts'
import type { Entry } from '../../resourcecache/store/cached-object.ts'
import { entriesOf, type Selection, selectPage, toChunks } from '../../resourcecache/store/chunk.ts'
import type { TimeSlices, UserTimeSlices } from '../../scheduling/time-slices.ts'
import { type CollectedPart, type CollectList, parseKinds, parseNamespace } from './subrequest.ts'

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
type Part = CollectedPart & { readonly resource: string }
type Refusal = { readonly resource: string; readonly status: object }

// Not supported: the caches of the kinds change independently of each other.
const refused = ['watch', 'resourceVersion', 'resourceVersionMatch']
const maxRounds = 4

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

    for (let round = 1; ; round++) {
      const parts: (Part | Refusal)[] = []
      // One list after another: a request with many kinds uses no more resources at a time than
      // one.
      for (const { kind, url } of urls) {
        if (isOver(res)) return
        parts.push(await collectKind(exchange, kind, url))
      }
      const lists = parts.filter(part => 'list' in part)
      const merged = await mergeLists(lists, listQuery, slices)
      if (isOver(res)) return
      if (!lists.every(({ list }) => isCurrent(list.visible))) {
        if (round === maxRounds) throw expired(changedSight)
        continue
      }
      return send(exchange, { parts, lists, merged, slices })
    }
  }

  async function collectKind(
    exchange: AuthenticatedExchange,
    resource: string,
    url: string,
  ): Promise<Part | Refusal> {
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
  query.refuseAmbiguous()
  const wrong = refused.find(name => (query.get(name) ?? '') !== '')
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

type Merged = { readonly entries: readonly Entry[]; readonly totals: readonly number[] }

/** Returns one page of all lists, merged by their sort order. */
async function mergeLists(lists: readonly Part[], query: ListQuery, timeSlices: TimeSlices): Promise<Merged> {
  const { limit, ascending } = query
  const offset = limit < 0 ? 0 : (query.page - 1) * limit
  const end = limit < 0 ? Number.POSITIVE_INFINITY : offset + limit
  const totals: number[] = []
  const heads: Head[] = []
  let order: Order | undefined
  for (const { list } of lists) {
    // Reads each list up to the end of the page: all objects of the page may be in one list.
    const first = { ...list.request.query, page: 1, limit: limit < 0 ? -1 : end }
    const { selection, total } = await listPage(list.store, { ...list.request, query: first }, timeSlices)
    order = toOrder(first.sortBy)
    totals.push(total)
    heads.push(toHead(selection))
  }
  const entries: Entry[] = []
  let since = performance.now()
  for (let at = 0; at < end && order !== undefined; at++) {
    const entry = takeFirst(heads, order, ascending)
    if (entry === undefined) break
    if (at >= offset) entries.push(entry)
    if (performance.now() - since < timeSlices.sliceMs) continue
    await timeSlices.next()
    since = performance.now()
  }
  return { entries, totals }
}

/** The next object of a list, and the iterator over those after it. */
type Head = { readonly rest: Iterator<Entry>; entry: Entry | undefined }

function toHead(selection: Selection): Head {
  const rest = entriesOf(selection)[Symbol.iterator]()
  return { rest, entry: rest.next().value ?? undefined }
}

/** Removes and returns the first object of all lists. Equal objects are in the order of `kinds`. */
function takeFirst(heads: readonly Head[], { compare }: Order, ascending: boolean): Entry | undefined {
  let first: Head | undefined
  for (const head of heads) {
    if (head.entry === undefined) continue
    const difference = first?.entry === undefined ? -1 : compare(head.entry, first.entry)
    if (ascending ? difference < 0 : difference > 0 || first === undefined) first = head
  }
  if (first === undefined) return undefined
  const { entry } = first
  first.entry = first.rest.next().value ?? undefined
  return entry
}

async function send(
  exchange: AuthenticatedExchange,
  {
    parts,
    lists,
    merged: { entries, totals },
    slices,
  }: {
    readonly parts: readonly (Part | Refusal)[]
    readonly lists: readonly Part[]
    readonly merged: Merged
    readonly slices: TimeSlices
  },
): Promise<void> {
  for (const { headers } of lists)
    for (const header of [headers.getHeader('warning') ?? []].flat())
      passWarning(exchange.res, String(header))
  const kinds = parts.map((part): KindTotal => {
    if (!('list' in part)) return part
    const narrowed = Number(part.headers.getHeader('kapis-narrowed-namespaces') ?? 0)
    const totalItems = totals[lists.indexOf(part)] ?? 0
    return { resource: part.resource, totalItems, ...(narrowed > 0 && { namespaces: narrowed }) }
  })
  const total = totals.reduce((sum, each) => sum + each, 0)
  const size = entries.length
  await sendList(
    exchange,
    // A new cache, since no other request can use this page.
    { pages: new PageCache(), timeSlices: slices },
    {
      selection: selectPage(toChunks(entries), { offset: 0, count: size, descending: false, size }),
      form: joinForms(lists),
      frame: { before: '{"items":[', after: `],"totalItems":${total},"kinds":${JSON.stringify(kinds)}}\n` },
      visible: { rights: { isCurrent: () => lists.every(({ list }) => isCurrent(list.visible)) } },
    },
  )
}

/** Returns a form that shows each object as in the list of its kind. */
function joinForms(lists: readonly Part[]): Form {
  const forms = new Map(lists.map(({ list }) => [list.store.served.kind, list.form]))
  return {
    name: 'merged',
    toParts: entry => forms.get(entry.served.kind)?.toParts(entry) ?? [],
    ...(lists.some(({ list }) => list.form.isComputed) && { isComputed: true }),
  }
}
