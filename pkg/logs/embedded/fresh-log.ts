import { release } from '../own-memory.ts'
import type { SharedMemory } from '../shared-memory.ts'
import { createArrivals } from './arrivals.ts'
import { type KnownStreams, readingFrame } from './frame.ts'
import { type Block, createFreshBlocks, type Growing, type Shown } from './fresh-blocks.ts'
import { firstTo } from './line-order.ts'
import type { Lines, LinesBuilder } from './lines.ts'
import { type LogRange, readLogRange } from './log-range.ts'
import { openLines } from './open-lines.ts'
import { type PackedWords, packWords } from './packed-words.ts'
import type { Segment } from './segment.ts'
import type { Indexer } from './word-index.ts'
import type { LineLists } from './word-lists.ts'

/** The lines of a write-ahead log that grows, to be searched. Each byte of it is read once. */
export type FreshLog = {
  /** @param isNew whether what it grew by has just come */
  readonly extend: (range: LogRange, isNew: boolean) => void
  /**
   * All lines of what it was extended by; unless it is to be whole, without what has just come and was not read and indexed
   * ahead.
   *
   * @throws Error when the file cannot be read
   */
  readonly segments: (isWhole: boolean) => readonly Segment[]
  /** Nothing more is expected to come. */
  readonly end: () => void
  /** Reads and indexes ahead of questions; yields about twice a millisecond, and ends when there is nothing left to do. */
  readonly work: (room: Room) => Generator<void, void>
  /** How many bytes have just come. */
  readonly recentBytes: () => number
  /** How much memory its indexes take. */
  readonly indexBytes: () => number
  /** Lets go of its memory: no question reads what it was shown any more. */
  readonly close: () => void
}

/** How much memory the indexes of all fresh lines may take; lines without one are looked through. */
export type Room = { readonly left: () => number }

// Lines are found within a second of their answer. It is most of one, because what is not indexed by then is looked through.
const recentMs = 800
const quietMs = 500
// A look through so few takes less than what an index costs each time.
const bareLines = 128
const keptBytes = 4 * 1024 * 1024

/** Of all fresh logs of a thread. */
export type FreshMeans = {
  /** One of them is worked on at a time. */
  readonly indexer: Indexer<LineLists>
  readonly streams: KnownStreams
  /** For lines, and for their indexes. */
  readonly memory: SharedMemory
}

export function createFreshLog(id: string, { indexer, streams, memory }: FreshMeans): FreshLog {
  let file = ''
  let readTo = 0
  const arrivals = createArrivals(recentMs)
  let isEnded = false
  let reading: Generator<void, void> | undefined
  let space = Buffer.alloc(0)
  /** Of blocks and indexes, those too that took the place of others. */
  const taken: Buffer[] = []
  const blocks = createFreshBlocks(keep)

  function keep(size: number): Buffer {
    const bytes = memory.take(size)
    taken.push(bytes)
    return bytes
  }

  function take(size: number): Buffer {
    if (size > keptBytes) return Buffer.allocUnsafeSlow(size)
    if (size > space.length) space = Buffer.allocUnsafeSlow(Math.min(2 * size, keptBytes))
    return space.subarray(0, size)
  }

  function* readNext(): Generator<void, void> {
    const { to, at } = arrivals.after(readTo)
    for (const frame of readLogRange({ file, from: readTo, to }, take)) {
      const touched = new Set<number>()
      const linesOf = (day: number): LinesBuilder => {
        touched.add(day)
        return blocks.linesOf(day, frame, at)
      }
      yield* readingFrame(frame.bytes, linesOf, streams)
      touched.forEach(blocks.settle)
      yield
    }
    readTo = to
  }

  /** Some hundred lines. */
  function readOn(): void {
    reading ??= readNext()
    if (reading.next().done) reading = undefined
  }

  function* wordsOf(lines: Lines): Generator<void, PackedWords> {
    const words = yield* indexer(lines, firstTo(lines.count))
    yield
    const packed = yield* packWords(words, lines.count, keep)
    yield
    return packed
  }

  function* index(block: Block): Generator<void, void> {
    block.isTaken = true
    const packed = yield* wordsOf(block.lines)
    block.segment = openLines(id, block.lines, packed)
    block.bytes = packed.bytes
  }

  function toIndex(): Generator<void, void> | undefined {
    const block = blocks.full.find(({ isTaken }) => !isTaken)
    if (block !== undefined) return index(block)
    const isAll = isEnded && readTo >= arrivals.reached()
    const moment = isAll ? Number.POSITIVE_INFINITY : performance.now() - quietMs
    const quiet = blocks
      .growing()
      .find(
        ({ builder, indexedLines, grewAt }) =>
          grewAt < moment && builder.count() >= bareLines && builder.count() !== indexedLines,
      )
    return quiet && indexQuiet(quiet)
  }

  /** What has not grown for a while, as the end of a log that is a segment soon, would be looked through by each question. */
  function* indexQuiet(one: Growing): Generator<void, void> {
    const lines = one.builder.finish()
    one.indexedLines = lines.count
    // So that nothing else comes into this memory.
    one.isShown = true
    const packed = yield* wordsOf(lines)
    if (one.builder.count() !== lines.count) return
    one.segment = openLines(id, lines, packed)
    one.bytes = packed.bytes
  }

  return {
    extend: (range, isNew) => {
      if (file === '') readTo = range.from
      file = range.file
      if (range.to > arrivals.reached()) arrivals.note(range.to, isNew, readTo)
    },
    segments: isWhole => {
      const moment = performance.now() - recentMs
      const isDue = (one: Shown): boolean => isWhole || one.isShown || one.since < moment
      const due = isWhole ? arrivals.reached() : arrivals.reachedBefore(recentMs)
      while (readTo < due) readOn()
      const growing = blocks.growing()
      for (const one of growing) {
        if (!isDue(one)) continue
        one.segment ??= openLines(id, one.builder.finish())
        one.isShown = true
      }
      const shown = blocks.full.filter(block => block.bytes > 0 || isDue(block))
      for (const block of shown) {
        block.segment ??= openLines(id, block.lines)
        block.isShown = true
      }
      return [...shown, ...growing].flatMap(({ segment, isShown }) => (isShown && segment) || [])
    },
    end: () => {
      isEnded = true
    },
    *work(room) {
      for (;;) {
        const indexing = room.left() > 0 ? toIndex() : undefined
        if (indexing === undefined && readTo >= arrivals.reached()) return
        // What a question would wait for comes first.
        if (indexing === undefined || readTo < arrivals.reachedBefore(recentMs / 2)) readOn()
        else yield* indexing
        yield
      }
    },
    recentBytes: () => arrivals.reached() - arrivals.reachedBefore(recentMs),
    indexBytes: () => [...blocks.full, ...blocks.growing()].reduce((total, { bytes }) => total + bytes, 0),
    close: () => {
      blocks.close()
      taken.forEach(memory.give)
      release(space)
    },
  }
}
