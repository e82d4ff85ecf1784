import { expired } from '../../apierrors/status.ts'
import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isOver } from '../../httpserver/response/respond.ts'
import { listPage } from '../../resourcecache/list/list.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import { isCurrent, mayStillSee, visibilityChanged } from '../../resourcecache/list/object-visibility.ts'
import { type Order, toOrder } from '../../resourcecache/list/order.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import { sendList } from '../../resourcecache/list/send-list.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import { entriesOf, type Selection, selectPage, toChunks } from '../../resourcecache/store/chunk.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { CollectedList } from './list-collector.ts'

export type MergePart = { readonly list: CollectedList }

/** The objects of a page, and the number of objects of each list. */
export type MergedList = { readonly entries: readonly CachedObject[]; readonly totals: readonly number[] }

/** Returns one page of all lists, merged by their sort order. */
async function mergeLists(
  lists: readonly MergePart[],
  query: ListQuery,
  timeSlices: TimeSlices,
): Promise<MergedList> {
  const { limit, ascending } = query
  const offset = limit < 0 ? 0 : (query.page - 1) * limit
  const end = limit < 0 ? Number.POSITIVE_INFINITY : offset + limit
  const totals: number[] = []
  const heads: MergeHead[] = []
  let order: Order | undefined
  for (const { list } of lists) {
    // Reads each list up to the end of the page: all objects of the page may be in one list.
    const first = { ...list.request.query, page: 1, limit: limit < 0 ? -1 : end }
    const { selection, total } = await listPage(list.store, { ...list.request, query: first }, timeSlices)
    order = toOrder(first.sortBy)
    totals.push(total)
    heads.push(toHead(selection))
  }
  const entries: CachedObject[] = []
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
type MergeHead = { readonly rest: Iterator<CachedObject>; entry: CachedObject | undefined }

function toHead(selection: Selection): MergeHead {
  const rest = entriesOf(selection)[Symbol.iterator]()
  return { rest, entry: rest.next().value ?? undefined }
}

/** Removes and returns the first object of all lists. Equal objects are in the order of the lists. */
function takeFirst(
  heads: readonly MergeHead[],
  { compare }: Order,
  ascending: boolean,
): CachedObject | undefined {
  let first: MergeHead | undefined
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

const maxRounds = 4

/**
 * Collects lists and merges them to a page. Repeats both if the permissions of the caller have
 * changed in the meantime.
 *
 * @param collect returns all parts of the page, and the lists among them
 * @returns undefined if the response has ended
 * @throws Status 410
 */
export async function mergeCurrent<Collected extends { readonly lists: readonly MergePart[] }>(
  { res }: AuthenticatedExchange,
  collect: () => Promise<Collected>,
  query: ListQuery,
  timeSlices: TimeSlices,
): Promise<(Collected & { readonly merged: MergedList }) | undefined> {
  for (let round = 1; ; round++) {
    const collected = await collect()
    if (isOver(res)) return undefined
    const merged = await mergeLists(collected.lists, query, timeSlices)
    if (isOver(res)) return undefined
    if (collected.lists.every(({ list }) => isCurrent(list.visible))) return { ...collected, merged }
    if (round === maxRounds) throw expired(visibilityChanged)
  }
}

/** Sends a page of merged lists, with more members of the body after `items` and `totalItems`. */
export async function sendMerged(
  exchange: AuthenticatedExchange,
  page: {
    readonly lists: readonly MergePart[]
    readonly entries: readonly CachedObject[]
    readonly totalItems: number
    readonly members: Readonly<Record<string, unknown>>
    readonly timeSlices: TimeSlices
  },
): Promise<void> {
  const { lists, entries, totalItems, members, timeSlices } = page
  const size = entries.length
  await sendList(
    exchange,
    // A new cache, since no other request can use this page.
    { pages: new PageCache(), timeSlices },
    {
      selection: selectPage(toChunks(entries), { offset: 0, count: size, descending: false, size }),
      form: joinForms(lists),
      frame: { before: '{"items":[', after: `],${JSON.stringify({ totalItems, ...members }).slice(1)}\n` },
      visible: { permissions: { mayStillSee: () => lists.every(({ list }) => mayStillSee(list.visible)) } },
    },
  )
}

/** Returns a form that formats each object with the form of the list that it comes from. */
function joinForms(lists: readonly MergePart[]): Form {
  const forms = new Map(lists.map(({ list }) => [list.store.served.kind, list.form]))
  return {
    name: 'merged',
    toParts: entry => forms.get(entry.served.kind)?.toParts(entry) ?? [],
    ...(lists.some(({ list }) => list.form.isComputed) && { isComputed: true }),
  }
}
