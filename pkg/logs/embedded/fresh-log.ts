import { type Frame, readFrame } from './frame.ts'
import { copyLines, createLinesBuilder, type Lines, type LinesBuilder } from './lines.ts'
import { type LogRange, readLogRange } from './log-range.ts'
import { openLines } from './open-lines.ts'
import { packWords } from './packed-words.ts'
import type { Segment } from './segment.ts'
import { indexing } from './word-index.ts'

/** The lines of a write-ahead log that grows, to be searched. Each byte of it is read once. */
export type FreshLog = {
  readonly extend: (range: LogRange) => void
  /** All lines of what it was extended by. @throws Error when the file cannot be read */
  readonly segments: () => readonly Segment[]
  /** Reads and indexes ahead of questions; yields about every millisecond, and ends when there is nothing left to do. */
  readonly work: (room: Room) => Generator<void, void>
  /** How much memory its indexes take. */
  readonly indexBytes: () => number
}

/** How much memory the indexes of all fresh lines may take; lines without one are looked through. */
export type Room = { readonly left: () => number }

/** A block does not grow any more. */
type Block = { segment: Segment; readonly lines: Lines; isIndexed: boolean; bytes: number }

// Few enough to be looked through at each question until a block is full, and many for what a block costs each time.
const blockLines = 2048

export function createFreshLog(id: string): FreshLog {
  let range: LogRange | undefined
  let readTo = 0
  let frames: Frame[] = []
  const blocks: Block[] = []
  const growing = new Map<number, { readonly builder: LinesBuilder; segment: Segment | undefined }>()

  function load(): void {
    if (range === undefined || readTo >= range.to) return
    const { file, to } = range
    const from = Math.max(readTo, range.from)
    frames = [...frames, ...readLogRange({ file, from, to })]
    readTo = to
  }

  function readNext(): void {
    const frame = frames.shift()
    if (frame === undefined) return
    const touched = new Set<number>()
    readFrame(frame.bytes, day => {
      touched.add(day)
      const known = growing.get(day)
      if (known !== undefined) return known.builder
      const expected = { lines: Math.max(frame.count, blockLines) + 1, bytes: 2 * frame.bytes.length }
      const builder = createLinesBuilder(day, expected)
      growing.set(day, { builder, segment: undefined })
      return builder
    })
    for (const day of touched) settle(day)
  }

  /** After lines were added: a full block is closed. */
  function settle(day: number): void {
    const one = growing.get(day)
    if (one === undefined) return
    one.segment = undefined
    if (one.builder.count < blockLines) return
    const lines = copyLines(one.builder.finish())
    blocks.push({ segment: openLines(id, lines), lines, isIndexed: false, bytes: 0 })
    growing.delete(day)
  }

  function* index(block: Block): Generator<void, void> {
    const { lines } = block
    const order = Uint32Array.from({ length: lines.count }, (_, line) => line)
    const words = yield* indexing(lines, order)
    yield
    const packed = packWords(words, lines.count)
    yield
    block.segment = openLines(id, lines, packed)
    block.bytes = packed.bytes
  }

  return {
    extend: next => {
      if (range === undefined || next.to > range.to) range = next
    },
    segments: () => {
      load()
      while (frames.length > 0) readNext()
      for (const one of growing.values()) one.segment ??= openLines(id, one.builder.finish())
      return [...blocks, ...growing.values()].flatMap(({ segment }) => segment ?? [])
    },
    *work(room) {
      load()
      while (frames.length > 0) {
        readNext()
        yield
      }
      for (const block of blocks) {
        if (block.isIndexed || room.left() <= 0) continue
        block.isIndexed = true
        yield* index(block)
      }
    },
    indexBytes: () => blocks.reduce((total, { bytes }) => total + bytes, 0),
  }
}
