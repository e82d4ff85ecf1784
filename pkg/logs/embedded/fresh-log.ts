import { type Frame, readingFrame } from './frame.ts'
import { copyLines, createLinesBuilder, type Lines, type LinesBuilder } from './lines.ts'
import { type LogRange, readLogRange } from './log-range.ts'
import { openLines } from './open-lines.ts'
import { packWords } from './packed-words.ts'
import type { Segment } from './segment.ts'
import type { Indexer } from './word-index.ts'
import type { LineLists } from './word-lists.ts'

/** The lines of a write-ahead log that grows, to be searched. Each byte of it is read once. */
export type FreshLog = {
  /** @param isNew whether what it grew by has just come */
  readonly extend: (range: LogRange, isNew: boolean) => void
  /**
   * All lines of what it was extended by; unless it is to be whole, without what came in the last half second and was not read
   * ahead, where so much comes that a question would wait for that.
   *
   * @throws Error when the file cannot be read
   */
  readonly segments: (isWhole: boolean) => readonly Segment[]
  /** Reads and indexes ahead of questions; yields about every millisecond, and ends when there is nothing left to do. */
  readonly work: (room: Room) => Generator<void, void>
  /** How much memory its indexes take. */
  readonly indexBytes: () => number
}

/** How much memory the indexes of all fresh lines may take; lines without one are looked through. */
export type Room = { readonly left: () => number }

type Growing = {
  readonly builder: LinesBuilder
  segment: Segment | undefined
  /** A question may go on reading what is in the memory of the builder. */
  isShown: boolean
}

/** A block does not grow any more. */
type Block = { segment: Segment; readonly lines: Lines; isIndexed: boolean; bytes: number }

/** How far the file reached at a moment; at one long ago when that is not known. */
type Mark = { readonly to: number; readonly at: number }

// Few enough to be looked through at each question until a block is full, and many for what a block costs each time.
const blockLines = 2048
// Lines are found within a second of their answer. What is less than this is read at once; of more, as much as is this old.
const recent = { ms: 500, bytes: 2 * 1024 * 1024 }
const markMs = 20
const keptBytes = 4 * 1024 * 1024

/** @param indexer of all fresh logs of a thread, of which one is worked on at a time */
export function createFreshLog(id: string, indexer: Indexer<LineLists>): FreshLog {
  let file = ''
  let readTo = 0
  // Of the last half second, and of all that was not read.
  let marks: readonly Mark[] = []
  let reading: Generator<void, void> | undefined
  const blocks: Block[] = []
  const growing = new Map<number, Growing>()
  // What comes next goes where what came before was.
  let spare: LinesBuilder | undefined
  let space = Buffer.alloc(0)

  const reached = (): number => marks.at(-1)?.to ?? readTo

  /** How far it reached so long ago. */
  function reachedBefore(ms: number): number {
    const moment = performance.now() - ms
    return marks.findLast(({ at }) => at < moment)?.to ?? readTo
  }

  function take(size: number): Buffer {
    if (size > keptBytes) return Buffer.allocUnsafeSlow(size)
    if (size > space.length) space = Buffer.allocUnsafeSlow(Math.min(2 * size, keptBytes))
    return space.subarray(0, size)
  }

  function beginBlock(day: number, frame: Frame): LinesBuilder {
    const expected = { lines: Math.max(frame.count, blockLines) + 1, bytes: 2 * frame.bytes.length }
    const builder = spare ?? createLinesBuilder(day, expected)
    spare = undefined
    builder.clear(day)
    growing.set(day, { builder, segment: undefined, isShown: false })
    return builder
  }

  function* readNext(): Generator<void, void> {
    const to = marks.find(mark => mark.to > readTo)?.to ?? readTo
    for (const frame of readLogRange({ file, from: readTo, to }, take)) {
      const touched = new Set<number>()
      yield* readingFrame(frame.bytes, day => {
        touched.add(day)
        return growing.get(day)?.builder ?? beginBlock(day, frame)
      })
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
    if (one.builder.count < blockLines) return
    const lines = copyLines(one.builder.finish())
    if (!one.isShown && lines.text.length <= keptBytes) spare = one.builder
    blocks.push({ segment: openLines(id, lines), lines, isIndexed: false, bytes: 0 })
    growing.delete(day)
  }

  function* index(block: Block): Generator<void, void> {
    const { lines } = block
    block.isIndexed = true
    const order = Uint32Array.from({ length: lines.count }, (_, line) => line)
    const words = yield* indexer(lines, order)
    yield
    const packed = packWords(words, lines.count)
    yield
    block.segment = openLines(id, lines, packed)
    block.bytes = packed.bytes
  }

  return {
    extend: (range, isNew) => {
      if (marks.length === 0) readTo = range.from
      if (range.to <= reached()) return
      file = range.file
      const now = performance.now()
      const at = isNew && marks.length > 0 ? now : Number.NEGATIVE_INFINITY
      const last = marks.at(-1)
      if (isNew && last !== undefined && at - last.at < markMs) {
        marks = marks.with(-1, { to: range.to, at: last.at })
        return
      }
      const done = marks.findLastIndex(mark => mark.to <= readTo && mark.at < now - recent.ms)
      marks = [...marks.slice(Math.max(done, 0)), { to: range.to, at }]
    },
    segments: isWhole => {
      const older = reachedBefore(recent.ms)
      const due = isWhole || reached() - older < recent.bytes ? reached() : older
      while (readTo < due) readOn()
      for (const one of growing.values()) {
        one.segment ??= openLines(id, one.builder.finish())
        one.isShown = true
      }
      return [...blocks, ...growing.values()].flatMap(({ segment }) => segment ?? [])
    },
    *work(room) {
      for (;;) {
        const next = room.left() > 0 ? blocks.find(({ isIndexed }) => !isIndexed) : undefined
        if (next === undefined && readTo >= reached()) return
        // What a question would wait for comes first.
        if (next === undefined || readTo < reachedBefore(recent.ms / 2)) readOn()
        else yield* index(next)
        yield
      }
    },
    indexBytes: () => blocks.reduce((total, { bytes }) => total + bytes, 0),
  }
}
