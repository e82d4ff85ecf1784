import { badRequest } from '../../apierrors/status.ts'
import { parseTimestamp } from '../ingest/timestamp.ts'
import { formatTime } from '../rfc3339.ts'
import type { Order } from '../store.ts'

/**
 * Where a record stands: its time, where it stands in the order in which its shard took it, and how many of those that have both
 * in common come up to it, itself included. Each shard counts for itself, so there may be one in each; the engine gives
 * those in the order of the shards, always the same.
 */
export type Place = { readonly time: string; readonly sequence: number; readonly nth: number }

// An index of more shards is not known to exist.
const maxNth = 1024

export const sortFields = (order: Order) => [
  // Indices that others made have milliseconds; compared as nanoseconds they stand in one order with ours.
  { time: { order, numeric_type: 'date_nanos', unmapped_type: 'date' } },
  // An index without a line yet has no mapping, not even of its own fields.
  { _seq_no: { order, unmapped_type: 'long' } },
]

/** What `search_after` is, to begin with all that are at a place: the first of them that go on after it are known already. */
export function searchAfter({ time, sequence }: Place, order: Order): readonly [string, number] {
  return [time, order === 'asc' ? sequence - 1 : sequence + 1]
}

/**
 * The place of a hit.
 *
 * @param sort what came with it: the time as nanoseconds since 1970, and the place in its shard
 * @param before the place of the hit before it, undefined for the first
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

/** As `toCursor` writes it, and no other moment than the engine can have. */
function isOwnTime(time: string): boolean {
  const timeNs = parseTimestamp(time)
  return timeNs !== undefined && formatTime(timeNs) === time
}
