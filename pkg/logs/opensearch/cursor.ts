import { badRequest } from '../../status/status.ts'
import { formatTime } from '../rfc3339.ts'

/**
 * The sort key of a record: its time, where it stands in the order in which its shard took it, and the pod, for the case that
 * two shards took two records of one moment at the same place.
 */
export type SortKey = readonly [time: string, sequence: number, pod: string | null]

export const sortFields = (order: 'asc' | 'desc') => [
  // Indices that others made have milliseconds; compared as nanoseconds they stand in one order with ours.
  { time: { order, numeric_type: 'date_nanos', unmapped_type: 'date' } },
  // An index without a line yet has no mapping, not even of its own fields.
  { _seq_no: { order, unmapped_type: 'long' } },
  { 'kubernetes.pod_name.keyword': { order, unmapped_type: 'keyword', missing: '_first' } },
]

/** @param sort what came with a hit: the time as nanoseconds since 1970 */
export function toCursor(sort: unknown): string {
  const [time, sequence, pod] = Array.isArray(sort) ? sort : []
  const key: SortKey = [
    formatTime(BigInt(String(time))),
    Number(sequence),
    typeof pod === 'string' ? pod : null,
  ]
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** @throws Status 400 */
export function parseCursor(cursor: string): SortKey {
  try {
    const [time, sequence, pod] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const isKey =
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(time) &&
      Number.isSafeInteger(sequence) &&
      (pod === null || typeof pod === 'string')
    if (isKey) return [time, sequence, pod]
  } catch {}
  throw badRequest('cursor is none that this server gave out')
}
