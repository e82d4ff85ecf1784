import { timedOut, unavailable } from '../../apierrors/status.ts'
import { BodyTooLargeError } from '../../http/read-body.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import type { LogFilter } from '../filter/filter.ts'
import { type Bucket, fillBuckets, type Interval } from '../histogram-interval.ts'
import { charsOf, type LogRecord } from '../record.ts'
import {
  type Histogram,
  type Hit,
  type LogQuery,
  maxPageChars,
  type QueryLimits,
  type QueryResult,
  type Statistics,
} from '../store.ts'
import { type SearchClient, tooSlow } from './client.ts'
import { parseCursor, positionOf, type RecordPosition, searchAfter, sortFields, toCursor } from './cursor.ts'
import { toRecord } from './document.ts'
import { type Dsl, toDsl } from './dsl.ts'
import { indicesOf } from './indices.ts'

export type Search = { readonly client: SearchClient; readonly prefix: string }

const kept = ['time', '@timestamp', 'log', 'kubernetes', 'fields']
const maxBuckets = 10_000
// The default of index.max_result_window: the maximum of from + size.
const maxWindow = 10_000
// Larger than a page of maximum size, including labels and pod names.
const maxResponseBytes = 2 * maxPageChars
// Maximum number of shards of an index. With more, the first cursor of a page requested by `from`
// may be inexact.
const maxAtPlace = 32
const dockerId = 'kubernetes.docker_id.keyword'
// Up to this number of distinct values, counts of the search engine are (nearly) exact.
const precision = 40_000
// Added to the timeout that the search engine applies itself, in case it hangs.
const graceMs = 2_000

/** Searches until the page is full, its size limit is reached, or no more records match. */
export async function queryRecords(
  search: Search,
  query: LogQuery,
  limits: QueryLimits,
): Promise<QueryResult> {
  const found: FoundRecord[] = []
  let { size: most } = query
  let { start } = query
  let total: number | undefined
  let chars = 0
  for (;;) {
    const withTotal = query.withTotal && total === undefined
    const size = Math.min(query.size - found.length, most)
    const part = await queryPart(search, { ...query, size, start, withTotal }, limits)
    total ??= part.total
    most = part.most
    for (const hit of part.hits) {
      chars += charsOf(hit.record)
      if (chars > maxPageChars && found.length > 0) return { total, hits: found.map(toHit), isCut: true }
      found.push(hit)
    }
    const last = part.hits.at(-1)
    if (!part.isFull || last === undefined || found.length >= query.size) break
    start = { after: toCursor(last.position) }
  }
  return { total, hits: found.map(toHit), isCut: false }
}

function toHit({ record, position }: FoundRecord): Hit {
  return { record, cursor: toCursor(position) }
}

type SearchPart = {
  readonly total: number | undefined
  readonly hits: readonly FoundRecord[]
  /** Whether there may be further records. */
  readonly isFull: boolean
  /** Maximum size of a single search. */
  readonly most: number
}

/**
 * Runs one search, for fewer records if responses become too large. Repeats some records, because
 * those at the same position in several shards are distinguished by their rank.
 */
async function queryPart(search: Search, query: LogQuery, limits: QueryLimits): Promise<SearchPart> {
  const { filter, order, size, start, withTotal } = query
  const after = 'from' in start ? undefined : parseCursor(start.after)
  // Records before the page may have the same position as its first record.
  const known = 'from' in start ? Math.min(start.from, maxAtPlace) : (after?.nth ?? 0)
  // Repeated records count towards the window.
  const first = Math.min(size, maxWindow - known)
  const position =
    'from' in start ? { from: start.from - known } : after && { search_after: searchAfter(after, order) }
  const body = {
    ...position,
    size: first + known,
    sort: sortFields(order),
    track_total_hits: withTotal,
    _source: kept,
  }
  try {
    const response = await send(search, filter, limits, body)
    const all = hitsOf(response)
    const hits = all.slice(after === undefined ? known : countKnown(all, after))
    return {
      total: withTotal ? totalOf(response) : undefined,
      hits: hits.slice(0, first),
      isFull: hits.length >= first,
      most: first,
    }
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error
    if (first <= 1)
      throw unavailable('failed to read a log record: it exceeds the size limit of responses', error)
    return queryPart(search, { ...query, size: Math.ceil(first / 10) }, limits)
  }
}

/** Returns the number of found records at or before a position. */
function countKnown(found: readonly FoundRecord[], { time, sequence, nth }: RecordPosition): number {
  const beyond = found.findIndex(
    ({ position }) => position.time !== time || position.sequence !== sequence || position.nth > nth,
  )
  return beyond < 0 ? found.length : beyond
}

export async function countRecords(
  search: Search,
  filter: LogFilter,
  limits: QueryLimits,
): Promise<Statistics> {
  const response = await send(search, filter, limits, {
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
    containers: Number(member(response, 'aggregations', 'known', 'containers', 'value') ?? 0),
    logs: totalOf(response),
  }
}

/** Counts records per bucket. @throws Status 400 if there are too many buckets */
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
  const response = await send(search, filter, limits, {
    size: 0,
    track_total_hits: true,
    aggs: { times: { date_histogram: { field: 'time', min_doc_count: 1, ...width } } },
  })
  const found = member(response, 'aggregations', 'times', 'buckets')
  const counts = (Array.isArray(found) ? found : []).filter(isRecord).map(toCount)
  return { total: totalOf(response), buckets: fillBuckets(interval, new Map(counts), maxBuckets) }
}

function calendarOf(months: number): string {
  if (months === 12) return 'year'
  return months === 3 ? 'quarter' : 'month'
}

function toCount({ key, doc_count: count }: Readonly<Record<string, unknown>>): [Bucket['timeMs'], number] {
  return [Number(key), Number(count)]
}

/** Searches the indices of days in the time range. @throws Status 400, 429, 503, 504 */
async function send(
  { client, prefix }: Search,
  filter: LogFilter,
  limits: QueryLimits,
  body: Dsl,
): Promise<unknown> {
  const toMs = (ns: bigint | undefined) => (ns === undefined ? undefined : Number(ns / 1_000_000n))
  const span = { startMs: toMs(filter.startNs), endMs: toMs(filter.endNs) }
  const response = await client.call({
    method: 'POST',
    path: `/${indicesOf(prefix, span, Date.now())}/_search`,
    // Partial results are disabled: they would look complete.
    querystring: {
      ignore_unavailable: 'true',
      allow_no_indices: 'true',
      allow_partial_search_results: 'false',
    },
    body: { ...body, query: toDsl(filter), timeout: `${limits.timeoutMs}ms` },
    timeoutMs: limits.timeoutMs + graceMs,
    maxBytes: maxResponseBytes,
    ...(limits.signal === undefined ? {} : { signal: limits.signal }),
  })
  if (isRecord(response) && response.timed_out === true) throw timedOut(tooSlow)
  return response
}

function totalOf(response: unknown): number {
  const total = member(response, 'hits', 'total')
  return Number(isRecord(total) ? total.value : (total ?? 0))
}

type FoundRecord = { readonly record: LogRecord; readonly position: RecordPosition }

function hitsOf(response: unknown): readonly FoundRecord[] {
  const hits = member(response, 'hits', 'hits')
  const found: FoundRecord[] = []
  for (const { _source: source, sort } of (Array.isArray(hits) ? hits : []).filter(isRecord))
    found.push({ record: toRecord(source), position: positionOf(sort, found.at(-1)?.position) })
  return found
}

function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)
}
