import { and, type Bitmap, emptyBitmap, hasBit, setBit, setBits } from '../partition/bitmap.ts'
import type { Block } from '../partition/block.ts'
import type { LineRange, PartitionReader } from '../partition/partition-reader.ts'
import { nothing } from './index-plan.ts'
import { createLineCheck, type OpenBlock, openBlock } from './line-check.ts'
import type { PartitionQuery } from './query.ts'

/** A computation that yields every few milliseconds, so that other queries can run in between. */
export type Work<T> = Generator<void, T>

/** Consecutive blocks that are searched together. The result is cached. */
export type Window = LineRange & {
  readonly blocks: readonly Block[]
  readonly firstTime: number
  readonly lastTime: number
}

/** Selected lines of a window: a bitmap that begins at its first line, or all lines. */
export type Selection = Bitmap | 'all'

const defaultWindowLines = 65_536
const fewLines = 1000

function windowsOf(blocks: readonly Block[], windowLines: number): readonly Window[] {
  const windows: Window[] = []
  for (let i = 0; i < blocks.length; ) {
    const begin = i
    for (let count = 0; i < blocks.length && count < windowLines; i += 1) count += blocks[i]?.count ?? 0
    windows.push(toWindow(blocks.slice(begin, i)))
  }
  return windows
}

/** Returns a window of consecutive blocks, with their range of lines and times. */
export function toWindow(blocks: readonly Block[]): Window {
  const [first, last] = [blocks[0], blocks.at(-1)]
  let [firstTime, lastTime] = [Number.POSITIVE_INFINITY, 0]
  for (const block of blocks) {
    firstTime = Math.min(firstTime, block.firstTime)
    lastTime = Math.max(lastTime, block.lastTime)
  }
  const from = first?.first ?? 0
  return { blocks, from, to: last === undefined ? from : last.first + last.count, firstTime, lastTime }
}

/** Returns the windows of a partition that may have matching lines. */
export function candidateWindows(
  partition: PartitionReader,
  query: PartitionQuery,
  windowLines = defaultWindowLines,
): readonly Window[] {
  const { plan, start, end } = query
  if (plan.query === nothing) return []
  const windows = windowsOf(partition.blocks, windowLines).filter(
    ({ firstTime, lastTime }) => firstTime <= end && lastTime >= start,
  )
  if (plan.query === undefined) return windows
  const few = partition.findFew(plan.query, partition.lines, fewLines)
  return few === undefined
    ? windows
    : windows.filter(({ from, to }) => few.some(line => line >= from && line < to))
}

/** Reports whether all lines of a window are in the time range and visible. */
export function isWithin({ start, end, since }: PartitionQuery, { firstTime, lastTime }: Window): boolean {
  return (
    start <= firstTime && end >= lastTime && (since === undefined || since.every(time => time <= firstTime))
  )
}

/** Returns the lines of a window that match a query. */
export function* select(partition: PartitionReader, query: PartitionQuery, window: Window): Work<Selection> {
  const { plan } = query
  const permitted = isWithin(query, window) ? 'all' : findPermitted(partition, query, window)
  const found = plan.query === undefined ? 'all' : findBits(partition, plan.query, window)
  const candidates = intersect(permitted, found)
  if (plan.rest === undefined) return candidates
  const check = createLineCheck(partition, window, plan.rest)
  const passing = emptyBitmap(window.to - window.from)
  for (const block of window.blocks) {
    const offset = block.first - window.from
    let open: OpenBlock | undefined
    for (let index = 0; index < block.count; index += 1) {
      if (candidates !== 'all' && !hasBit(candidates, offset + index)) continue
      open ??= openBlock(partition, block)
      if (check(open, index)) setBit(passing, offset + index)
      // Yields often: a regular expression may take long on one line.
      if (index % 64 === 0) yield
    }
    if (open !== undefined) yield
  }
  return passing
}

function findBits(partition: PartitionReader, query: string, window: Window): Bitmap {
  // A result for the whole partition is cached and need not be queried again per window.
  const few = partition.findFew(query, partition.lines, fewLines)
  if (few === undefined) return partition.find(query, window)
  const bits = emptyBitmap(window.to - window.from)
  for (const line of few) if (line >= window.from && line < window.to) setBit(bits, line - window.from)
  return bits
}

/** Returns the lines of a window that are in the time range and visible to the caller. */
function findPermitted(
  partition: PartitionReader,
  { start, end, since }: PartitionQuery,
  window: Window,
): Bitmap {
  const bits = emptyBitmap(window.to - window.from)
  for (const block of window.blocks) {
    const offset = block.first - window.from
    if (block.lastTime < start || block.firstTime > end) continue
    if (since === undefined && block.firstTime >= start && block.lastTime <= end) {
      setBits(bits, offset, offset + block.count)
      continue
    }
    const { times, streams } = partition.columns(block)
    for (let index = 0; index < block.count; index += 1) {
      const time = times[index] ?? 0
      const isSeen = since === undefined || time >= (since[streams[index] ?? 0] ?? 0)
      if (isSeen && time >= start && time <= end) setBit(bits, offset + index)
    }
  }
  return bits
}

function intersect(a: Selection, b: Selection): Selection {
  if (a === 'all') return b
  return b === 'all' ? a : and(a, b)
}
