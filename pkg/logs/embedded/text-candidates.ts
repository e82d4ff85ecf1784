import type { Test } from '../expression.ts'
import { fold, wordRole, wordsOf } from '../words.ts'
import { and, andNot, type Bitmap, countBits, emptyBitmap, isEmpty, or } from './bitmap.ts'
import { all, type Candidates, exactly, none, unsure } from './candidate-sets.ts'
import type { Dictionary } from './dictionary.ts'
import { findSideBySide } from './phrase.ts'
import type { Segment } from './segment.ts'
import { scanTexts } from './text-scan.ts'
import { longWord, manyWords, maxWordBytes } from './word-index.ts'

// So few are sooner read than the positions of frequent words.
const fewLines = 8
const lookFactor = 4

type PlainTest = Exclude<Test, { kind: 'regex' }>

/** A segment with a dictionary. */
type Indexed = { readonly segment: Segment; readonly dictionary: Dictionary }

/** The documents with a text that passes, as far as the words of a segment tell. */
export function findText(segment: Segment, test: PlainTest): Candidates {
  const { dictionary, column } = segment
  if (dictionary === undefined) {
    return (column && scanTexts(column, test)) ?? unsure(segment, all(segment))
  }
  const found = findIndexed({ segment, dictionary }, test)
  if (column === undefined || found.must === found.may) return found
  // A look at all texts as one costs less than one at each of many.
  const isMany = countBits(found.may, 0, segment.footer.count) * lookFactor > segment.footer.count
  return (isMany ? scanTexts(column, test) : undefined) ?? found
}

function findIndexed(indexed: Indexed, test: PlainTest): Candidates {
  const { segment } = indexed
  if (test.kind === 'words') {
    const words = test.words.map(fold)
    const [first] = words
    const isWord = words.length === 1 && first !== undefined && !test.prefix
    return isWord ? findWord(indexed, first) : findPhrase(indexed, words, test.prefix)
  }
  if (test.kind !== 'contains') return unsure(segment, all(segment))
  const found = findPart(indexed, fold(test.text))
  return test.caseSensitive ? unsure(segment, found.may) : found
}

function findWord({ segment, dictionary }: Indexed, word: string): Candidates {
  const { bits, count } = dictionary.documentsOf(word)
  return Buffer.byteLength(word) >= maxWordBytes ? unsure(segment, bits) : exactly(bits, count)
}

function findPhrase({ segment, dictionary }: Indexed, words: readonly string[], prefix: boolean): Candidates {
  const { footer } = segment
  let found: Bitmap | undefined
  for (const [i, word] of words.entries()) {
    const isOpen = prefix && i === words.length - 1
    const bits = isOpen ? withPrefix(segment, dictionary, word) : dictionary.documentsOf(word).bits
    found = found === undefined ? bits : and(found, bits)
    if (isEmpty(found)) return none
  }
  if (found === undefined) return exactly(all(segment))
  if (words.some(word => Buffer.byteLength(word) >= maxWordBytes)) return unsure(segment, found)
  if (words.length === 1) return exactly(found)
  if (countBits(found, 0, footer.count) <= fewLines) return unsure(segment, found)
  const together = findSideBySide(dictionary, words, prefix, found)
  if (together === undefined) return unsure(segment, found)
  const crowded = dictionary.documentsOf(manyWords)
  if (crowded.count === 0) return exactly(together)
  return { must: andNot(together, crowded.bits), may: or(together, and(found, crowded.bits)) }
}

/** A text anywhere: the words within it are whole, but for those at its ends. */
function findPart(indexed: Indexed, text: string): Candidates {
  const { segment, dictionary } = indexed
  const words = wordsOf(text)
  const openStart = wordRole(text.codePointAt(0) ?? 0) === 'part'
  const openEnd = wordRole([...text].at(-1)?.codePointAt(0) ?? 0) === 'part'
  let found: Bitmap | undefined
  for (const [i, word] of words.entries()) {
    const ends = { start: openStart && i === 0, end: openEnd && i === words.length - 1 }
    // Only a look at every word can tell which ones end with something; the other words mostly say enough.
    if (ends.start && !ends.end && words.length > 1) continue
    const bits = findOpenWord(indexed, word, ends)
    found = found === undefined ? bits : and(found, bits)
    if (isEmpty(found)) return none
  }
  if (found === undefined) return text === '' ? exactly(all(segment)) : unsure(segment, all(segment))
  const isWord =
    words.length === 1 && words[0]?.length === text.length && Buffer.byteLength(text) < maxWordBytes
  return isWord && dictionary.documentsOf(longWord).count === 0 ? exactly(found) : unsure(segment, found)
}

/** The documents with a word that may go on at one end or both. */
function findOpenWord(
  { segment, dictionary }: Indexed,
  word: string,
  open: { readonly start: boolean; readonly end: boolean },
): Bitmap {
  if (!open.start) return open.end ? withPrefix(segment, dictionary, word) : dictionary.documentsOf(word).bits
  const bits = emptyBitmap(segment.footer.count)
  dictionary.addPart(word, !open.end, bits)
  return bits
}

function withPrefix(segment: Segment, dictionary: Dictionary, prefix: string): Bitmap {
  const bits = emptyBitmap(segment.footer.count)
  dictionary.addPrefix(prefix, bits)
  return bits
}
