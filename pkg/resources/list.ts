import type { ListQuery } from '../request/list-query.ts'
import type { Collection } from './collection.ts'
import { type Selection, selectPage } from './leaf.ts'
import { toOrder } from './order.ts'
import { type Narrowing, toSelecting } from './selecting.ts'

/** What a list is asked for. */
export type ListRequest = {
  readonly query: ListQuery
  /** '' for the whole cluster. */
  readonly namespace: string
  readonly groupDomain: string
  readonly narrowing?: Narrowing
}

/** A page of a platform list, and how many objects the filters leave in all. */
export type Page = {
  readonly selection: Selection
  readonly total: number
  /** How many objects come after this page. */
  readonly remaining: number
}

/**
 * Answers a platform list. What the filters select is kept ready by the collection, so that a page of a repeated query
 * costs the page.
 *
 * @throws Status 400 for a filter or sort key that the kind does not have, naming those it has
 */
export function listPage(collection: Collection, request: ListRequest): Page | Promise<Page> {
  const { query } = request
  const order = toOrder(query.sortBy)
  const { key: selects, matches, readings } = toSelecting(collection.served.kind, request)
  const view = { key: `${order.key} ${selects}`, matches, order: order.compare }
  const toPage = () => pageOf(collection.view(view), query)
  const all = order.reading === undefined ? readings : [...readings, order.reading]
  if (all.length === 0 || collection.hasView(view.key)) return toPage()
  return Promise.all(all.map(reading => reading.prepare(collection.entries()))).then(toPage)
}

function pageOf(view: ReturnType<Collection['view']>, query: ListQuery): Page {
  const { size } = view
  const count = query.limit < 0 ? size : query.limit
  const offset = query.limit < 0 ? 0 : (query.page - 1) * query.limit
  if (offset >= size) return { selection: { runs: [], descending: false }, total: size, remaining: 0 }
  return {
    selection: selectPage(view.snapshot(), { offset, count, descending: !query.ascending, size }),
    total: size,
    remaining: Math.max(size - offset - count, 0),
  }
}
