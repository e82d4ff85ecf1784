import type { LogFilter } from './filter.ts'
import type { Hit, LogStore, Order, QueryLimits } from './store.ts'

const pageSize = 1000

/**
 * Records page by page in the order asked for, up to `limit` of them; no more than a page is in memory. The time limit is
 * for each page.
 */
export async function* exportHits(
  store: LogStore,
  what: { readonly filter: LogFilter; readonly order: Order; readonly limit: number },
  limits: QueryLimits,
): AsyncGenerator<readonly Hit[]> {
  const { filter, order, limit } = what
  let start: { readonly from: number } | { readonly after: string } = { from: 0 }
  for (let left = limit; left > 0; ) {
    const size = Math.min(pageSize, left)
    const { hits } = await store.query({ filter, order, size, start, withTotal: false }, limits)
    if (hits.length > 0) yield hits
    const last = hits.at(-1)
    if (last === undefined || hits.length < size) return
    start = { after: last.cursor }
    left -= hits.length
  }
}
