import { expired } from '../../apierrors/status.ts'
import type { ListQuery } from '../../apirequest/query/list-query.ts'
import { toCacheKey } from '../../cache/bounded-cache.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import {
  type Chunk,
  countEntries,
  entriesWithin,
  type Selection,
  selectPage,
  toChunks,
} from '../store/chunk.ts'
import type { ObjectStore } from '../store/store.ts'
import { buildViewInSlices, matchInSlices } from '../store/time-sliced-view.ts'
import { type ListRestriction, toListPredicate } from './list-predicate.ts'
import { toOrder } from './order.ts'

export type ListRequest = {
  readonly query: ListQuery
  /** '' for the whole cluster. */
  readonly namespace: string
  /** Name of the only object that may be returned; '' for any. */
  readonly name?: string
  readonly groupDomain: string
  readonly narrowing?: ListRestriction
}

/** A page of a platform list, with the total number of objects that match the filters. */
export type Page = {
  readonly selection: Selection
  readonly total: number
  /** Number of objects after this page. */
  readonly remaining: number
}

/**
 * Serves a platform list. The store maintains a materialized view of the query, so that a page of a
 * repeated query costs only the page.
 *
 * @throws Status 400 for an unknown filter or sort key, with the supported ones
 */
export function listPage(
  store: ObjectStore,
  request: ListRequest,
  timeSlices: TimeSlices,
): Page | Promise<Page> {
  const { query } = request
  const order = toOrder(query.sortBy)
  const { key: selects, ...selection } = toListPredicate(store.served.kind, request)
  const view = { key: toCacheKey(`${order.key} ${selects}`), ...selection, order: order.compare }
  const found = buildViewInSlices(store, view, timeSlices, order.rank)
  return found instanceof Promise ? found.then(made => pageOf(made, query)) : pageOf(found, query)
}

/**
 * Serves a list at an earlier version if it is still available. Without a view, it costs a scan of
 * all objects.
 *
 * @throws Status 400 as listPage, 410
 */
export async function listPageAt(
  store: ObjectStore,
  request: ListRequest,
  version: number,
  timeSlices: TimeSlices,
): Promise<Page> {
  await timeSlices.next()
  const past = store.at(version)
  if (past === undefined) throw expired(`The resourceVersion for the provided list is too old: ${version}`)
  const order = toOrder(request.query.sortBy)
  const { matches, namespaces } = toListPredicate(store.served.kind, request)
  const entries = [...entriesWithin(past, namespaces)]
  const known = await matchInSlices(entries, matches, timeSlices, order.rank)
  const chunks = toChunks(entries.filter(entry => known.get(entry)).sort(order.compare))
  return pageOf({ size: countEntries(chunks), chunks }, request.query)
}

type ChunkedList = { readonly size: number; readonly chunks: readonly Chunk[] }

function pageOf(view: ChunkedList, query: ListQuery): Page {
  const { size } = view
  const count = query.limit < 0 ? size : query.limit
  const offset = query.limit < 0 ? 0 : (query.page - 1) * query.limit
  if (offset >= size) return { selection: { runs: [], descending: false }, total: size, remaining: 0 }
  return {
    selection: selectPage(view.chunks, { offset, count, descending: !query.ascending, size }),
    total: size,
    remaining: Math.max(size - offset - count, 0),
  }
}
