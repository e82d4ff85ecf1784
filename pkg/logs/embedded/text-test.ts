import type { Test } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { createByteSearch } from '../regex/automaton.ts'
import { compileRegex } from '../regex/program.ts'
import { parseRegex } from '../regex/syntax.ts'
import { fold } from '../words.ts'
import { isAscii, kelvin } from './text-scan.ts'
import { foldTable } from './word-index.ts'

// As much as a block of a segment has.
const stringBytes = 64 * 1024

/** A test of the text from `start` up to `end`. */
export type TextTest = (bytes: Buffer, start: number, end: number) => boolean

/**
 * A test of a line as it is stored, in UTF-8. It agrees with createTest, which it falls back on; but most lines need not become
 * a string first.
 */
export function createTextTest(test: Test): TextTest {
  if (test.kind === 'regex') {
    const program = compileRegex(parseRegex(test.source), test.caseSensitive)
    if (program !== undefined) return createByteSearch(program, test.caseSensitive)
  }
  const slow = createTest(test)
  const fallback: TextTest = (bytes, start, end) => slow(bytes.toString('utf8', start, end))
  if (test.kind === 'words') return createPhraseTest(test.words.map(fold), test.prefix, fallback)
  if (test.kind === 'contains' && test.caseSensitive && test.text.isWellFormed()) {
    return createPartTest(Buffer.from(test.text))
  }
  if (test.kind === 'contains' && !test.caseSensitive && isAscii(test.text)) {
    return createFoldedPartTest(fold(test.text), fallback)
  }
  return fallback
}

/** Texts that lie one after the other are looked through as one. */
function createPartTest(wanted: Buffer): TextTest {
  let within: Buffer | undefined
  let from = 0
  let found = 0
  return (bytes, start, end) => {
    if (bytes !== within || start < from || found < start) {
      const at = bytes.indexOf(wanted, start)
      within = bytes
      from = start
      found = at === -1 ? Number.POSITIVE_INFINITY : at
    }
    return found + wanted.length <= end
  }
}

/** The same without case, of ASCII: texts become one string, a byte a character. */
function createFoldedPartTest(wanted: string, fallback: TextTest): TextTest {
  let within: Buffer | undefined
  let text = ''
  let isPlain = true
  /** Where the string begins and ends among the bytes. */
  let [first, last] = [0, 0]
  let from = 0
  let found = 0

  function read(bytes: Buffer, start: number, end: number): void {
    within = bytes
    first = from = start
    last = Math.max(end, Math.min(start + stringBytes, bytes.length))
    text = bytes.toString('latin1', first, last).toLowerCase()
    isPlain = !wanted.includes('k') || !text.includes(kelvin)
  }

  return (bytes, start, end) => {
    const isOther = bytes !== within || start < first || end > last
    if (isOther) read(bytes, start, end)
    if (!isPlain) return fallback(bytes, start, end)
    if (isOther || start < from || found < start) {
      const at = text.indexOf(wanted, start - first)
      from = start
      found = at === -1 ? Number.POSITIVE_INFINITY : first + at
    }
    return found + wanted.length <= end
  }
}

function createPhraseTest(phrase: readonly string[], prefix: boolean, fallback: TextTest): TextTest {
  const words = phrase.map(word => Buffer.from(word))
  const last = words.length - 1
  const starts: number[] = []
  const ends: number[] = []

  /** Where the words of a text lie; false when it is not ASCII alone. */
  function findWords(text: Buffer, start: number, end: number): boolean {
    starts.length = 0
    ends.length = 0
    let isWithin = false
    for (let at = start; at < end; at += 1) {
      const byte = text[at] ?? 0
      if (byte >= 0x80) return false
      const belongs = foldTable[byte] !== 0
      if (belongs === isWithin) continue
      if (belongs) starts.push(at)
      else ends.push(at)
      isWithin = belongs
    }
    if (isWithin) ends.push(end)
    return true
  }

  function isWord(text: Buffer, index: number, wanted: Buffer, isPrefix: boolean): boolean {
    const start = starts[index] ?? 0
    const length = (ends[index] ?? 0) - start
    if (isPrefix ? length < wanted.length : length !== wanted.length) return false
    for (let i = 0; i < wanted.length; i += 1) if (foldTable[text[start + i] ?? 0] !== wanted[i]) return false
    return true
  }

  return (text, start, end) => {
    if (!findWords(text, start, end)) return fallback(text, start, end)
    for (let from = 0; from + last < starts.length; from += 1) {
      if (words.every((word, i) => isWord(text, from + i, word, prefix && i === last))) return true
    }
    return words.length === 0
  }
}
