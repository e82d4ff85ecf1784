import { maxTimeNs } from '../../record.ts'
import { dayMs, dayOf, formatDay } from '../partition/day.ts'
import { type PartitionId, parsePartitionId } from '../partition/partition-id.ts'

export type Retention = {
  /** Number of days (UTC) to keep, including today. */
  readonly days: number
  /** Maximum total size of the partitions. */
  readonly bytes: number
}

/** Returns the first day (UTC, in days since 1970) whose lines are kept. */
export function firstKeptDay({ days }: Pick<Retention, 'days'>, nowMs: number): number {
  return Math.floor(nowMs / dayMs) - days + 1
}

/** Returns why a line with this time is not stored; undefined if it is stored. */
export function timeRejection(timeNs: bigint, firstDay: number): string | undefined {
  if (timeNs < 0n || timeNs > maxTimeNs) return 'the time is not between the years 1970 and 2262'
  if (dayOf(timeNs) >= firstDay) return undefined
  return `the time is before ${formatDay(firstDay)}; older lines are not stored`
}

/**
 * Returns the partitions to delete: expired days, then the oldest until the remaining ones fit.
 *
 * @param partitions sorted by day and part
 */
export function findExpired(
  partitions: readonly { readonly id: PartitionId; readonly bytes: number }[],
  retention: Retention,
  nowMs: number,
): readonly PartitionId[] {
  const firstDay = firstKeptDay(retention, nowMs)
  let bytes = partitions.reduce((sum, partition) => sum + partition.bytes, 0)
  const expired: PartitionId[] = []
  for (const partition of partitions) {
    if (parsePartitionId(partition.id).day >= firstDay && bytes <= retention.bytes) break
    expired.push(partition.id)
    bytes -= partition.bytes
  }
  return expired
}
