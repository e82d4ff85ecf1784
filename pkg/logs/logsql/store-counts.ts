import type { LogFilter } from '../filter/filter.ts'
import type { Interval } from '../histogram-interval.ts'
import { formatTime } from '../rfc3339.ts'
import type { LogStore, QueryLimits } from '../store.ts'
import { neededFields } from './pipes/needed-fields.ts'
import { countsLines } from './pipes/stats-state.ts'
import type { Filter, Pipe } from './query.ts'
import { isOfOrigin, type Row } from './row.ts'

/** Counts the lines that match a filter, as the rows of a `stats` pipe. */
export type StoreCount = (store: LogStore, limits: QueryLimits) => Promise<readonly Row[]>

const nsPerMs = 1_000_000
// A store limits the buckets of a histogram.
const maxBuckets = 9_000

/**
 * Returns how to compute a `stats` pipe from the counts that a store has, which is faster than
 * reading lines: the pipe only counts lines, at most grouped by time buckets, and the store finds
 * exactly the matching lines. Undefined for other queries.
 *
 * @param filter undefined if no line matches
 * @param test the remaining filter for rows
 */
export function planStoreCount(
  filter: LogFilter | undefined,
  test: Filter,
  pipe: Pipe | undefined,
): StoreCount | undefined {
  if (test.op !== 'all' || filter === undefined || pipe?.kind !== 'stats') return undefined
  const { by, entries } = pipe
  const isCount = entries.every(
    ({ function: what, condition }) =>
      what.name === 'count' && what.fields.includes('*') && condition === undefined,
  )
  if (!isCount) return undefined
  const counts = (count: number) => entries.map(({ result }) => [result, String(count)] as const)
  if (by.length === 0) {
    return async (store, limits) => {
      const page = { filter, order: 'desc', size: 0, start: { from: 0 }, withTotal: true } as const
      const { total = 0 } = await store.query(page, limits)
      return [new Map(counts(total))]
    }
  }
  const interval = by.length === 1 ? intervalOf(by[0], filter) : undefined
  if (interval === undefined) return undefined
  return async (store, limits) => {
    const { buckets } = await store.histogram(filter, interval, limits)
    return buckets
      .filter(({ count }) => count > 0)
      .map(
        ({ timeMs, count }) =>
          new Map([['_time', formatTime(BigInt(timeMs) * BigInt(nsPerMs))], ...counts(count)]),
      )
  }
}

/** Returns the interval of a histogram with the same buckets; undefined if there is none. */
function intervalOf(
  by: Extract<Pipe, { readonly kind: 'stats' }>['by'][number] | undefined,
  { startNs, endNs }: LogFilter,
): Interval | undefined {
  if (by?.field !== '_time' || by.bucket === undefined || startNs === undefined || endNs === undefined)
    return undefined
  const { size, offset, unit } = by.bucket
  const isFixed = unit === undefined && offset === 0 && size > 0 && size % nsPerMs === 0
  return isFixed && Number(endNs - startNs) / size < maxBuckets
    ? { kind: 'fixed', ms: size / nsPerMs }
    : undefined
}

/**
 * Returns the fields that a pipe and the filter before it need, if an origin and its number of lines
 * have all that they need; else undefined.
 */
export function originFields(test: Filter, pipe: Pipe | undefined): readonly string[] | undefined {
  const isCount =
    pipe?.kind === 'top' ||
    pipe?.kind === 'uniq' ||
    (pipe?.kind === 'stats' && pipe.entries.every(entry => countsLines(entry.function)))
  const needed = isCount ? neededFields(test, [pipe]) : undefined
  return needed?.every(isOfOrigin) ? needed : undefined
}
