import type { LogFilter } from '../../logs/filter/filter.ts'
import type { Interval } from '../../logs/histogram-interval.ts'
import { matchAll } from '../../logs/logsql/query.ts'
import { runQuery } from '../../logs/logsql/run-query.ts'
import { tooMuchText } from '../../logs/query/page-parameters.ts'
import type { Hit, LogQuery, LogStore, QueryLimits } from '../../logs/store.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'

/** A query for a store. The filter is undefined if the caller has access to no lines. */
export type ScopedQuery = {
  readonly store: LogStore
  readonly filter: LogFilter | undefined
  readonly limits: QueryLimits
}

/** Returns a page of records with their total, as JSON. @param toJson of a record */
export async function queryPage(
  { store, filter, limits }: ScopedQuery,
  page: Pick<LogQuery, 'order' | 'size' | 'start'> & { readonly withCursor: boolean },
  toJson: (hit: Hit, withCursor: boolean) => string,
): Promise<string> {
  if (filter === undefined) return '{"query":{"total":0}}'
  const { order, size, start, withCursor } = page
  const { total, hits, isCut } = await store.query({ filter, order, size, start, withTotal: true }, limits)
  if (isCut) throw tooMuchText('size', hits.length)
  const records = hits.map(hit => toJson(hit, withCursor))
  return `{"query":{"total":${total}${records.length > 0 ? `,"records":[${records.join(',')}]` : ''}}}`
}

/** Returns a histogram of the records as JSON. @param list name of the field with the buckets */
export async function queryHistogram(
  { store, filter, limits }: ScopedQuery,
  interval: Interval,
  list: 'histograms' | 'buckets',
): Promise<string> {
  if (filter === undefined) return JSON.stringify({ histogram: { total: 0, [list]: null } })
  const { total, buckets } = await store.histogram(filter, interval, limits)
  const bars = buckets.map(({ timeMs, count }) => ({ time: timeMs, count }))
  return JSON.stringify({ histogram: { total, [list]: bars.length > 0 ? bars : null } })
}

// Limit for the results. The `patterns` pipe limits its own memory.
const maxPatternBytes = 32 * 1024 * 1024

/** Returns the most frequent patterns of matching lines with their counts, as JSON. */
export async function queryPatterns(
  { filter, ...run }: ScopedQuery & { readonly timeSlices: TimeSlices },
  size: number,
): Promise<string> {
  const patterns: { readonly pattern: string; readonly count: number }[] = []
  if (filter !== undefined) {
    const query = { filter: matchAll, pipes: [{ kind: 'patterns', from: '_msg', limit: size }] } as const
    for await (const rows of runQuery({ ...run, filter, maxBytes: maxPatternBytes }, query)) {
      for (const row of rows)
        patterns.push({ pattern: row.get('pattern') ?? '', count: Number(row.get('hits')) })
    }
  }
  return JSON.stringify({ patterns })
}
