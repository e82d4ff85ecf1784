import { badRequest } from '../../apierrors/status.ts'
import { parseTimestamp } from '../ingest/line/timestamp.ts'
import { formatTime } from '../rfc3339.ts'
import type { Order } from '../store.ts'

/**
 * The position of a record: its time, its sequence number in its shard, and the number of records
 * with the same two values up to it, since shards count separately. The engine returns these in the
 * order of the shards.
 */
export type Place = { readonly time: string; readonly sequence: number; readonly nth: number }

// Indices with more shards are not expected.
const maxNth = 1024

export const sortFields = (order: Order) => [
  // Indices of others have milliseconds; compared in nanoseconds they sort together with ours.
  { time: { order, numeric_type: 'date_nanos', unmapped_type: 'date' } },
  // An index without lines has no mapping for any field.
  { _seq_no: { order, unmapped_type: 'long' } },
]

/**
 * The `search_after` value that starts with all records of a position; those up to the cursor are
 * skipped.
 */
export function searchAfter({ time, sequence }: Place, order: Order): readonly [string, number] {
  return [time, order === 'asc' ? sequence - 1 : sequence + 1]
}

/**
 * The position of a hit.
 *
 * @param sort the time in nanoseconds since 1970, and the sequence number in its shard
 * @param before the position of the previous hit, undefined for the first
 */
export function placeOf(sort: unknown, before: Place | undefined): Place {
  const [ns, number] = Array.isArray(sort) ? sort : []
  const [time, sequence] = [formatTime(BigInt(String(ns))), Number(number)]
  const isSame = before?.time === time && before.sequence === sequence
  return { time, sequence, nth: isSame ? before.nth + 1 : 1 }
}

export function toCursor({ time, sequence, nth }: Place): string {
  return Buffer.from(JSON.stringify([time, sequence, nth])).toString('base64url')
}

/** @throws Status 400 */
export function parseCursor(cursor: string): Place {
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

/** The format of `toCursor`, with a time in the range of the engine. */
function isOwnTime(time: string): boolean {
  const timeNs = parseTimestamp(time)
  return timeNs !== undefined && formatTime(timeNs) === time
}
