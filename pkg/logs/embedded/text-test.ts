import type { Test } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { fold } from '../words.ts'
import { foldTable } from './word-index.ts'

/**
 * A test of a line as it is stored, in UTF-8. It agrees with createTest, which it falls back on; but most lines are ASCII,
 * and need not become a string first.
 */
export function createTextTest(test: Test): (text: Buffer) => boolean {
  const slow = createTest(test)
  const fallback = (text: Buffer): boolean => slow(text.toString())
  if (test.kind === 'words') return createPhraseTest(test.words.map(fold), test.prefix, fallback)
  if (test.kind === 'contains' && test.caseSensitive && test.text.isWellFormed()) {
    const wanted = Buffer.from(test.text)
    return text => text.includes(wanted)
  }
  return fallback
}

function createPhraseTest(
  phrase: readonly string[],
  prefix: boolean,
  fallback: (text: Buffer) => boolean,
): (text: Buffer) => boolean {
  const words = phrase.map(word => Buffer.from(word))
  const last = words.length - 1
  const starts: number[] = []
  const ends: number[] = []

  /** Where the words of a text lie; false when it is not ASCII alone. */
  function findWords(text: Buffer): boolean {
    starts.length = 0
    ends.length = 0
    let isWithin = false
    for (let at = 0; at < text.length; at += 1) {
      const byte = text[at] ?? 0
      if (byte >= 0x80) return false
      const belongs = foldTable[byte] !== 0
      if (belongs === isWithin) continue
      if (belongs) starts.push(at)
      else ends.push(at)
      isWithin = belongs
    }
    if (isWithin) ends.push(text.length)
    return true
  }

  function isWord(text: Buffer, index: number, wanted: Buffer, isPrefix: boolean): boolean {
    const start = starts[index] ?? 0
    const length = (ends[index] ?? 0) - start
    if (isPrefix ? length < wanted.length : length !== wanted.length) return false
    for (let i = 0; i < wanted.length; i += 1) if (foldTable[text[start + i] ?? 0] !== wanted[i]) return false
    return true
  }

  return text => {
    if (!findWords(text)) return fallback(text)
    for (let from = 0; from + last < starts.length; from += 1) {
      if (words.every((word, i) => isWord(text, from + i, word, prefix && i === last))) return true
    }
    return words.length === 0
  }
}
