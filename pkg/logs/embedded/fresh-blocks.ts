import type { Frame } from './frame.ts'
import { copyLines, createLinesBuilder, type Lines, type LinesBuilder, releaseLines } from './lines.ts'
import type { Segment } from './segment.ts'

/** `since`: when its first line came. What a question was shown once is shown to those that follow. */
export type Shown = { readonly since: number; isShown: boolean }

/** A question that it was shown to may go on reading what is in the memory of the builder. */
export type Growing = Shown & {
  readonly builder: LinesBuilder
  /** Only made for who asks for it. */
  segment: Segment | undefined
  /** When it last grew. */
  grewAt: number
  /** How many lines it had when its index was begun, and what that takes. */
  indexedLines: number
  bytes: number
}

/** A block does not grow any more. */
export type Block = Shown & {
  segment: Segment | undefined
  readonly lines: Lines
  isTaken: boolean
  /** What its index takes; 0 while there is none. */
  bytes: number
}

/** The lines of a log, of each day in blocks of a size that an index is worth, the last of which grows. */
export type FreshBlocks = {
  readonly full: readonly Block[]
  readonly growing: () => readonly Growing[]
  /** Where lines of a day are put. @param since when those of this frame came */
  readonly linesOf: (day: number, frame: Frame, since: number) => LinesBuilder
  /** After lines of a day were put there. */
  readonly settle: (day: number) => void
  /** Lets go of what is not in memory that others gave. */
  readonly close: () => void
}

// Few enough to be looked through at each question until a block is full, and many for what a block costs each time.
const blockLines = 2048
const mostSpareBytes = 4 * 1024 * 1024

/** @param take where full blocks are put */
export function createFreshBlocks(take: (size: number) => Buffer): FreshBlocks {
  const full: Block[] = []
  const growing = new Map<number, Growing>()
  // What comes next goes where what came before was.
  let spare: LinesBuilder | undefined

  function begin(day: number, frame: Frame, since: number): LinesBuilder {
    const expected = { lines: Math.max(frame.count, blockLines) + 1, bytes: 2 * frame.bytes.length }
    const builder = spare ?? createLinesBuilder(day, expected)
    spare = undefined
    builder.clear(day)
    const grewAt = performance.now()
    const rest = { segment: undefined, isShown: false, indexedLines: 0, bytes: 0 }
    growing.set(day, { builder, since, grewAt, ...rest })
    return builder
  }

  return {
    full,
    growing: () => [...growing.values()],
    linesOf: (day, frame, since) => growing.get(day)?.builder ?? begin(day, frame, since),
    settle: day => {
      const one = growing.get(day)
      if (one === undefined) return
      one.segment = undefined
      one.bytes = 0
      one.grewAt = performance.now()
      if (one.builder.count() < blockLines) return
      const lines = copyLines(one.builder.finish(), take)
      if (!one.isShown && lines.text.length <= mostSpareBytes) spare = one.builder
      const { since, isShown } = one
      full.push({ segment: undefined, lines, isTaken: false, bytes: 0, since, isShown })
      growing.delete(day)
    },
    close: () => {
      for (const { segment } of full) segment?.close()
      for (const { builder, segment } of growing.values()) {
        segment?.close()
        releaseLines(builder.finish())
      }
      if (spare !== undefined) releaseLines(spare.finish())
    },
  }
}
