import { release } from '../own-memory.ts'
import { type Blocks, type Passing, pass } from './blocks.ts'
import { findPiece, type OpenFooter } from './open-footer.ts'
import type { TextTest } from './text-test.ts'

/** The texts of a segment, by their places: those that lie together are in one block. */
export type TextBlocks = {
  /** As UTF-8. */
  readonly textAt: (place: number) => Buffer
  /** Whether it passes; of many, looked at one after the other, nothing is made for each. */
  readonly testText: (place: number, passes: TextTest) => boolean
  /** Nobody asks for more of them now: lets go of the block that was looked at last. */
  readonly leaveTexts: () => void
}

type Texts = { readonly first: number; readonly bytes: Buffer; readonly starts: Uint32Array }

export function openTextBlocks({ texts }: OpenFooter, blocks: Blocks): TextBlocks {
  let last: Texts | undefined
  /** The last one, unless somebody else may have it. */
  let passing: Passing | undefined

  function leaveTexts(): void {
    if (passing !== undefined) pass(passing)
    if (last !== undefined) release(last.starts)
    last = passing = undefined
  }

  function blockWith(place: number, isPassing: boolean): Texts {
    if (last === undefined || place < last.first || place >= last.first + last.starts.length - 1) {
      leaveTexts()
      const index = findPiece(texts, place)
      const [name, piece] = [`text/${index}`, texts.at(index)]
      if (isPassing) passing = blocks.enter(name, piece)
      last = cut(texts.firstAt(index), passing?.bytes ?? blocks.get(name, piece))
    }
    // What is handed out is not let go of.
    if (!isPassing) passing = undefined
    return last
  }

  return {
    leaveTexts,
    textAt: place => {
      const { first, bytes, starts } = blockWith(place, false)
      return bytes.subarray(starts[place - first], starts[place - first + 1])
    },
    testText: (place, passes) => {
      const { first, bytes, starts } = blockWith(place, true)
      return passes(bytes, starts[place - first] ?? 0, starts[place - first + 1] ?? 0)
    },
  }
}

function cut(first: number, block: Buffer): Texts {
  const count = block.readUInt32LE(0)
  const starts = new Uint32Array(count + 1)
  for (let i = 0; i < count; i += 1) starts[i + 1] = (starts[i] ?? 0) + block.readUInt32LE(4 + 4 * i)
  return { first, bytes: block.subarray(4 + 4 * count), starts }
}
