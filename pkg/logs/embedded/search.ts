import { badRequest } from '../../status/status.ts'
import type { LogFilter } from '../filter.ts'
import { fillBuckets, type Interval } from '../interval.ts'
import type { Histogram, Hit, LogQuery, QueryResult, Statistics } from '../store.ts'
import { createRecall } from './answers.ts'
import { takeBits } from './bitmap.ts'
import { dayOf, type Stream, timeInDay, toTimeNs } from './lines.ts'
import { type Line, readRecords } from './records.ts'
import type { Segment } from './segment.ts'
import { type Selection, select } from './selection.ts'
import { bucketsOf, countSelected, streamsOf } from './tally.ts'

const maxBuckets = 10_000

/** Where a record stands among all others: its moment, and when it arrived. */
export type Position = { readonly day: number; readonly time: number; readonly sequence: number }

type Place = Position & Line

/** Work that yields now and then, so that it can be put aside or given up. */
export type Work<T> = Generator<void, T>

/** @param segments in any order; their days and times may overlap */
export function* searchPage(segments: readonly Segment[], query: LogQuery): Work<QueryResult> {
  const { filter, order, size, start, withTotal } = query
  const descending = order === 'desc'
  const after = 'after' in start ? parseCursor(start.after) : undefined
  const skipped = 'from' in start ? start.from : 0
  const wanted = skipped + size
  const compare = descending ? (a: Position, b: Position) => comparePositions(b, a) : comparePositions
  const counts = createRecall(
    filter,
    'count',
    (_, selection) => ({ lines: countSelected(selection) }),
    () => 0,
  )
  let places: Place[] = []
  let total = 0
  for (const segment of inOrder(segments, descending)) {
    const last = places[wanted - 1]
    const isBeyond = wanted === 0 || (last !== undefined && compare(last, firstOf(segment, descending)) < 0)
    if (isBeyond) {
      if (!withTotal) break
      total += (yield* counts.find(segment)).lines
      yield
      continue
    }
    if (counts.known(segment)?.lines === 0) continue
    const selection = yield* select(segment, filter)
    total += counts.learn(segment, selection).lines
    yield
    const range = after === undefined ? selection : beyond(segment, selection, after, descending)
    const found = takeSelected(range, wanted, descending).map(document => placeOf(segment, document))
    places = mergePlaces(places, found, compare).slice(0, wanted)
  }
  return { total: withTotal ? total : undefined, hits: yield* readHits(places.slice(skipped)) }
}

export function* searchStatistics(segments: readonly Segment[], filter: LogFilter): Work<Statistics> {
  const recall = createRecall(
    filter,
    'statistics',
    (segment, selection) => ({
      lines: countSelected(selection),
      streams: streamsOf(segment, selection),
    }),
    ({ streams }) => 8 * streams.length,
  )
  // Segments with the same streams have one list of them.
  const lists = new Set<readonly Stream[]>()
  let logs = 0
  for (const segment of segments) {
    const found = yield* recall.find(segment)
    logs += found.lines
    lists.add(found.streams)
    yield
  }
  const containers = new Set<string>()
  for (const streams of lists)
    for (const { dockerId } of streams) if (dockerId !== '') containers.add(dockerId)
  return { containers: containers.size, logs }
}

export function* searchHistogram(
  segments: readonly Segment[],
  filter: LogFilter,
  interval: Interval,
): Work<Histogram> {
  const recall = createRecall(
    filter,
    `histogram ${JSON.stringify(interval)}`,
    (segment, selection) => [...bucketsOf(segment, selection, interval)],
    buckets => 64 * buckets.length,
  )
  const counts = new Map<number, number>()
  let total = 0
  for (const segment of segments) {
    for (const { timeMs, count } of yield* recall.find(segment)) {
      counts.set(timeMs, (counts.get(timeMs) ?? 0) + count)
      total += count
      if (counts.size > maxBuckets) fillBuckets(interval, counts, maxBuckets)
    }
    yield
  }
  return { total, buckets: fillBuckets(interval, counts, maxBuckets) }
}

/** What arrived after a sequence and passes, in the order of arrival; at most `size`. */
export function* searchArrivals(
  segments: readonly Segment[],
  filter: LogFilter,
  wanted: { readonly after: number; readonly size: number },
): Work<readonly Hit[]> {
  const places: Place[] = []
  for (const segment of segments) {
    if (segment.footer.lastSequence <= wanted.after) continue
    const selection = yield* select(segment, filter)
    for (const document of takeSelected(selection, Number.POSITIVE_INFINITY, false)) {
      if (segment.sequenceOf(document) > wanted.after) places.push(placeOf(segment, document))
    }
    yield
  }
  places.sort((a, b) => a.sequence - b.sequence)
  return yield* readHits(places.slice(0, wanted.size))
}

function* readHits(places: readonly Place[]): Work<readonly Hit[]> {
  const records = yield* readRecords(places)
  return places.flatMap(place => {
    const record = records.get(place)
    return record === undefined ? [] : [{ record, cursor: toCursor(place) }]
  })
}

/** The sequence that a cursor of this store ends with. */
export function sequenceOf(cursor: string): number {
  return parseCursor(cursor).sequence
}

function toCursor({ day, time, sequence }: Position): string {
  return `${toTimeNs(day, time)}.${sequence}`
}

function parseCursor(cursor: string): Position {
  const found = /^([0-9]{1,19})\.([0-9]{1,15})$/.exec(cursor)
  if (found === null) throw badRequest('cursor: must be one that an earlier answer gave')
  const timeNs = BigInt(found[1] ?? '')
  return { day: dayOf(timeNs), time: timeInDay(timeNs), sequence: Number(found[2]) }
}

function comparePositions(a: Position, b: Position): number {
  return a.day - b.day || a.time - b.time || a.sequence - b.sequence
}

/** Those first that may hold what comes first. */
function inOrder(segments: readonly Segment[], descending: boolean): readonly Segment[] {
  return segments.toSorted((a, b) =>
    descending
      ? comparePositions(firstOf(b, true), firstOf(a, true))
      : comparePositions(firstOf(a, false), firstOf(b, false)),
  )
}

/** No document of the segment comes before this position, in the order asked for. */
function firstOf({ footer }: Segment, descending: boolean): Position {
  return descending
    ? { day: footer.day, time: footer.lastTime, sequence: Number.POSITIVE_INFINITY }
    : { day: footer.day, time: footer.firstTime, sequence: -1 }
}

/** The part of a selection that comes after a position, in the order asked for. */
function beyond(segment: Segment, selection: Selection, after: Position, descending: boolean): Selection {
  const { day, count } = segment.footer
  const { time, sequence } = after
  const { from, to, bits } = selection
  return descending
    ? { from, to: Math.min(to, boundary()), bits }
    : { from: Math.max(from, boundary()), to, bits }

  function boundary(): number {
    if (after.day !== day) return after.day > day ? count : 0
    return segment.lowerBound(time, descending ? sequence : sequence + 1)
  }
}

function placeOf(segment: Segment, document: number): Place {
  const [time, sequence] = [segment.timeOf(document), segment.sequenceOf(document)]
  return { segment, document, day: segment.footer.day, time, sequence }
}

function mergePlaces(
  a: readonly Place[],
  b: readonly Place[],
  compare: (a: Position, b: Position) => number,
): Place[] {
  return a.length === 0 ? [...b] : [...a, ...b].sort(compare)
}

function takeSelected(selection: Selection, limit: number, descending: boolean): readonly number[] {
  const { from, to, bits } = selection
  if (bits !== undefined) return takeBits(bits, selection, limit, descending)
  const length = Math.max(Math.min(limit, to - from), 0)
  return Array.from({ length }, (_, i) => (descending ? to - 1 - i : from + i))
}
