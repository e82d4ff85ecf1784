import { maxTimeNs } from '../../record.ts'
import type { IngestLimits } from '../limits.ts'
import type { LineNotes } from './line-notes.ts'

const dayMs = 86_400_000
const nsPerMs = 1_000_000

/** Whether a line can have this time: after 1970, and not further ahead of now than the limit. */
export function isLineTime(timeNs: bigint | undefined, { aheadDays }: IngestLimits): timeNs is bigint {
  if (timeNs === undefined || timeNs < 0n || timeNs > maxTimeNs) return false
  // Compared as a number, because this runs for each line; its precision of 0.25 µs suffices.
  return Number(timeNs) <= (Date.now() + aheadDays * dayMs) * nsPerMs
}

/** The time of a line without one. */
export function arrivalTime(notes: LineNotes): bigint {
  notes.add('time_of_arrival')
  return BigInt(Date.now()) * BigInt(nsPerMs)
}
