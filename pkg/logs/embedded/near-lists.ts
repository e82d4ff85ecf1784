import type { Bitmap } from './bitmap.ts'
import { addList } from './postings.ts'
import type { Piece } from './segment-format.ts'

/** Where the list of a word's documents lies; `head` is that of a Posting. */
export type List = Piece & { readonly head: number }

// What lies so near is read at once, as long as it is not more than this.
const nearBytes = 4096
const mostBytes = 256 * 1024

/**
 * Adds the documents of lists, which are in the order in which they lie.
 *
 * @param use reads a piece of the file, for as long as the work goes on
 */
export function addLists(
  lists: readonly List[],
  use: (piece: Piece, work: (bytes: Buffer) => void) => void,
  to: Bitmap,
): void {
  let near: List[] = []
  let from = 0
  let end = 0

  function flush(): void {
    if (near.length === 0) return
    use({ offset: from, length: end - from }, bytes => {
      for (const { head, offset } of near) addList({ bytes, at: offset - from }, head, to)
    })
    near = []
  }

  for (const list of lists) {
    const after = list.offset + list.length
    if (list.offset - end > nearBytes || after - from > mostBytes) flush()
    if (near.length === 0) from = list.offset
    near.push(list)
    end = after
  }
  flush()
}
