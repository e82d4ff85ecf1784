import { type Bucket, bucketStart, type Interval, nextBucket } from '../interval.ts'
import { countBits, hasBit } from './bitmap.ts'
import type { Stream } from './lines.ts'
import type { Segment } from './segment.ts'
import type { Selection } from './selection.ts'

const dayMs = 86_400_000

export function countSelected({ from, to, bits, count }: Selection): number {
  return count ?? (bits === undefined ? to - from : countBits(bits, from, to))
}

/** The streams that have lines among those selected: those of the segment itself where that is all of them. */
export function streamsOf(segment: Segment, { from, to, bits }: Selection): readonly Stream[] {
  const { streams, count } = segment.footer
  if (from >= to) return []
  if (bits === undefined && from === 0 && to === count) return streams
  const isSeen = new Uint8Array(streams.length)
  segment.useStreams(streamOf => {
    for (let document = from; document < to; document += 1) {
      if (bits === undefined || hasBit(bits, document)) isSeen[streamOf[document] ?? 0] = 1
      else if (bits[document >>> 5] === 0) document |= 31
    }
  })
  return streams.filter((_, stream) => isSeen[stream] === 1)
}

export function* bucketsOf(
  segment: Segment,
  { from, to, bits }: Selection,
  interval: Interval,
): Generator<Bucket> {
  const dayStart = segment.footer.day * dayMs
  for (let at = from; at < to; ) {
    // Of a segment that lies within a bucket no time need be read.
    const time = at === 0 ? segment.footer.firstTime : segment.timeOf(at)
    const timeMs = bucketStart(interval, dayStart + Math.floor(time / 1e6))
    const end = (nextBucket(interval, timeMs) - dayStart) * 1e6
    // A width that leads nowhere must not hold the thread for ever.
    const next = Math.max(Math.min(segment.lowerBound(end), to), at + 1)
    const count = bits === undefined ? next - at : countBits(bits, at, next)
    if (count > 0) yield { timeMs, count }
    at = next
  }
}
