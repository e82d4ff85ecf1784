import { type Bitmap, hasBit, setBit } from './bitmap.ts'
import { forEachStep } from './steps.ts'

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
export type Occurrences = { readonly documents: Uint32Array; readonly positions: Uint32Array }

/** Adds the documents of a word to a bitmap. */
export function addDocuments({ head, only, list }: Omit<Posting, 'positions'>, to: Bitmap): void {
  if (head === 2) {
    setBit(to, only)
    return
  }
  addList(list(), 0, head, to)
}

/** Adds the documents of a list that begins at a place among others. */
export function addList(bytes: Buffer, at: number, head: number, to: Bitmap): void {
  if (head % 2 === 1) {
    for (let i = 0; i < to.length; i += 1) to[i] = (to[i] ?? 0) | bytes.readUInt32LE(at + 4 * i)
    return
  }
  forEachStep(bytes, at, head >>> 1, document => setBit(to, document))
}

/** Where a word stands in some documents. */
export function findOccurrences(posting: Posting, among: Bitmap): Occurrences {
  const found = createOccurrences(posting.head >>> 1)
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
      if (wanted) found.add(document, position)
    }
  })
  return found.all()
}

/** @param expected how many there will be; it grows when there are more */
export function createOccurrences(expected: number): {
  readonly add: (document: number, position: number) => void
  readonly all: () => Occurrences
} {
  let documents = new Uint32Array(Math.max(expected, 1))
  let positions = new Uint32Array(documents.length)
  let count = 0
  return {
    add: (document, position) => {
      if (count === documents.length) {
        const [before, places] = [documents, positions]
        documents = new Uint32Array(2 * count)
        positions = new Uint32Array(2 * count)
        documents.set(before)
        positions.set(places)
      }
      documents[count] = document
      positions[count] = position
      count += 1
    },
    all: () => ({ documents: documents.subarray(0, count), positions: positions.subarray(0, count) }),
  }
}

function forEachDocument({ head, only, list }: Posting, visit: (document: number) => void): void {
  if (head === 2) visit(only)
  else if (head % 2 === 0) forEachStep(list(), 0, head >>> 1, visit)
  else {
    for (const [index, word] of toWords(list()).entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) visit(32 * index + 31 - Math.clz32(rest & -rest))
    }
  }
}

function toWords(bytes: Buffer): Uint32Array {
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
