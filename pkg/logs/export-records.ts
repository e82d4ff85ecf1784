import { badRequest } from '../apierrors/status.ts'
import type { LogFilter } from './filter/filter.ts'
import type { Hit, LogStore, Order, QueryLimits } from './store.ts'

const pageSize = 1000

/**
 * Yields records page by page, with at most one page in memory. The timeout applies to each page.
 *
 * @param limit maximum number of records; a longer export fails instead of ending early
 * @throws Status 400 before the first page if there are more records than the limit, or later if
 * the limit is exceeded by records that have arrived since
 */
export async function* exportHits(
  store: Pick<LogStore, 'query'>,
  what: {
    readonly filter: LogFilter
    readonly order: Order
    readonly limit: number
    /** Parameters that the error message recommends for selecting fewer records. */
    readonly narrowBy?: string
  },
  limits: QueryLimits,
): AsyncGenerator<readonly Hit[]> {
  const { filter, order, limit, narrowBy = 'start_time and end_time' } = what
  let start: { readonly from: number } | { readonly after: string } = { from: 0 }
  let count = 0
  for (;;) {
    // Counting costs as much as the export, so only limited exports count.
    const withTotal = count === 0 && limit !== Number.POSITIVE_INFINITY
    const {
      hits,
      total = 0,
      isCut,
    } = await store.query({ filter, order, size: pageSize, start, withTotal }, limits)
    count += hits.length
    if (Math.max(count, total) > limit) throw tooMany(Math.max(count, total), limit, narrowBy)
    if (hits.length > 0) yield hits
    const last = hits.at(-1)
    if (last === undefined || (hits.length < pageSize && !isCut)) return
    start = { after: last.cursor }
  }
}

function tooMany(count: number, limit: number, narrowBy: string): Error {
  return badRequest(
    `the export has ${count} lines or more, the limit is ${limit} (logs.exportLimit): restrict the query, for example with ${narrowBy}`,
  )
}
