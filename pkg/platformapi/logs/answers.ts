import type { LogFilter } from '../../logs/filter.ts'
import type { Interval } from '../../logs/interval.ts'
import { tooMuchText } from '../../logs/question/page.ts'
import type { Hit, LogQuery, LogStore, QueryLimits } from '../../logs/store.ts'

/** What is asked of which store; without a filter there is nothing that the caller may see. */
export type Asked = {
  readonly store: LogStore
  readonly filter: LogFilter | undefined
  readonly limits: QueryLimits
}

/**
 * A page of what passes, with how much that is in all, as JSON.
 *
 * @param toJson a hit as JSON
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

/** The same of a histogram. @param list what this API calls the bars */
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
