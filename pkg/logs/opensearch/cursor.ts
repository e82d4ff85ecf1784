import { badRequest } from '../../apierrors/status.ts'
import { parseTimestamp } from '../ingest/line/timestamp.ts'
import { formatTime } from '../rfc3339.ts'
import type { Order } from '../store.ts'

/**
 * The position of a record: time, sequence number in its shard, and rank among records for which
 * both are equal. Shards count separately; equal records are in the order of the shards.
 */
export type RecordPosition = { readonly time: string; readonly sequence: number; readonly nth: number }

// Maximum rank: the number of shards of an index.
const maxNth = 1024

export const sortFields = (order: Order) => [
  // Other programs create indices with milliseconds. Compared in nanoseconds, they sort together
  // with those of Kapis.
  { time: { order, numeric_type: 'date_nanos', unmapped_type: 'date' } },
  // An index without lines lacks a mapping, which would be an error.
  { _seq_no: { order, unmapped_type: 'long' } },
]

/**
 * Returns the `search_after` value that begins with all records of this time and sequence. The
 * caller must skip those up to the cursor.
 */
export function searchAfter({ time, sequence }: RecordPosition, order: Order): readonly [string, number] {
  return [time, order === 'asc' ? sequence - 1 : sequence + 1]
}

/**
 * Returns the position of a hit.
 *
 * @param sort time in nanoseconds since 1970, and sequence number in its shard
 * @param before position of the previous hit; undefined for the first
 */
export function positionOf(sort: unknown, before: RecordPosition | undefined): RecordPosition {
  const [ns, number] = Array.isArray(sort) ? sort : []
  const [time, sequence] = [formatTime(BigInt(String(ns))), Number(number)]
  const isSame = before?.time === time && before.sequence === sequence
  return { time, sequence, nth: isSame ? before.nth + 1 : 1 }
}

export function toCursor({ time, sequence, nth }: RecordPosition): string {
  return Buffer.from(JSON.stringify([time, sequence, nth])).toString('base64url')
}

/** Parses a cursor. @throws Status 400 if it is invalid */
export function parseCursor(cursor: string): RecordPosition {
  try {
    const [time, sequence, nth] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const isPlace =
      typeof time === 'string' &&
      isOwnTime(time) &&
      Number.isSafeInteger(sequence) &&
      Number.isSafeInteger(nth) &&
      nth > 0 &&
      nth <= maxNth
    if (isPlace) return { time, sequence, nth }
  } catch {}
  throw badRequest('invalid cursor: use the cursor of a record from an earlier response')
}

/** Reports whether `toCursor` may have written a time, and the search engine supports it. */
function isOwnTime(time: string): boolean {
  const timeNs = parseTimestamp(time)
  return timeNs !== undefined && formatTime(timeNs) === time
}
