import { bucketStart, type Interval } from '../../histogram-interval.ts'
import { countBits, listBits } from '../partition/bitmap.ts'
import { dayMs } from '../partition/day.ts'
import type { PartitionReader } from '../partition/partition-reader.ts'
import type { Selection, Window } from './selection.ts'

const nsPerMs = 1_000_000

export function countLines({ from, to }: Window, selection: Selection): number {
  return selection === 'all' ? to - from : countBits(selection, 0, to - from)
}

/** Counts the selected lines per bucket, by the start of the bucket in milliseconds. */
export function countByTime(
  partition: PartitionReader,
  window: Window,
  selection: Selection,
  interval: Interval,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  const startOf = (time: number): number =>
    bucketStart(interval, partition.day * dayMs + Math.floor(time / nsPerMs))
  const add = (start: number, count: number): void => void counts.set(start, (counts.get(start) ?? 0) + count)
  for (const block of window.blocks) {
    const from = block.first - window.from
    const count = selection === 'all' ? block.count : countBits(selection, from, from + block.count)
    if (count === 0) continue
    const start = startOf(block.firstTime)
    if (start === startOf(block.lastTime)) {
      add(start, count)
      continue
    }
    const { times } = partition.columns(block)
    if (selection === 'all') for (const time of times) add(startOf(time), 1)
    else
      for (const bit of listBits(selection, from, from + block.count)) add(startOf(times[bit - from] ?? 0), 1)
  }
  return counts
}

/** Returns the distinct streams of the selected lines. */
export function distinctStreams(
  partition: PartitionReader,
  window: Window,
  selection: Selection,
): Uint32Array {
  const seen = new Set<number>()
  for (const block of window.blocks) {
    const from = block.first - window.from
    if (selection !== 'all' && countBits(selection, from, from + block.count) === 0) continue
    const { streams } = partition.columns(block)
    if (selection === 'all') for (const stream of streams) seen.add(stream)
    else for (const bit of listBits(selection, from, from + block.count)) seen.add(streams[bit - from] ?? 0)
  }
  return Uint32Array.from(seen)
}
