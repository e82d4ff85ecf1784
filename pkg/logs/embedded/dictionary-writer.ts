import { crc32 } from 'node:zlib'
import { release } from '../own-memory.ts'
import { createByteWriter } from './bytes.ts'
import { createBlockWriter } from './dictionary-block-writer.ts'
import { dictionaryBlockBytes, type Footer, type Output, useCompressed } from './segment-format.ts'
import { createWordFilter } from './word-filter.ts'
import type { WordIndex } from './word-index.ts'

// What a call to the compressor costs at least is soon more than what it saves.
const worthPacking = 256

/**
 * An entry of a word is twice the number of its documents, plus one when its list is a bitmap. When there is one document,
 * that and the word's positions in it follow; else the length of the list, and twice the length of the positions, plus one
 * when those are compressed. The lists follow the last block, in the order of the words, each with its positions; the filter
 * of all words is behind them.
 */
export function writeDictionary(
  index: WordIndex,
  count: number,
  output: Output,
): Required<Pick<Footer, 'dictionary' | 'filter'>> {
  const { vocabulary, starts, documents, placeStarts, positions } = index
  const arena = vocabulary.bytes()
  const lists = createByteWriter(1 << 20)
  const pieces: Mutable<Footer['dictionary'][number]>[] = []
  const block = createBlockWriter()
  const entries = createByteWriter(dictionaryBlockBytes)
  const plain = createByteWriter(1 << 16)
  const bitmap = Buffer.allocUnsafeSlow(4 * ((count + 31) >>> 5))
  let first = ''
  let listsBefore = 0

  function finishBlock(): void {
    pieces.push({ ...block.finish(entries.view(), output), first, lists: listsBefore })
    entries.clear()
    listsBefore = lists.length()
  }

  /** Adds the positions to the lists. */
  function writePositions(from: number, to: number): void {
    plain.clear()
    for (let i = from; i < to; i += 1) plain.varint(positions[i] ?? 0)
    const bytes = plain.view()
    const write = (part: Buffer): void => {
      lists.bytes(part)
      entries.varint(2 * part.length + (part === bytes ? 0 : 1))
    }
    if (bytes.length < worthPacking) write(bytes)
    else useCompressed(bytes, packed => write(packed.length < bytes.length ? packed : bytes))
  }

  function writeEntry(id: number): void {
    const from = starts[id] ?? 0
    const end = starts[id + 1] ?? 0
    const placesFrom = placeStarts[id] ?? 0
    const placesEnd = placeStarts[id + 1] ?? 0
    // Most words are in one line alone; a view of what there is of each would be most of the garbage.
    if (end - from === 1) {
      entries.varint(2)
      entries.varint(documents[from] ?? 0)
      for (let i = placesFrom; i < placesEnd; i += 1) entries.varint(positions[i] ?? 0)
      return
    }
    const before = lists.length()
    // A step takes a byte at least, and below one in 128 often two.
    const isBitmap = end - from >= bitmap.length
    if (isBitmap) writeBitmap(from, end)
    else writeSteps(from, end)
    entries.varint(2 * (end - from) + (isBitmap ? 1 : 0))
    entries.varint(lists.length() - before)
    writePositions(placesFrom, placesEnd)
  }

  function writeSteps(from: number, end: number): void {
    let before = 0
    for (let i = from; i < end; i += 1) {
      const document = documents[i] ?? 0
      lists.varint(document - before)
      before = document
    }
  }

  /** One bit for each document of the segment. */
  function writeBitmap(from: number, end: number): void {
    bitmap.fill(0)
    for (let i = from; i < end; i += 1) {
      const document = documents[i] ?? 0
      bitmap[document >>> 3] = (bitmap[document >>> 3] ?? 0) | (1 << (document & 7))
    }
    lists.bytes(bitmap)
  }

  const sorted = vocabulary.sorted()
  const filter = createWordFilter(sorted.length)
  for (let i = 0; i < sorted.length; i += 1) {
    const id = sorted[i] ?? 0
    if (starts[id] === starts[id + 1]) continue
    const from = vocabulary.start(id)
    const to = vocabulary.end(id)
    if (block.isEmpty()) first = arena.toString('latin1', from, to)
    block.add(arena, from, to)
    filter.add(arena, from, to)
    writeEntry(id)
    if (block.isFull()) finishBlock()
  }
  if (!block.isEmpty()) finishBlock()
  const { offset } = output.put(lists.view())
  const stored = { ...output.put(filter.view()), crc: crc32(filter.view()) }
  for (const writer of [lists, entries, block, plain, filter]) writer.release()
  release(sorted)
  release(bitmap)
  return {
    dictionary: pieces.map(piece => ({ ...piece, lists: piece.lists + offset })),
    filter: stored,
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
