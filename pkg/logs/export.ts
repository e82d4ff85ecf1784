import { badRequest } from '../apierrors/status.ts'
import type { LogFilter } from './filter.ts'
import type { Hit, LogStore, Order, QueryLimits } from './store.ts'

const pageSize = 1000

/**
 * Records page by page in the order asked for; no more than a page is in memory. The time limit is
 * for each page.
 *
 * @param limit records at most; an export never ends before the last one without an error
 * @throws Status 400 before the first page when there are more than the limit, and at the limit
 * when they arrived since
 */
export async function* exportHits(
  store: LogStore,
  what: { readonly filter: LogFilter; readonly order: Order; readonly limit: number },
  limits: QueryLimits,
): AsyncGenerator<readonly Hit[]> {
  const { filter, order, limit } = what
  let start: { readonly from: number } | { readonly after: string } = { from: 0 }
  let count = 0
  for (;;) {
    // Counting costs as much as the export itself: only where there is a limit.
    const withTotal = count === 0 && limit !== Number.POSITIVE_INFINITY
    const {
      hits,
      total = 0,
      isCut,
    } = await store.query({ filter, order, size: pageSize, start, withTotal }, limits)
    count += hits.length
    if (Math.max(count, total) > limit) throw tooMany(Math.max(count, total), limit)
    if (hits.length > 0) yield hits
    const last = hits.at(-1)
    if (last === undefined || (hits.length < pageSize && !isCut)) return
    start = { after: last.cursor }
  }
}

function tooMany(count: number, limit: number): Error {
  return badRequest(
    `the export has ${count} lines or more, the limit is ${limit} (logs.exportLimit): ask for less, by start_time and end_time for example`,
  )
}
