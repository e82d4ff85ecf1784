import { maxTimeNs } from '../../record.ts'
import { dayMs, dayOf, formatDay } from '../partition/day.ts'
import { type PartitionId, parsePartitionId } from '../partition/partition-id.ts'

export type Retention = {
  /** Days (UTC) that are kept, today included. */
  readonly days: number
  /** What all partitions together may take on the disk. */
  readonly bytes: number
}

/** The oldest day that is kept. */
export function firstKeptDay({ days }: Retention, nowMs: number): number {
  return Math.floor(nowMs / dayMs) - days + 1
}

/** Why a line of this time is not stored; undefined when it is. */
export function rejectionOf(timeNs: bigint, firstDay: number): string | undefined {
  if (timeNs < 0n || timeNs > maxTimeNs) return 'the time is not between the years 1970 and 2262'
  if (dayOf(timeNs) >= firstDay) return undefined
  return `the time is before ${formatDay(firstDay)}, and older lines are not kept`
}

/**
 * The partitions that must go: those of days that are too old, then the oldest until the rest fits.
 *
 * @param partitions in the order of day and part
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
