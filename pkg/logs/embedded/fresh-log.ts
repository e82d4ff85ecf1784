import { release } from '../own-memory.ts'
import { createArrivals } from './arrivals.ts'
import { type Frame, type KnownStreams, readingFrame } from './frame.ts'
import type { LineMemory } from './line-memory.ts'
import { firstTo } from './line-order.ts'
import { copyLines, createLinesBuilder, type Lines, type LinesBuilder, releaseLines } from './lines.ts'
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
   * All lines of what it was extended by; unless it is to be whole, without what came in the last half second and was not read
   * and indexed ahead.
   *
   * @throws Error when the file cannot be read
   */
  readonly segments: (isWhole: boolean) => readonly Segment[]
  /** Reads and indexes ahead of questions; yields about twice a millisecond, and ends when there is nothing left to do. */
  readonly work: (room: Room) => Generator<void, void>
  /** How many bytes came in the last half second. */
  readonly recentBytes: () => number
  /** How much memory its indexes take. */
  readonly indexBytes: () => number
  /** Lets go of its memory: no question reads what it was shown any more. */
  readonly close: () => void
}

/** How much memory the indexes of all fresh lines may take; lines without one are looked through. */
export type Room = { readonly left: () => number }

/** `since`: when its first line came. What a question was shown once is shown to those that follow. */
type Shown = { readonly since: number; isShown: boolean }

/** A question that it was shown to may go on reading what is in the memory of the builder. */
type Growing = Shown & {
  readonly builder: LinesBuilder
  segment: Segment | undefined
  /** When it last grew. */
  grewAt: number
  /** How many lines it had when its index was begun, and what that takes. */
  indexed: number
  bytes: number
}

/** A block does not grow any more. */
type Block = Shown & {
  /** Only made for who asks for it. */
  segment: Segment | undefined
  readonly lines: Lines
  isTaken: boolean
  /** What its index takes; 0 while there is none. */
  bytes: number
}

// Few enough to be looked through at each question until a block is full, and many for what a block costs each time.
const blockLines = 2048
// Lines are found within a second of their answer.
const recentMs = 500
// A look through so few takes less than what an index costs each time.
const bareLines = 128
const keptBytes = 4 * 1024 * 1024

/** Of all fresh logs of a thread. */
export type FreshMeans = {
  /** One of them is worked on at a time. */
  readonly indexer: Indexer<LineLists>
  readonly streams: KnownStreams
  readonly memory: LineMemory
}

export function createFreshLog(id: string, { indexer, streams, memory }: FreshMeans): FreshLog {
  let file = ''
  let readTo = 0
  const arrivals = createArrivals(recentMs)
  let reading: Generator<void, void> | undefined
  const blocks: Block[] = []
  const growing = new Map<number, Growing>()
  // What comes next goes where what came before was.
  let spare: LinesBuilder | undefined
  let space = Buffer.alloc(0)
  /** Of blocks and indexes, those too that took the place of others. */
  const taken: Buffer[] = []

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

  function beginBlock(day: number, frame: Frame, since: number): LinesBuilder {
    const expected = { lines: Math.max(frame.count, blockLines) + 1, bytes: 2 * frame.bytes.length }
    const builder = spare ?? createLinesBuilder(day, expected)
    spare = undefined
    builder.clear(day)
    const grewAt = performance.now()
    growing.set(day, { builder, segment: undefined, since, isShown: false, grewAt, indexed: 0, bytes: 0 })
    return builder
  }

  function* readNext(): Generator<void, void> {
    const { to, at } = arrivals.after(readTo)
    for (const frame of readLogRange({ file, from: readTo, to }, take)) {
      const touched = new Set<number>()
      const linesOf = (day: number): LinesBuilder => {
        touched.add(day)
        return growing.get(day)?.builder ?? beginBlock(day, frame, at)
      }
      yield* readingFrame(frame.bytes, linesOf, streams)
      for (const day of touched) settle(day)
      yield
    }
    readTo = to
  }

  /** Some hundred lines. */
  function readOn(): void {
    reading ??= readNext()
    if (reading.next().done) reading = undefined
  }

  /** After lines were added: a full block is closed. */
  function settle(day: number): void {
    const one = growing.get(day)
    if (one === undefined) return
    one.segment = undefined
    one.bytes = 0
    one.grewAt = performance.now()
    if (one.builder.count() < blockLines) return
    const lines = copyLines(one.builder.finish(), keep)
    if (!one.isShown && lines.text.length <= keptBytes) spare = one.builder
    const { since, isShown } = one
    blocks.push({ segment: undefined, lines, isTaken: false, bytes: 0, since, isShown })
    growing.delete(day)
  }

  function* indexed(lines: Lines): Generator<void, PackedWords> {
    const words = yield* indexer(lines, firstTo(lines.count))
    yield
    const packed = yield* packWords(words, lines.count, keep)
    yield
    return packed
  }

  function* index(block: Block): Generator<void, void> {
    block.isTaken = true
    const packed = yield* indexed(block.lines)
    block.segment = openLines(id, block.lines, packed)
    block.bytes = packed.bytes
  }

  function toIndex(): Generator<void, void> | undefined {
    const block = blocks.find(({ isTaken }) => !isTaken)
    if (block !== undefined) return index(block)
    const moment = performance.now() - recentMs
    const quiet = [...growing.values()].find(
      ({ builder, indexed, grewAt }) =>
        grewAt < moment && builder.count() >= bareLines && builder.count() !== indexed,
    )
    return quiet && indexQuiet(quiet)
  }

  /** What has not grown for a while, as the end of a log that is a segment soon, would be looked through by each question. */
  function* indexQuiet(one: Growing): Generator<void, void> {
    const lines = one.builder.finish()
    one.indexed = lines.count
    // So that nothing else comes into this memory.
    one.isShown = true
    const packed = yield* indexed(lines)
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
      for (const one of growing.values()) {
        if (!isDue(one)) continue
        one.segment ??= openLines(id, one.builder.finish())
        one.isShown = true
      }
      const shown = blocks.filter(block => block.bytes > 0 || isDue(block))
      for (const block of shown) {
        block.segment ??= openLines(id, block.lines)
        block.isShown = true
      }
      return [...shown, ...growing.values()].flatMap(({ segment, isShown }) => (isShown && segment) || [])
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
    indexBytes: () => [...blocks, ...growing.values()].reduce((total, { bytes }) => total + bytes, 0),
    close: () => {
      for (const { segment } of blocks) segment?.close()
      taken.forEach(memory.give)
      for (const { builder, segment } of growing.values()) {
        segment?.close()
        releaseLines(builder.finish())
      }
      if (spare !== undefined) releaseLines(spare.finish())
      release(space)
    },
  }
}
