import { type Bitmap, emptyBitmap, noDocuments, setBit } from './bitmap.ts'
import { cutMemory } from './cut.ts'
import type { Dictionary } from './dictionary.ts'
import { hashBytes, slotOf, type Vocabulary } from './vocabulary.ts'
import { longWord, maxWordBytes } from './word-index.ts'
import type { LineLists } from './word-lists.ts'

/** The words of a few lines, in little memory. What it adds to a bitmap are lines; `documentOf` tells which documents they are. */
export type PackedWords = {
  readonly dictionaryOf: (documentOf: () => Uint32Array) => Dictionary
  /** How much memory it takes. */
  readonly bytes: number
}

type Numbers = Uint16Array | Uint32Array

const turn = 2048

/**
 * Copies which of them a word has: lines[starts[id]] up to lines[starts[id + 1]]. Yields now and then.
 *
 * @param take the memory for all of it
 */
export function* packWords(
  index: LineLists & { readonly vocabulary: Vocabulary },
  lineCount: number,
  take: (size: number) => Buffer,
): Generator<void, PackedWords> {
  const { vocabulary, documents } = index
  const { size } = vocabulary
  // An id plus one in each slot that is taken, of which two thirds are at most.
  const slotCount = 2 ** Math.ceil(Math.log2(1.5 * size + 1))
  const [isFew, areFewWords] = [lineCount <= 0x10000, size < 0xffff]
  const wordBytes = size === 0 ? 0 : vocabulary.end(size - 1)
  const memory = take(
    8 * (size + 1) + documents.length * (isFew ? 2 : 4) + slotCount * (areFewWords ? 2 : 4) + wordBytes,
  )
  const cut = cutMemory(memory)
  const starts = cut.uint32(size + 1)
  const wordStarts = cut.uint32(size + 1)
  // Wide numbers come before narrow ones.
  const [wideLines, wideSlots] = [isFew ? 0 : documents.length, areFewWords ? 0 : slotCount]
  const wide = { lines: cut.uint32(wideLines), slots: cut.uint32(wideSlots) }
  const lines: Numbers = isFew ? cut.uint16(documents.length) : wide.lines
  const slots: Numbers = areFewWords ? cut.uint16(slotCount) : wide.slots
  const words = cut.bytes(wordBytes)
  starts.set(index.starts)
  lines.set(documents)
  wordStarts[0] = 0
  for (let id = 0; id < size; id += 1) wordStarts[id + 1] = vocabulary.end(id)
  yield
  vocabulary.bytes().copy(words, 0, 0, wordBytes)
  slots.fill(0)
  const mask = slots.length - 1
  for (let id = 0; id < size; id += 1) {
    if (id % turn === 0) yield
    let slot = slotOf(hashBytes(words, wordStarts[id] ?? 0, wordStarts[id + 1] ?? 0), mask)
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = id + 1
  }

  /** Whether a word begins so. */
  function begins(id: number, wanted: Buffer): boolean {
    const start = wordStarts[id] ?? 0
    if ((wordStarts[id + 1] ?? 0) - start < wanted.length) return false
    for (let i = 0; i < wanted.length; i += 1) if (words[start + i] !== wanted[i]) return false
    return true
  }

  function find(word: string): number | undefined {
    const wanted = toBytes(word)
    let slot = slotOf(hashBytes(wanted, 0, wanted.length), mask)
    for (let taken = slots[slot] ?? 0; taken !== 0; taken = slots[slot] ?? 0) {
      const length = (wordStarts[taken] ?? 0) - (wordStarts[taken - 1] ?? 0)
      if (length === wanted.length && begins(taken - 1, wanted)) return taken - 1
      slot = (slot + 1) & mask
    }
    return undefined
  }

  /** Words lie side by side, so what is found may begin in one and end in the next. */
  function* findPart(part: Buffer, atEnd: boolean): Generator<number> {
    let id = 0
    for (let at = words.indexOf(part); at >= 0; ) {
      while ((wordStarts[id + 1] ?? 0) <= at) id += 1
      const end = wordStarts[id + 1] ?? 0
      const isFound = atEnd ? at + part.length === end : at + part.length <= end
      if (isFound) yield id
      at = words.indexOf(part, isFound ? end : at + 1)
    }
  }

  function dictionaryOf(documentOf: () => Uint32Array): Dictionary {
    function add(id: number | undefined, to: Bitmap): void {
      if (id === undefined) return
      const documents = documentOf()
      for (let at = starts[id] ?? 0, end = starts[id + 1] ?? 0; at < end; at += 1) {
        setBit(to, documents[lines[at] ?? 0] ?? 0)
      }
    }

    return {
      mayHave: word => find(word) !== undefined,
      documentsOf: word => {
        const id = find(word)
        if (id === undefined) return noDocuments
        const bits = emptyBitmap(lineCount)
        add(id, bits)
        return { bits, count: (starts[id + 1] ?? 0) - (starts[id] ?? 0) }
      },
      addPrefix: (prefix, to) => {
        const wanted = toBytes(prefix)
        for (let id = 0; id < size; id += 1) if (begins(id, wanted)) add(id, to)
        if (wanted.length === maxWordBytes) add(find(longWord), to)
      },
      addPart: (part, atEnd, to) => {
        for (const id of findPart(Buffer.from(part), atEnd)) add(id, to)
        add(find(longWord), to)
      },
      postings: () => undefined,
    }
  }

  return { dictionaryOf, bytes: memory.length }
}

function toBytes(word: string): Buffer {
  return Buffer.from(word).subarray(0, maxWordBytes)
}
