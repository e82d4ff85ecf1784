import { type Bitmap, type Documents, noDocuments, setBit } from './bitmap.ts'
import { type Blocks, pass } from './blocks.ts'
import { createByteReader } from './bytes.ts'
import type { Decompress } from './decompress.ts'
import { type DictionaryBlock, openDictionaryBlock, openWholeBlock } from './dictionary-block.ts'
import { addLists } from './near-lists.ts'
import { findPiece, type OpenFooter } from './open-footer.ts'
import type { PieceCache } from './piece-cache.ts'
import { addDocuments, type Posting } from './postings.ts'
import type { Piece } from './segment-format.ts'
import type { Source } from './source.ts'
import { toWordDocuments, type WordDocuments } from './word-documents.ts'
import { longWord, maxWordBytes } from './word-index.ts'
import { numberOf, numbersThatBegin, numbersThatHave } from './word-numbers.ts'

/** Which documents of a segment have a word. Bitmaps that are given are added to. */
export type Dictionary = {
  /** Whether it may have this word, as far as that can be told without a look into a file. */
  readonly mayHave: (word: string) => boolean
  /** Those that have exactly this word. Their bits are not to be changed, and have no length when there are none. */
  readonly documentsOf: (word: string) => Documents
  readonly addPrefix: (prefix: string, to: Bitmap) => void
  /** Words that contain a part; at their end, with `atEnd`. */
  readonly addPart: (part: string, atEnd: boolean, to: Bitmap) => void
  /** Of this word, or of all that begin so; undefined when positions were not kept, or there are more words than `limit`. */
  readonly postings: (word: string, prefix: boolean, limit: number) => readonly Posting[] | undefined
}

type Access = Pick<Source, 'read' | 'use'> & {
  /** As they are in the file. */
  readonly blocks: Blocks
  readonly decompress: Decompress
  /** Whether it may have a word, by its bytes. */
  readonly mayHave: (word: Uint8Array) => boolean
  /** What was found of words before. */
  readonly known: Pick<PieceCache, 'find' | 'keep'>
}

export function openDictionary(footer: OpenFooter, access: Access): Dictionary {
  const { dictionary, version } = footer
  const { blocks, read, use, decompress } = access
  const openBlock = version < 3 ? openWholeBlock : openDictionaryBlock
  const zero = Buffer.of(0)

  /** For whoever reads on in it later. */
  const keep: Open = (index, look) =>
    look(openBlock(blocks.get(`words/${index}`, dictionary.at(index)), decompress))

  const through: Open = (index, look) => {
    const passing = blocks.enter(`words/${index}`, dictionary.at(index))
    const block = openBlock(passing.bytes, decompress)
    look(block)
    block.leave()
    pass(passing)
  }

  /** Tells of some words of a block. Nothing is made for those between. */
  function walk(index: number, entries: Buffer, { from, to, has }: Some, { only, list }: Walk): void {
    const reader = createByteReader(entries)
    let offset = dictionary.listsAt(index)
    for (let number = 0; number < to; number += 1) {
      const isWanted = number >= from && has(number)
      const head = reader.varint()
      const size = reader.varint()
      if (head === 2) {
        const at = reader.at()
        passPositions(reader)
        if (isWanted) only(size, at, reader.at())
        continue
      }
      const tail = version > 1 ? reader.varint() : 0
      if (isWanted) list(head, offset, size, tail)
      offset += size + Math.floor(tail / 2)
    }
  }

  function visitEntries(index: number, block: DictionaryBlock, some: Some, visit: Visit): void {
    const entries = block.entries()
    walk(index, entries, some, {
      only(document, at, end) {
        const positions = (): Buffer => entries.subarray(at, end)
        visit({ head: 2, only: document, list: positions, positions })
      },
      list(head, offset, length, tail) {
        visit(toPosting(head, { offset, length }, Math.floor(tail / 2), tail % 2 === 1))
      },
    })
  }

  function addEntries(index: number, block: DictionaryBlock, some: Some, to: Bitmap): void {
    const lists = addLists(use, to)
    walk(index, block.entries(), some, { only: document => setBit(to, document), list: lists.add })
    lists.finish()
  }

  function passPositions(reader: { readonly varint: () => number }): void {
    if (version === 1) return
    while (reader.varint() % 2 === 1);
  }

  function toPosting(head: number, list: Piece, length: number, isPacked: boolean): Posting {
    const positions = (): Buffer => {
      const bytes = read({ offset: list.offset + list.length, length })
      return isPacked ? decompress(bytes) : bytes
    }
    return { head, only: 0, list: () => read(list), positions }
  }

  /** @param open how the block with the word is looked at, as in all that follows */
  function visitWord(word: string, open: Open, visit: Visit): void {
    const wanted = Buffer.from(word, 'latin1')
    if (!access.mayHave(wanted)) return
    const index = findPiece(dictionary, word)
    if (index < 0) return
    open(index, block => {
      const number = numberOf(block, wanted)
      if (number >= 0) visitEntries(index, block, { from: number, to: number + 1, has: always }, visit)
    })
  }

  function usePrefix(key: string, open: Open, useWords: Use): void {
    const wanted = Buffer.from(key, 'latin1')
    for (let index = Math.max(findPiece(dictionary, key), 0); index < dictionary.count; index += 1) {
      const first = dictionary.firstAt(index)
      if (first > key && !first.startsWith(key)) break
      open(index, block => {
        const { from, to } = numbersThatBegin(block, wanted)
        if (from < to) useWords(index, block, { from, to, has: always })
      })
    }
  }

  function documentsOf(word: string): Documents {
    const key = toKey(word)
    let found = access.known.find<WordDocuments>(key)
    if (found === undefined) {
      visitWord(key, through, posting => {
        found = toWordDocuments(posting, footer.count)
        access.known.keep(key, found, found.bytes)
      })
    }
    return found === undefined ? noDocuments : { bits: found.bits(), count: found.count }
  }

  return {
    mayHave: word => access.mayHave(Buffer.from(toKey(word), 'latin1')),
    documentsOf,
    addPrefix: (prefix, to) => {
      const key = toKey(prefix)
      usePrefix(key, through, (index, block, some) => addEntries(index, block, some, to))
      if (key.length === maxWordBytes) visitWord(longWord, through, posting => addDocuments(posting, to))
    },
    addPart: (part, atEnd, to) => {
      const bytes = Buffer.from(part)
      const wanted = atEnd ? Buffer.concat([bytes, zero]) : bytes
      for (let index = 0; index < dictionary.count; index += 1) {
        through(index, block => {
          const numbers = numbersThatHave(block, wanted)
          if (numbers.length > 0) addEntries(index, block, among(numbers), to)
        })
      }
      visitWord(longWord, through, posting => addDocuments(posting, to))
    },
    postings: (word, prefix, limit) => {
      if (version === 1) return undefined
      const found: Posting[] = []
      const collect: Visit = posting => found.push(posting)
      // Positions are read later, out of the blocks themselves.
      if (prefix)
        usePrefix(toKey(word), keep, (index, block, some) => visitEntries(index, block, some, collect))
      else visitWord(toKey(word), keep, collect)
      return found.length > limit ? undefined : found
    },
  }
}

type Visit = (posting: Posting) => void
type Walk = {
  /** A word of one document: that, and where among the entries its positions are. */
  readonly only: (document: number, at: number, end: number) => void
  /** A word of several: as a Posting has it; `tail` is twice the length of its positions, plus one when they are packed. */
  readonly list: (head: number, offset: number, length: number, tail: number) => void
}
/** Words of a block, by their numbers: from `from` up to `to` those that it has, asked in order. */
type Some = { readonly from: number; readonly to: number; readonly has: (number: number) => boolean }
/** Looks at a block. */
type Open = (index: number, look: (block: DictionaryBlock) => void) => void
type Use = (index: number, block: DictionaryBlock, some: Some) => void

const always = (): boolean => true

/** @param numbers in order */
function among(numbers: readonly number[]): Some {
  let next = 0
  const has = (number: number): boolean => {
    const isNext = number === numbers[next]
    if (isNext) next += 1
    return isNext
  }
  return { from: numbers[0] ?? 0, to: (numbers.at(-1) ?? -1) + 1, has }
}

/** A word as it is kept: its bytes, cut, as one character each. */
function toKey(word: string): string {
  return Buffer.from(word).subarray(0, maxWordBytes).toString('latin1')
}
