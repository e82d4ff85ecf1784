import { type Bitmap, hasBit, setBit } from './bitmap.ts'

/** What a segment has of one word. */
export type Posting = {
  /** Twice the number of its documents, plus one when `list` is a bitmap. */
  readonly head: number
  /** The document, when there is one alone. */
  readonly only: number
  /** Steps from document to document, or a bitmap. */
  readonly list: () => Buffer
  /** Where it is in each document, as a WordIndex has it. */
  readonly positions: () => Buffer
}

/** Where words stand: documents in order, and in each the positions in order. */
export type Occurrences = { readonly documents: readonly number[]; readonly positions: readonly number[] }

/** Adds the documents of a word to a bitmap. */
export function addDocuments({ head, only, list }: Posting, to: Bitmap): void {
  if (head === 2) {
    setBit(to, only)
    return
  }
  const bytes = list()
  if (head % 2 === 0) {
    forEachStep(bytes, head >>> 1, document => setBit(to, document))
    return
  }
  const words = toWords(bytes)
  for (let i = 0; i < words.length; i += 1) to[i] = (to[i] ?? 0) | (words[i] ?? 0)
}

/** Where a word stands in some documents. */
export function findOccurrences(posting: Posting, among: Bitmap): Occurrences {
  const documents: number[] = []
  const positions: number[] = []
  const bytes = posting.positions()
  let at = 0
  forEachDocument(posting, document => {
    const wanted = hasBit(among, document)
    let position = 0
    for (let more = 1; more === 1; ) {
      let byte = bytes[at++] ?? 0
      let value = byte & 0x7f
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = bytes[at++] ?? 0
        value |= (byte & 0x7f) << shift
      }
      more = value & 1
      position += value >>> 1
      if (!wanted) continue
      documents.push(document)
      positions.push(position)
    }
  })
  return { documents, positions }
}

function forEachDocument({ head, only, list }: Posting, visit: (document: number) => void): void {
  if (head === 2) visit(only)
  else if (head % 2 === 0) forEachStep(list(), head >>> 1, visit)
  else {
    for (const [index, word] of toWords(list()).entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) visit(32 * index + 31 - Math.clz32(rest & -rest))
    }
  }
}

function forEachStep(bytes: Buffer, count: number, visit: (document: number) => void): void {
  let document = 0
  let at = 0
  for (let left = count; left > 0; left -= 1) {
    let byte = bytes[at++] ?? 0
    let step = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0
      step |= (byte & 0x7f) << shift
    }
    document += step
    visit(document)
  }
}

function toWords(bytes: Buffer): Uint32Array {
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
