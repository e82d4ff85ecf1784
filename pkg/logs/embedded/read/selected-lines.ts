import { LRUCache } from 'lru-cache'
import { ownText } from '../../logsql/copy-text.ts'
import type { LogRecord } from '../../record.ts'
import type { Hit } from '../../store.ts'
import { listBits } from '../partition/bitmap.ts'
import type { Block, Columns } from '../partition/block.ts'
import { toTimeNs } from '../partition/day.ts'
import type { PartitionReader } from '../partition/partition-reader.ts'
import { lineFields, lineText, type OpenBlock, openBlock } from './line-check.ts'
import { formatCursor, type Ordering, type Position, sequenceOf } from './position.ts'
import type { Selection, Window, Work } from './selection.ts'

/** A matching line and where it is stored. */
export type Place = Position & {
  readonly partition: PartitionReader
  readonly block: Block
  /** Index in the block. */
  readonly index: number
  /** Total length of its text and its fields as JSON. */
  readonly chars: number
}

export type Wanted = {
  readonly ordering: Ordering
  readonly count: number
  /** Lines up to this position are skipped. */
  readonly after: Position | undefined
}

/** Returns the first `count` matching lines of a window. */
export function firstPlaces(
  partition: PartitionReader,
  window: Window,
  selection: Selection,
  { ordering, count, after }: Wanted,
): readonly Place[] {
  const { compare } = ordering
  const begin = (block: Block) => ordering.begin(partition.day, block)
  let places: readonly Place[] = []
  for (const block of window.blocks.toSorted((a, b) => compare(begin(a), begin(b)))) {
    const last = places[count - 1]
    if (last !== undefined && compare(last, begin(block)) < 0) break
    if (after !== undefined && compare(ordering.end(partition.day, block), after) <= 0) continue
    const found = placesIn(partition, window, block, selection)
    const later = after === undefined ? found : found.filter(place => compare(place, after) > 0)
    places = [...places, ...later].sort(compare).slice(0, count)
  }
  return places
}

/** Returns the selected lines of a window, from line number `from` on, in order of arrival. */
export function placesFrom(
  partition: PartitionReader,
  window: Window,
  selection: Selection,
  from: number,
): readonly Place[] {
  const places = window.blocks.flatMap(block => placesIn(partition, window, block, selection))
  return places.filter(({ block, index }) => block.first + index >= from)
}

function placesIn(
  partition: PartitionReader,
  window: Window,
  block: Block,
  selection: Selection,
): readonly Place[] {
  const offset = block.first - window.from
  const indexes =
    selection === 'all'
      ? Array.from({ length: block.count }, (_, i) => i)
      : listBits(selection, offset, offset + block.count).map(bit => bit - offset)
  if (indexes.length === 0) return []
  const { times, ends, fieldEnds } = partition.columns(block)
  return indexes.map(index => ({
    ...{ partition, block, index },
    day: partition.day,
    time: times[index] ?? 0,
    sequence: sequenceOf(partition, block.first + index),
    chars: lengthAt(ends, index) + (fieldEnds === undefined ? 0 : lengthAt(fieldEnds, index)),
  }))
}

function lengthAt(ends: Columns['ends'], index: number): number {
  return (ends[index] ?? 0) - (ends[index - 1] ?? 0)
}

/** Returns the first lines whose total length is within the limit, but at least one. */
export function firstWithin(places: readonly Place[], maxChars: number): readonly Place[] {
  let chars = 0
  const count = places.findIndex(place => {
    chars += place.chars
    return chars > maxChars
  })
  return count === -1 ? places : places.slice(0, Math.max(count, 1))
}

/** What is read of each line. Unread fields are missing, an unread text is empty. */
export type LineParts = {
  readonly text: boolean
  /** Names of the fields; undefined for all. */
  readonly fields: readonly string[] | undefined
}

export const wholeLines: LineParts = { text: true, fields: undefined }

/** Reads lines. Decompresses each block only once. */
export function* readHits(places: readonly Place[]): Work<readonly Hit[]> {
  const hits = new Map<Place, Hit>()
  for (const [partition, own] of Map.groupBy(places, place => place.partition)) {
    for (const [block, ofBlock] of Map.groupBy(own, place => place.block)) {
      const open = openBlock(partition, block, true)
      for (const place of ofBlock) {
        hits.set(place, { record: recordAt(open, place, wholeLines), cursor: formatCursor(place) })
      }
      yield
    }
  }
  return places.flatMap(place => hits.get(place) ?? [])
}

/** A line that is read only as far as it is needed. */
export type FoundLine = {
  readonly cursor: () => string
  readonly read: (parts: LineParts) => LogRecord
}

// Blocks whose texts are in memory. Consecutive lines are in few blocks.
const maxOpen = 16

/** Returns lines by their places, read on demand; texts of the last blocks are kept. */
export function toFoundLines(places: readonly Place[]): readonly FoundLine[] {
  const opened = new LRUCache<Block, OpenBlock>({ max: maxOpen })
  const open = ({ partition, block }: Place): OpenBlock => {
    const known = opened.get(block)
    if (known !== undefined) return known
    const made = openBlock(partition, block, true)
    opened.set(block, made)
    return made
  }
  return places.map(place => ({
    cursor: () => formatCursor(place),
    read: parts => recordAt(open(place), place, parts),
  }))
}

function recordAt(open: OpenBlock, place: Place, parts: LineParts): LogRecord {
  const { partition, day, time, index } = place
  const stream = partition.streams[open.columns.streams[index] ?? 0]
  if (stream === undefined) throw new RangeError(`partition ${partition.id} has a line of an unknown stream`)
  // Copied: a substring would keep its whole block in memory, and a page may use many.
  const log = parts.text ? ownText(lineText(open, index)) : ''
  const record = { timeNs: toTimeNs(day, time), log, ...stream }
  const fields = parts.fields?.length === 0 ? undefined : lineFields(open, index, parts.fields)
  return fields === undefined ? record : { ...record, fields }
}
