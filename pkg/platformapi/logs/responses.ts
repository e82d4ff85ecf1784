import type { LogFilter } from '../../logs/filter/filter.ts'
import type { Interval } from '../../logs/histogram-interval.ts'
import { tooMuchText } from '../../logs/query/page-parameters.ts'
import type { Hit, LogQuery, LogStore, QueryLimits } from '../../logs/store.ts'

/** A query for a store; without a filter the caller may see nothing. */
export type Asked = {
  readonly store: LogStore
  readonly filter: LogFilter | undefined
  readonly limits: QueryLimits
}

/**
 * A page of matching records with the total, as JSON.
 *
 * @param toJson converts a record to JSON
 */
export async function answerQuery(
  { store, filter, limits }: Asked,
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

/**
 * The same for a histogram.
 *
 * @param list name of the buckets in this API
 */
export async function answerHistogram(
  { store, filter, limits }: Asked,
  interval: Interval,
  list: 'histograms' | 'buckets',
): Promise<string> {
  if (filter === undefined) return JSON.stringify({ histogram: { total: 0, [list]: null } })
  const { total, buckets } = await store.histogram(filter, interval, limits)
  const bars = buckets.map(({ timeMs, count }) => ({ time: timeMs, count }))
  return JSON.stringify({ histogram: { total, [list]: bars.length > 0 ? bars : null } })
}
