import { type Bitmap, emptyBitmap } from './bitmap.ts'
import { addDocuments, type Posting } from './postings.ts'

/** Which documents of a segment have a word, to be kept for whoever asks for it again. */
export type WordDocuments = {
  /** Not to be changed. */
  readonly bits: () => Bitmap
  /** How many they are. */
  readonly count: number
  /** How much memory it takes. */
  readonly bytes: number
}

// What an object and a key take.
const entryBytes = 256

/**
 * Of a frequent word the bitmap, which is all that is made of its list; of a rare one the list, which is shorter.
 *
 * @param count the documents of the segment
 */
export function toWordDocuments(posting: Omit<Posting, 'positions'>, count: number): WordDocuments {
  const { head, only } = posting
  const own = head >>> 1
  const bitmapOf = (list: Posting['list']): Bitmap => {
    const bits = emptyBitmap(count)
    addDocuments({ head, only, list }, bits)
    return bits
  }
  if (head % 2 === 1) {
    const bits = bitmapOf(posting.list)
    return { bits: () => bits, count: own, bytes: entryBytes + bits.byteLength }
  }
  const list = copyOf(head === 2 ? Buffer.alloc(0) : posting.list())
  return { bits: () => bitmapOf(() => list), count: own, bytes: entryBytes + list.length }
}

/** What was read may be a small part of some memory, all of which would be kept. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}
