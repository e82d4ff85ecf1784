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

/** Counts the selected lines per stream, by the number of the stream. */
export function countByStream(partition: PartitionReader, window: Window, selection: Selection): Uint32Array {
  const counts = new Uint32Array(partition.streams.length)
  for (const block of window.blocks) {
    const from = block.first - window.from
    const bits = selection === 'all' ? undefined : listBits(selection, from, from + block.count)
    if (bits?.length === 0) continue
    const { streams } = partition.columns(block)
    const add = (stream = 0) => {
      counts[stream] = (counts[stream] ?? 0) + 1
    }
    if (bits === undefined) for (const stream of streams) add(stream)
    else for (const bit of bits) add(streams[bit - from])
  }
  return counts
}
