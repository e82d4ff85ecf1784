import type { StoredSegment } from './manifest.ts'

export type Retention = {
  /** Days that are kept, today included. */
  readonly days: number
  /** What all segments together may take on the disk. */
  readonly bytes: number
}

/** The oldest day that is kept. */
export function firstKeptDay({ days }: Retention, nowMs: number): number {
  return Math.floor(nowMs / 86_400_000) - days + 1
}

/** What must go: days that are too old, then the oldest days until the rest fits; of a single day, what arrived first. */
export function findExpired(
  segments: readonly StoredSegment[],
  retention: Retention,
  nowMs: number,
): readonly StoredSegment[] {
  const first = firstKeptDay(retention, nowMs)
  const expired = segments.filter(({ day }) => day < first)
  const kept = segments.filter(({ day }) => day >= first)
  let bytes = kept.reduce((sum, segment) => sum + segment.bytes, 0)
  const oldestFirst = kept.toSorted((a, b) => a.day - b.day || a.lastSequence - b.lastSequence)
  const lastDay = oldestFirst.at(-1)?.day
  for (let i = 0; i < oldestFirst.length && bytes > retention.bytes; ) {
    const day = oldestFirst[i]?.day
    do {
      const segment = oldestFirst[i]
      if (segment === undefined || (segment.day === lastDay && bytes <= retention.bytes)) break
      expired.push(segment)
      bytes -= segment.bytes
      i += 1
    } while (oldestFirst[i]?.day === day)
  }
  return expired
}

/** What is put together at a time: it takes memory in proportion. */
export type SegmentLimit = { readonly lines: number; readonly bytes: number }

// Where the manifest does not tell: texts of logs seldom compress better.
const likelyRatio = 8

/** Small segments of one day that are worth making one of; empty when there are none. */
export function findSmall(
  segments: readonly StoredSegment[],
  limit: SegmentLimit,
  atLeast: number,
): readonly StoredSegment[] {
  const textBytes = ({ textBytes, bytes }: StoredSegment): number => textBytes ?? likelyRatio * bytes
  const small = segments.filter(
    segment => segment.count <= limit.lines / 2 && textBytes(segment) <= limit.bytes / 2,
  )
  for (const group of Map.groupBy(small, ({ day }) => day).values()) {
    const sum = { lines: 0, bytes: 0 }
    const fitting = group
      .toSorted((a, b) => a.count - b.count)
      .filter(segment => {
        sum.lines += segment.count
        sum.bytes += textBytes(segment)
        return sum.lines <= limit.lines && sum.bytes <= limit.bytes
      })
    if (fitting.length >= atLeast) return fitting
  }
  return []
}
