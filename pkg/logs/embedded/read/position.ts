import { badRequest } from '../../../apierrors/status.ts'
import type { Order } from '../../store.ts'
import type { Block } from '../partition/block.ts'
import { dayOf, timeInDay, toTimeNs } from '../partition/day.ts'
import type { PartitionReader } from '../partition/partition-reader.ts'
import { maxLines } from '../partition/partition-writer.ts'

/** The position of a line in a store: by time, then by order of arrival. */
export type Position = { readonly day: number; readonly time: number; readonly sequence: number }

type Times = Pick<Block, 'firstTime' | 'lastTime'>

export type Ordering = {
  /** Negative if `a` is first. */
  readonly compare: (a: Position, b: Position) => number
  /** Position before all lines of a time range; `end` is the position after them. */
  readonly begin: (day: number, times: Times) => Position
  readonly end: (day: number, times: Times) => Position
}

/** Creates the comparison of positions for an order, and the ends of a time range. */
export function createOrdering(order: Order): Ordering {
  const low = (day: number, { firstTime }: Times) => ({ day, time: firstTime, sequence: -1 })
  const high = (day: number, { lastTime }: Times) => ({
    ...{ day, time: lastTime },
    sequence: Number.POSITIVE_INFINITY,
  })
  return order === 'asc'
    ? { compare: comparePositions, begin: low, end: high }
    : { compare: (a, b) => comparePositions(b, a), begin: high, end: low }
}

/** Returns the number of a line among all lines of its day. */
export function sequenceOf({ part }: PartitionReader, line: number): number {
  return part * maxLines + line
}

/** Formats a cursor: nanoseconds since 1970, a dot, the number of the line in its day. */
export function formatCursor({ day, time, sequence }: Position): string {
  return `${toTimeNs(day, time)}.${sequence}`
}

/** Parses a cursor. @throws Status 400 if it is invalid */
export function parseCursor(cursor: string): Position {
  const found = /^([0-9]{1,19})\.([0-9]{1,15})$/.exec(cursor)
  if (found === null) throw badRequest('invalid cursor: use the cursor of a record from an earlier response')
  const timeNs = BigInt(found[1] ?? '')
  return { day: dayOf(timeNs), time: timeInDay(timeNs), sequence: Number(found[2]) }
}

function comparePositions(a: Position, b: Position): number {
  return a.day - b.day || a.time - b.time || a.sequence - b.sequence
}
