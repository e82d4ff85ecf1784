import { LRUCache } from 'lru-cache'
import { copyText } from '../../logsql/copy-text.ts'
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
export type LineLocation = Position & {
  readonly partition: PartitionReader
  readonly block: Block
  /** Index in the block. */
  readonly index: number
  /** Total length of its text and its fields as JSON. */
  readonly chars: number
}

export type LineQuery = {
  readonly ordering: Ordering
  readonly count: number
  /** Lines up to this position are skipped. */
  readonly after: Position | undefined
}

/** Returns the first `count` matching lines of a window. */
export function firstLocations(
  partition: PartitionReader,
  window: Window,
  selection: Selection,
  { ordering, count, after }: LineQuery,
): readonly LineLocation[] {
  const { compare } = ordering
  const begin = (block: Block) => ordering.begin(partition.day, block)
  let locations: readonly LineLocation[] = []
  for (const block of window.blocks.toSorted((a, b) => compare(begin(a), begin(b)))) {
    const last = locations[count - 1]
    if (last !== undefined && compare(last, begin(block)) < 0) break
    if (after !== undefined && compare(ordering.end(partition.day, block), after) <= 0) continue
    const found = locationsIn(partition, window, block, selection)
    const later = after === undefined ? found : found.filter(location => compare(location, after) > 0)
    locations = [...locations, ...later].sort(compare).slice(0, count)
  }
  return locations
}

/** Returns the selected lines of a window, from line number `from` on, in order of arrival. */
export function locationsFrom(
  partition: PartitionReader,
  window: Window,
  selection: Selection,
  from: number,
): readonly LineLocation[] {
  const locations = window.blocks.flatMap(block => locationsIn(partition, window, block, selection))
  return locations.filter(({ block, index }) => block.first + index >= from)
}

function locationsIn(
  partition: PartitionReader,
  window: Window,
  block: Block,
  selection: Selection,
): readonly LineLocation[] {
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
export function firstWithin(locations: readonly LineLocation[], maxChars: number): readonly LineLocation[] {
  let chars = 0
  const count = locations.findIndex(location => {
    chars += location.chars
    return chars > maxChars
  })
  return count === -1 ? locations : locations.slice(0, Math.max(count, 1))
}

/** The parts of each line to read. Unread fields are missing, an unread text is empty. */
export type LineParts = {
  readonly text: boolean
  /** Names of the fields; undefined for all. */
  readonly fields: readonly string[] | undefined
}

export const wholeLines: LineParts = { text: true, fields: undefined }

/** Reads lines. Decompresses each block only once. */
export function* readHits(locations: readonly LineLocation[]): Work<readonly Hit[]> {
  const hits = new Map<LineLocation, Hit>()
  for (const [partition, own] of Map.groupBy(locations, location => location.partition)) {
    for (const [block, ofBlock] of Map.groupBy(own, location => location.block)) {
      const open = openBlock(partition, block, true)
      for (const location of ofBlock) {
        hits.set(location, { record: recordAt(open, location, wholeLines), cursor: formatCursor(location) })
      }
      yield
    }
  }
  return locations.flatMap(location => hits.get(location) ?? [])
}

/** A line that is read only as far as it is needed. */
export type FoundLine = {
  readonly cursor: () => string
  readonly read: (parts: LineParts) => LogRecord
}

// Blocks whose texts are in memory. Consecutive lines are in few blocks.
const maxOpen = 16

/** Returns lines by their places, read on demand; texts of the last blocks are kept. */
export function toFoundLines(locations: readonly LineLocation[]): readonly FoundLine[] {
  const opened = new LRUCache<Block, OpenBlock>({ max: maxOpen })
  const open = ({ partition, block }: LineLocation): OpenBlock => {
    const known = opened.get(block)
    if (known !== undefined) return known
    const made = openBlock(partition, block, true)
    opened.set(block, made)
    return made
  }
  return locations.map(location => ({
    cursor: () => formatCursor(location),
    read: parts => recordAt(open(location), location, parts),
  }))
}

function recordAt(open: OpenBlock, location: LineLocation, parts: LineParts): LogRecord {
  const { partition, day, time, index } = location
  const stream = partition.streams[open.columns.streams[index] ?? 0]
  if (stream === undefined) throw new RangeError(`partition ${partition.id} has a line of an unknown stream`)
  // Copied: a substring would keep its whole block in memory, and a page may use many.
  const log = parts.text ? copyText(lineText(open, index)) : ''
  const record = { timeNs: toTimeNs(day, time), log, ...stream }
  const fields = parts.fields?.length === 0 ? undefined : lineFields(open, index, parts.fields)
  return fields === undefined ? record : { ...record, fields }
}
