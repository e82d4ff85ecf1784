import type { DictionaryBlock } from './dictionary-block.ts'
import { countWords, numbersWith, placeOf, rangeOf } from './word-places.ts'

// The words of a block are numbered from 0 on, in all of its parts.

/** -1 when it is not there. */
export function numberOf(block: DictionaryBlock, word: Buffer): number {
  const part = block.partWith(word)
  const words = block.wordsOf(part)
  const place = placeOf(words, word)
  return place < 0 ? -1 : block.wordsBefore(part) + countWords(words, 0, place)
}

/** The words that begin with something: from `from` up to `to`. */
export function numbersThatBegin(
  block: DictionaryBlock,
  prefix: Buffer,
): { readonly from: number; readonly to: number } {
  let from: number | undefined
  let to = 0
  for (let part = block.partWith(prefix); part < block.parts; part += 1) {
    const words = block.wordsOf(part)
    const range = rangeOf(words, prefix)
    const before = block.wordsBefore(part) + countWords(words, 0, range.from)
    const count = countWords(words, range.from, range.to)
    if (count > 0) from ??= before
    to = before + count
    // A word that is behind all that begin so.
    if (range.to < words.length) break
  }
  return { from: from ?? to, to }
}

/** The words with a text within, in order. */
export function numbersThatHave(block: DictionaryBlock, text: Buffer): readonly number[] {
  const numbers: number[] = []
  for (let part = 0; part < block.parts; part += 1) {
    const before = block.wordsBefore(part)
    for (const number of numbersWith(block.wordsOf(part), text)) numbers.push(before + number)
  }
  return numbers
}
