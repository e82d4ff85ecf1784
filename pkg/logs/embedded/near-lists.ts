import type { Bitmap } from './bitmap.ts'
import { addList } from './postings.ts'
import type { Piece } from './segment-format.ts'

/** Adds the documents of lists, which are told of in the order in which they lie. */
export type ListAdder = {
  /** `head` is that of a Posting; `offset` and `length` tell where in the file the list lies. */
  readonly add: (head: number, offset: number, length: number) => void
  /** What was told of may only be read now. */
  readonly finish: () => void
}

// What lies so near is read at once, as long as it is not more than this.
const nearBytes = 4096
const mostBytes = 256 * 1024

/** @param use reads a piece of the file, for as long as the work goes on */
export function addLists(use: (piece: Piece, work: (bytes: Buffer) => void) => void, to: Bitmap): ListAdder {
  // No object for each list: a regular expression has hundreds of thousands.
  const heads: number[] = []
  const offsets: number[] = []
  let from = 0
  let end = 0

  function addAll(bytes: Buffer): void {
    for (let i = 0; i < heads.length; i += 1) addList(bytes, (offsets[i] ?? 0) - from, heads[i] ?? 0, to)
  }

  function finish(): void {
    if (heads.length === 0) return
    use({ offset: from, length: end - from }, addAll)
    heads.length = 0
    offsets.length = 0
  }

  return {
    finish,
    add: (head, offset, length) => {
      const after = offset + length
      if (offset - end > nearBytes || after - from > mostBytes) finish()
      if (heads.length === 0) from = offset
      heads.push(head)
      offsets.push(offset)
      end = after
    },
  }
}
