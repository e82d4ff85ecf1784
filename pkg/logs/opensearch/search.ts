import { timedOut } from '../../apierrors/status.ts'
import { isRecord } from '../../kubeclient/object.ts'
import type { LogFilter } from '../filter.ts'
import { type Bucket, fillBuckets, type Interval } from '../interval.ts'
import type { LogRecord } from '../record.ts'
import type { Histogram, LogQuery, QueryLimits, QueryResult, Statistics } from '../store.ts'
import { type SearchClient, tooSlow } from './client.ts'
import { type Place, parseCursor, placeOf, searchAfter, sortFields, toCursor } from './cursor.ts'
import { toRecord } from './document.ts'
import { type Dsl, toDsl } from './dsl.ts'
import { indicesOf } from './indices.ts'

export type Search = { readonly client: SearchClient; readonly prefix: string }

const kept = ['time', '@timestamp', 'log', 'kubernetes', 'fields']
const maxBuckets = 10_000
// index.max_result_window
const maxWindow = 10_000
// Shards of a day's index; those of others that have more lose a cursor behind a page that was reached by from.
const maxAtPlace = 32
const dockerId = 'kubernetes.docker_id.keyword'
// Up to so many distinct values the engine counts them exactly, or nearly so.
const precision = 40_000
// The engine gives up by itself first; this is for one that no longer does anything.
const graceMs = 2_000

/** Records that stand at one place, in several shards, are distinguished by how many have come: some are asked for again. */
export async function queryRecords(
  search: Search,
  query: LogQuery,
  limits: QueryLimits,
): Promise<QueryResult> {
  const { filter, order, size, start, withTotal } = query
  const after = 'from' in start ? undefined : parseCursor(start.after)
  // In front of a page there may be some that are at the place of its first.
  const known = 'from' in start ? Math.min(start.from, maxAtPlace) : (after?.nth ?? 0)
  const first = Math.min(size, maxWindow - known)
  const place =
    'from' in start ? { from: start.from - known } : after && { search_after: searchAfter(after, order) }
  const answer = await send(search, filter, limits, {
    ...place,
    size: first + known,
    sort: sortFields(order),
    track_total_hits: withTotal,
    _source: kept,
  })
  const found = hitsOf(answer)
  const hits = found.slice(after === undefined ? known : countKnown(found, after))
  const last = hits[first - 1]
  // What was asked for again took room in the window.
  const left = { filter, order, size: size - first, withTotal: false }
  const rest =
    last && left.size > 0
      ? await queryRecords(search, { ...left, start: { after: toCursor(last.place) } }, limits)
      : undefined
  const withCursors = hits.map(({ record, place: at }) => ({ record, cursor: toCursor(at) }))
  return {
    total: withTotal ? totalOf(answer) : undefined,
    hits: rest ? [...withCursors, ...rest.hits] : withCursors,
  }
}

/** How many of those that were found come up to a place. */
function countKnown(found: readonly Found[], { time, sequence, nth }: Place): number {
  const beyond = found.findIndex(
    ({ place }) => place.time !== time || place.sequence !== sequence || place.nth > nth,
  )
  return beyond < 0 ? found.length : beyond
}

export async function countRecords(
  search: Search,
  filter: LogFilter,
  limits: QueryLimits,
): Promise<Statistics> {
  const answer = await send(search, filter, limits, {
    size: 0,
    track_total_hits: true,
    aggs: {
      known: {
        filter: { bool: { must_not: [{ term: { [dockerId]: '' } }] } },
        aggs: { containers: { cardinality: { field: dockerId, precision_threshold: precision } } },
      },
    },
  })
  return {
    containers: Number(member(answer, 'aggregations', 'known', 'containers', 'value') ?? 0),
    logs: totalOf(answer),
  }
}

/** @throws Status 400 when there would be too many buckets */
export async function countByTime(
  search: Search,
  filter: LogFilter,
  interval: Interval,
  limits: QueryLimits,
): Promise<Histogram> {
  const width =
    interval.kind === 'fixed'
      ? { fixed_interval: `${interval.ms}ms` }
      : { calendar_interval: interval.kind === 'week' ? 'week' : calendarOf(interval.months) }
  const answer = await send(search, filter, limits, {
    size: 0,
    track_total_hits: true,
    aggs: { times: { date_histogram: { field: 'time', min_doc_count: 1, ...width } } },
  })
  const found = member(answer, 'aggregations', 'times', 'buckets')
  const counts = (Array.isArray(found) ? found : []).filter(isRecord).map(toCount)
  return { total: totalOf(answer), buckets: fillBuckets(interval, new Map(counts), maxBuckets) }
}

function calendarOf(months: number): string {
  if (months === 12) return 'year'
  return months === 3 ? 'quarter' : 'month'
}

function toCount({ key, doc_count: count }: Readonly<Record<string, unknown>>): [Bucket['timeMs'], number] {
  return [Number(key), Number(count)]
}

/** One search over the days that the filter spans. @throws Status 400, 429, 503, 504 */
async function send(
  { client, prefix }: Search,
  filter: LogFilter,
  limits: QueryLimits,
  body: Dsl,
): Promise<unknown> {
  const toMs = (ns: bigint | undefined) => (ns === undefined ? undefined : Number(ns / 1_000_000n))
  const span = { startMs: toMs(filter.startNs), endMs: toMs(filter.endNs) }
  const answer = await client.call({
    method: 'POST',
    path: `/${indicesOf(prefix, span, Date.now())}/_search`,
    // A part of the answer would look like the whole of it.
    querystring: {
      ignore_unavailable: 'true',
      allow_no_indices: 'true',
      allow_partial_search_results: 'false',
    },
    body: { ...body, query: toDsl(filter), timeout: `${limits.timeoutMs}ms` },
    timeoutMs: limits.timeoutMs + graceMs,
    ...(limits.signal === undefined ? {} : { signal: limits.signal }),
  })
  if (isRecord(answer) && answer.timed_out === true) throw timedOut(tooSlow)
  return answer
}

function totalOf(answer: unknown): number {
  const total = member(answer, 'hits', 'total')
  return Number(isRecord(total) ? total.value : (total ?? 0))
}

type Found = { readonly record: LogRecord; readonly place: Place }

function hitsOf(answer: unknown): readonly Found[] {
  const hits = member(answer, 'hits', 'hits')
  const found: Found[] = []
  for (const { _source: source, sort } of (Array.isArray(hits) ? hits : []).filter(isRecord))
    found.push({ record: toRecord(source), place: placeOf(sort, found.at(-1)?.place) })
  return found
}

function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)
}
