import type { LRUCache } from 'lru-cache'
import type { LogFilter } from '../../filter/filter.ts'
import { fillBuckets, type Interval } from '../../histogram-interval.ts'
import {
  type Histogram,
  type LogQuery,
  maxPageChars,
  type OriginCount,
  type QueryResult,
  type Statistics,
} from '../../store.ts'
import type { PartitionReader } from '../partition/partition-reader.ts'
import { streamKey } from '../partition/stream.ts'
import { countByStream, countByTime, countLines } from './aggregate.ts'
import { overheadBytes } from './caches.ts'
import { createOrdering, parseCursor } from './position.ts'
import { type PartitionQuery, toPartitionQuery, toQuery } from './query.ts'
import {
  type FoundLine,
  firstLocations,
  firstWithin,
  type LineLocation,
  type LineQuery,
  readHits,
  toFoundLines,
} from './selected-lines.ts'
import { candidateWindows, isWithin, type Selection, select, type Window, type Work } from './selection.ts'

const maxBuckets = 10_000

/** A window that may have matches. */
type PartitionPart = {
  readonly partition: PartitionReader
  readonly query: PartitionQuery
  readonly window: Window
}

/** The lines of a page. `isCut` as in QueryResult. */
export type FoundPage = Pick<QueryResult, 'isCut'> & { readonly lines: readonly FoundLine[] }

/**
 * Creates a search that processes partitions in windows of lines. Committed lines never change, so
 * results of windows are cached.
 *
 * @param results the cache
 * @param windowLines number of lines in a window
 */
export function createSearch(results: LRUCache<string, object>, windowLines?: number) {
  return {
    *page(partitions: readonly PartitionReader[], query: LogQuery): Work<QueryResult> {
      const parts = partsOf(partitions, query.filter, windowLines)
      const { total, locations, isCut } = yield* searchPage(results, parts, query, maxPageChars)
      return { total, hits: yield* readHits(locations), isCut }
    },
    /** Finds the lines of a page. @param maxChars maximum length of the lines and their fields */
    *lines(partitions: readonly PartitionReader[], query: LogQuery, maxChars: number): Work<FoundPage> {
      const parts = partsOf(partitions, query.filter, windowLines)
      const { locations, isCut } = yield* searchPage(results, parts, query, maxChars)
      return { lines: toFoundLines(locations), isCut }
    },
    histogram: (partitions: readonly PartitionReader[], filter: LogFilter, interval: Interval) =>
      searchHistogram(results, partsOf(partitions, filter, windowLines), interval),
    origins: (partitions: readonly PartitionReader[], filter: LogFilter) =>
      searchOrigins(results, partsOf(partitions, filter, windowLines)),
    *statistics(partitions: readonly PartitionReader[], filter: LogFilter): Work<Statistics> {
      return toStatistics(yield* searchOrigins(results, partsOf(partitions, filter, windowLines)))
    },
  }
}

/** Returns the windows that may have matches, in order of their partitions. */
function* partsOf(
  partitions: readonly PartitionReader[],
  filter: LogFilter,
  windowLines: number | undefined,
): Work<readonly PartitionPart[]> {
  const query = toQuery(filter)
  const parts: PartitionPart[] = []
  for (const partition of partitions) {
    partition.refresh()
    const own = toPartitionQuery(query, partition)
    if (own === undefined) continue
    const windows = candidateWindows(partition, own, windowLines)
    parts.push(...windows.map(window => ({ partition, query: own, window })))
    yield
  }
  return parts
}

type Results = LRUCache<string, object>

function keyOf({ partition, query, window }: PartitionPart): string {
  // The result for a window within the time range does not depend on the range.
  const times = isWithin(query, window) ? '' : `${query.start}-${query.end}`
  return `${partition.serial} ${window.from}-${window.to} ${times} ${query.query.key}`
}

/** Returns a cached result, otherwise makes it. @param key also determines the type T */
function* cached<T extends object>(
  results: Results,
  key: string,
  make: () => Work<T>,
  sizeOf: (value: T) => number = () => 0,
): Work<T> {
  const known = results.get(key)
  if (known !== undefined) return known as T
  const value = yield* make()
  results.set(key, value, { size: sizeOf(value) + overheadBytes })
  return value
}

function* selectionOf(results: Results, part: PartitionPart): Work<Selection> {
  const { selection } = yield* cached(
    results,
    `selection ${keyOf(part)}`,
    function* () {
      return { selection: yield* select(part.partition, part.query, part.window) }
    },
    found => (found.selection === 'all' ? 0 : found.selection.byteLength),
  )
  return selection
}

function* countOf(results: Results, part: PartitionPart): Work<number> {
  const { partition, query, window } = part
  const { query: index, rest } = query.plan
  const { count } = yield* cached(results, `count ${keyOf(part)}`, function* () {
    const isIndexed = index !== undefined && rest === undefined && isWithin(query, window)
    if (isIndexed) return { count: partition.count(index, window) }
    return { count: countLines(window, yield* selectionOf(results, part)) }
  })
  return count
}

function* searchPage(
  results: Results,
  searched: Work<readonly PartitionPart[]>,
  { order, size, start, withTotal }: LogQuery,
  maxChars: number,
): Work<{
  readonly total: number | undefined
  readonly locations: readonly LineLocation[]
  readonly isCut: boolean
}> {
  const skipped = 'from' in start ? start.from : 0
  const pageQuery: LineQuery = {
    ordering: createOrdering(order),
    count: skipped + size,
    after: 'after' in start ? parseCursor(start.after) : undefined,
  }
  const { compare, begin } = pageQuery.ordering
  const beginOf = ({ partition, window }: PartitionPart) => begin(partition.day, window)
  const parts = yield* searched
  let locations: readonly LineLocation[] = []
  let total = 0
  for (const part of parts.toSorted((a, b) => compare(beginOf(a), beginOf(b)))) {
    if (withTotal) total += yield* countOf(results, part)
    const last = locations[pageQuery.count - 1]
    const isBeyond = pageQuery.count === 0 || (last !== undefined && compare(last, beginOf(part)) < 0)
    if (isBeyond && !withTotal) break
    if (!isBeyond) locations = yield* mergePlaces(results, locations, part, pageQuery)
    yield
  }
  const found = locations.slice(skipped)
  const read = firstWithin(found, maxChars)
  return { total: withTotal ? total : undefined, locations: read, isCut: read.length < found.length }
}

/** Merges the first matches so far with those of a window. */
function* mergePlaces(
  results: Results,
  locations: readonly LineLocation[],
  part: PartitionPart,
  pageQuery: LineQuery,
): Work<readonly LineLocation[]> {
  const { partition, window } = part
  const { ordering, count, after } = pageQuery
  if (after !== undefined && ordering.compare(ordering.end(partition.day, window), after) <= 0)
    return locations
  const found = firstLocations(partition, window, yield* selectionOf(results, part), pageQuery)
  return [...locations, ...found].sort(ordering.compare).slice(0, count)
}

function* searchHistogram(
  results: Results,
  searched: Work<readonly PartitionPart[]>,
  interval: Interval,
): Work<Histogram> {
  const counts = new Map<number, number>()
  let total = 0
  for (const part of yield* searched) {
    const buckets = yield* cached(
      results,
      `histogram ${JSON.stringify(interval)} ${keyOf(part)}`,
      function* () {
        return countByTime(part.partition, part.window, yield* selectionOf(results, part), interval)
      },
      ({ size }) => 50 * size,
    )
    for (const [bucket, count] of buckets) {
      counts.set(bucket, (counts.get(bucket) ?? 0) + count)
      total += count
    }
    yield
  }
  return { total, buckets: fillBuckets(interval, counts, maxBuckets) }
}

function* searchOrigins(
  results: Results,
  searched: Work<readonly PartitionPart[]>,
): Work<readonly OriginCount[]> {
  const found = new Map<string, OriginCount>()
  for (const part of yield* searched) {
    const { counts } = yield* cached(
      results,
      `origins ${keyOf(part)}`,
      function* () {
        return { counts: countByStream(part.partition, part.window, yield* selectionOf(results, part)) }
      },
      ({ counts }) => counts.byteLength,
    )
    for (const [i, origin] of part.partition.streams.entries()) {
      const lines = counts[i] ?? 0
      if (lines === 0) continue
      const key = streamKey(origin)
      found.set(key, { origin, lines: lines + (found.get(key)?.lines ?? 0) })
    }
    yield
  }
  return [...found.values()]
}

function toStatistics(counts: readonly OriginCount[]): Statistics {
  const containers = new Set(counts.map(({ origin }) => origin.dockerId).filter(id => id !== ''))
  return { containers: containers.size, logs: counts.reduce((sum, { lines }) => sum + lines, 0) }
}
