import { maxTimeNs } from '../../record.ts'
import type { IngestLimits } from '../limits.ts'
import type { LineNotes } from './line-notes.ts'

const dayMs = 86_400_000
const nsPerMs = 1_000_000

/**
 * Reports whether a line can have this time: after the beginning of 1970, which senders write for
 * an unknown time, and at most `aheadDays` in the future.
 */
export function isLineTime(timeNs: bigint | undefined, { aheadDays }: IngestLimits): timeNs is bigint {
  if (timeNs === undefined || timeNs <= 0n || timeNs > maxTimeNs) return false
  // Compared as a number, because this runs for each line; its precision of 0.25 µs suffices.
  return Number(timeNs) <= (Date.now() + aheadDays * dayMs) * nsPerMs
}

/** Returns the current time for a line without time, with a note. */
export function arrivalTime(notes: LineNotes): bigint {
  notes.add('time_of_arrival')
  return BigInt(Date.now()) * BigInt(nsPerMs)
}
