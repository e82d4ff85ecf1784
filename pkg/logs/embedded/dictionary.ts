import { type Bitmap, emptyBitmap, setBit } from './bitmap.ts'
import { createByteReader } from './bytes.ts'
import type { Footer, Piece } from './segment-format.ts'
import { maxWordBytes } from './word-index.ts'

/** Which documents of a segment have a word. Bitmaps that are given are added to. */
export type Dictionary = {
  readonly addWord: (word: string, to: Bitmap) => void
  readonly addPrefix: (prefix: string, to: Bitmap) => void
  /** Words that contain a part; at their end, with `atEnd`. */
  readonly addPart: (part: string, atEnd: boolean, to: Bitmap) => void
  /** How many documents have exactly this word; undefined when only a bitmap can tell. */
  readonly countWord: (word: string) => number | undefined
}

type Block = { readonly words: Buffer; readonly entries: Buffer }
type Access = {
  /** Decompressed. */
  readonly block: (index: number, piece: Piece) => Buffer
  /** As it stands in the file. */
  readonly list: (piece: Piece) => Buffer
}

export function openDictionary({ dictionary, count }: Footer, access: Access): Dictionary {
  const zero = Buffer.of(0)

  function load(index: number): Block {
    const piece = dictionary[index]
    if (piece === undefined) return { words: Buffer.alloc(0), entries: Buffer.alloc(0) }
    const bytes = access.block(index, piece)
    const length = bytes.readUInt32LE(0)
    return { words: bytes.subarray(4, 4 + length), entries: bytes.subarray(4 + length) }
  }

  /** The last block whose first word is not above this one. */
  function find(word: string): number {
    let [low, high] = [0, dictionary.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((dictionary[middle]?.first ?? '') <= word) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Adds the documents of the words with these numbers within a block, which ascend. */
  function addEntries(index: number, { entries }: Block, numbers: readonly number[], to: Bitmap): void {
    const reader = createByteReader(entries)
    let list = dictionary[index]?.lists ?? 0
    let next = 0
    for (let number = 0; next < numbers.length; number += 1) {
      const head = reader.varint()
      const size = reader.varint()
      const wanted = number === numbers[next]
      if (wanted) next += 1
      if (head === 2) {
        if (wanted) setBit(to, size)
        continue
      }
      if (wanted) addList(access.list({ offset: list, length: size }), head, to)
      list += size
    }
  }

  function addMatching(
    index: number,
    from: number,
    select: (words: Buffer) => readonly number[],
    to: Bitmap,
  ): void {
    const block = load(index)
    const starts = select(block.words.subarray(from))
    if (starts.length === 0) return
    addEntries(
      index,
      block,
      numbersOf(
        block.words,
        starts.map(start => start + from),
      ),
      to,
    )
  }

  function addWord(word: string, to: Bitmap): void {
    const index = find(word)
    if (index < 0) return
    const wanted = Buffer.from(word, 'latin1')
    addMatching(index, 0, words => wholeWord(words, wanted), to)
  }

  function wholeWord(words: Buffer, wanted: Buffer): readonly number[] {
    const bare = Buffer.concat([wanted, zero])
    if (words.subarray(0, bare.length).equals(bare)) return [0]
    const at = words.indexOf(Buffer.concat([zero, bare]))
    return at < 0 ? [] : [at + 1]
  }

  return {
    addWord: (word, to) => addWord(toKey(word), to),
    addPrefix: (prefix, to) => {
      const key = toKey(prefix)
      const wanted = Buffer.from(key, 'latin1')
      const after = Buffer.concat([zero, wanted])
      for (let index = Math.max(find(key), 0); index < dictionary.length; index += 1) {
        const first = dictionary[index]?.first ?? ''
        if (first > key && !first.startsWith(key)) break
        addMatching(
          index,
          0,
          words => [
            ...(words.subarray(0, wanted.length).equals(wanted) ? [0] : []),
            ...positions(words, after, 1),
          ],
          to,
        )
      }
      if (wanted.length === maxWordBytes) addWord('', to)
    },
    addPart: (part, atEnd, to) => {
      const bytes = Buffer.from(part)
      const wanted = atEnd ? Buffer.concat([bytes, zero]) : bytes
      for (let index = 0; index < dictionary.length; index += 1) {
        addMatching(index, 0, words => positions(words, wanted, 0), to)
      }
      addWord('', to)
    },
    countWord: word => {
      const key = toKey(word)
      const index = find(key)
      if (index < 0) return 0
      const block = load(index)
      const [start] = wholeWord(block.words, Buffer.from(key, 'latin1'))
      if (start === undefined) return 0
      const [number = 0] = numbersOf(block.words, [start])
      const reader = createByteReader(block.entries)
      for (let i = 0; i < number; i += 1) {
        reader.varint()
        reader.varint()
      }
      return reader.varint() >>> 1
    },
  }

  function addList(list: Buffer, head: number, to: Bitmap): void {
    if (head % 2 === 1) {
      const words = new Uint32Array(
        list.buffer.slice(list.byteOffset, list.byteOffset + emptyBitmap(count).byteLength),
      )
      for (let i = 0; i < words.length; i += 1) to[i] = (to[i] ?? 0) | (words[i] ?? 0)
      return
    }
    let document = 0
    let at = 0
    for (let left = head >>> 1; left > 0; left -= 1) {
      let byte = list[at++] ?? 0
      let step = byte & 0x7f
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = list[at++] ?? 0
        step |= (byte & 0x7f) << shift
      }
      document += step
      setBit(to, document)
    }
  }
}

/** A word as it is kept: its bytes, cut, as one character each. */
function toKey(word: string): string {
  return Buffer.from(word).subarray(0, maxWordBytes).toString('latin1')
}

function positions(words: Buffer, wanted: Buffer, shift: number): readonly number[] {
  const found: number[] = []
  for (let at = words.indexOf(wanted); at >= 0; at = words.indexOf(wanted, at + 1)) {
    // Where the last word ends there is no other that could begin.
    if (at + shift < words.length) found.push(at + shift)
  }
  return found
}

/** The numbers of the words at these places, each once. */
function numbersOf(words: Buffer, places: readonly number[]): readonly number[] {
  const numbers: number[] = []
  let number = 0
  let at = 0
  for (const place of places) {
    for (; at < place; at += 1) if (words[at] === 0) number += 1
    if (numbers.at(-1) !== number) numbers.push(number)
  }
  return numbers
}
