import { createKnownStreams, type KnownStreams } from './frame.ts'
import { createLinesBuilder, type LinesBuilder } from './lines.ts'

/**
 * What lines are put together in, for one segment after the other: made anew for each it would be most of what a thread
 * leaves behind, and buffers of some megabytes make V8 collect everything.
 */
export type MergeMemory = {
  /** What hands out so many bytes, part by part; what was handed out before holds no longer. */
  readonly bytes: (total: number) => (size: number) => Buffer
  /** For lines of a day; the one before holds no longer. */
  readonly builder: (
    day: number,
    expected: { readonly lines: number; readonly bytes: number },
  ) => LinesBuilder
  readonly streams: KnownStreams
}

// As many as lines have that are put into a segment at once, and some more: many at once are no reason to keep that much.
const keptBytes = 16 * 1024 * 1024

export function createMergeMemory(): MergeMemory {
  let space = Buffer.alloc(0)
  let kept: LinesBuilder | undefined

  return {
    bytes: total => {
      if (total > space.length || total > keptBytes) space = Buffer.allocUnsafeSlow(total)
      const all = space
      if (total > keptBytes) space = Buffer.alloc(0)
      let at = 0
      return size => {
        at += size
        return all.subarray(at - size, at)
      }
    },
    builder: (day, expected) => {
      if (expected.bytes > keptBytes) return createLinesBuilder(day, expected)
      kept ??= createLinesBuilder(day, expected)
      kept.clear(day)
      return kept
    },
    streams: createKnownStreams(),
  }
}
