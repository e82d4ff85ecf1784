import { releaseOwn } from '../own-memory.ts'
import { createByteReader } from './bytes.ts'
import type { Decompress } from './decompress.ts'

/**
 * Words in order, and an entry of each, which `dictionary-writer.ts` describes. Words lie in parts that are compressed by
 * themselves, so that whoever looks for one unpacks one part, and entries only where the word is there. Words and entries
 * have little in common, so together they would also take a sixth more.
 *
 * In a file it is: how many parts there are, and of each how many words it has, how long it is, and its first word; then the
 * parts, the words of each ended by a zero byte (no word has one); then the entries of all. Before version 3 it was
 * compressed as a whole: how many bytes the words take, the words, the entries.
 */
export type DictionaryBlock = {
  readonly parts: number
  /** The last part that begins with this word or one before it; the first where none does. */
  readonly partWith: (word: Buffer) => number
  /** Each ended by a zero byte. */
  readonly wordsOf: (part: number) => Buffer
  /** How many words are in the parts before this one. */
  readonly wordsBefore: (part: number) => number
  /** One after the other. */
  readonly entries: () => Buffer
  /** Lets go of what was made of the bytes. */
  readonly leave: () => void
}

/** `at` and `end` count from where the first part begins, `first` and `firstEnd` from where the block does. */
type Part = {
  readonly first: number
  readonly firstEnd: number
  readonly before: number
  readonly at: number
  readonly end: number
}

export function openDictionaryBlock(bytes: Buffer, decompress: Decompress): DictionaryBlock {
  const parts: Part[] = []
  const made: Buffer[] = []
  const reader = createByteReader(bytes)
  let [before, at] = [0, 0]
  for (let left = reader.varint(); left > 0; left -= 1) {
    const [count, size] = [reader.varint(), reader.varint()]
    const length = reader.varint()
    const first = reader.skip(length)
    parts.push({ first, firstEnd: first + length, before, at, end: at + size })
    before += count
    at += size
  }
  const head = reader.at()

  function unpack(from: number, to: number): Buffer {
    const content = decompress(bytes.subarray(head + from, head + to))
    made.push(content)
    return content
  }

  function partOf(index: number): Part {
    const part = parts[index]
    if (part === undefined) throw new RangeError(`there is no part ${index}`)
    return part
  }

  return {
    parts: parts.length,
    partWith: word => {
      const isBehind = ({ first, firstEnd }: Part): boolean =>
        bytes.compare(word, 0, word.length, first, firstEnd) > 0
      let part = parts.length - 1
      while (part > 0 && isBehind(partOf(part))) part -= 1
      return part
    },
    wordsOf: part => unpack(partOf(part).at, partOf(part).end),
    wordsBefore: part => partOf(part).before,
    entries: () => unpack(at, bytes.length - head),
    leave: () => made.forEach(releaseOwn),
  }
}

/** One of a segment before version 3. */
export function openWholeBlock(bytes: Buffer, decompress: Decompress): DictionaryBlock {
  const content = decompress(bytes)
  const length = content.readUInt32LE(0)
  return {
    parts: 1,
    partWith: () => 0,
    wordsOf: () => content.subarray(4, 4 + length),
    wordsBefore: () => 0,
    entries: () => content.subarray(4 + length),
    leave: () => releaseOwn(content),
  }
}
