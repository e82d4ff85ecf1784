import type { Test } from '../expression.ts'
import { fold } from '../words.ts'
import { type Bitmap, emptyBitmap, or, setBit } from './bitmap.ts'
import { foldTable } from './word-index.ts'

/** Texts as they came in, one after the other in UTF-8: line i is from starts[i] up to starts[i + 1]. */
export type TextColumn = {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  /** Which document each line is. */
  readonly documents: () => Uint32Array
}

/** What is looked for, a byte a character; `whole` tells which of its ends must be ends of a word. */
type Pattern = {
  readonly text: string
  /** The words that stand behind it, whatever is between them. */
  readonly following: readonly string[]
  readonly folds: boolean
  readonly whole: { readonly start: boolean; readonly end: boolean }
  /** A line that has it surely passes the test. */
  readonly isAll: boolean
}

type Verdict = 'yes' | 'unsure' | 'no'

const chunkBytes = 64 * 1024
/** U+212A, the only character beyond ASCII that folds to one of ASCII: a `k`. */
export const kelvin = Buffer.from('\u212a').toString('latin1')

/**
 * Looks through many lines at once, as bytes: `must` surely pass, `may` is all that could; undefined when bytes do not tell. A
 * search through a large string takes a small part of the time that a look at each line does.
 */
export function scanTexts(column: TextColumn, test: Test): { must: Bitmap; may: Bitmap } | undefined {
  const pattern = toPattern(test)
  if (pattern === undefined) return undefined
  const { bytes, starts } = column
  const documents = column.documents()
  const count = starts.length - 1
  const must = emptyBitmap(count)
  const unsure = emptyBitmap(count)
  let isExact = true

  function note(line: number, verdict: Verdict): void {
    if (verdict === 'no') return
    if (verdict === 'yes' && pattern?.isAll) setBit(must, documents[line] ?? 0)
    else {
      setBit(unsure, documents[line] ?? 0)
      isExact = false
    }
  }

  for (let first = 0; first < count; ) {
    const offset = starts[first] ?? 0
    let end = first + 1
    while (end < count && (starts[end + 1] ?? 0) - offset <= chunkBytes) end += 1
    const raw = bytes.toString('latin1', offset, starts[end])
    // This also changes bytes beyond ASCII, of which none is looked for where case does not matter.
    const text = pattern.folds ? raw.toLowerCase() : raw
    const lines = { text, starts, offset, first, end }
    scanLines(lines, pattern, note)
    if (pattern.folds && [pattern.text, ...pattern.following].some(word => word.includes('k')))
      noteKelvin(lines, note)
    first = end
  }
  return isExact ? { must, may: must } : { must, may: or(must, unsure) }
}

type Chunk = {
  readonly text: string
  readonly starts: Uint32Array
  /** Where the text begins among all bytes. */
  readonly offset: number
  readonly first: number
  readonly end: number
}

function scanLines(chunk: Chunk, pattern: Pattern, note: (line: number, verdict: Verdict) => void): void {
  const { text, starts, offset, first } = chunk
  let line = first
  for (let at = text.indexOf(pattern.text); at !== -1; ) {
    while ((starts[line + 1] ?? 0) - offset <= at) line += 1
    const verdict = judge(text, at, pattern, (starts[line] ?? 0) - offset, (starts[line + 1] ?? 0) - offset)
    note(line, verdict)
    at = text.indexOf(pattern.text, verdict === 'yes' ? (starts[line + 1] ?? 0) - offset : at + 1)
  }
}

/** Whether what was found at a place, in a line from `start` up to `end`, is what is wanted. */
function judge(text: string, at: number, pattern: Pattern, start: number, end: number): Verdict {
  const { whole, following } = pattern
  let after = at + pattern.text.length
  if (after > end) return 'no'
  const before = whole.start && at > start ? roleAt(text, at - 1) : 'none'
  if (before === 'part') return 'no'
  for (const word of following) {
    const next = nextWord(text, after, end)
    if (typeof next === 'string') return next
    after = next + word.length
    if (after > end || !text.startsWith(word, next)) return 'no'
  }
  const behind = whole.end && after < end ? roleAt(text, after) : 'none'
  if (behind === 'part') return 'no'
  return before === 'none' && behind === 'none' ? 'yes' : 'unsure'
}

/** Where the word behind one that ends here begins; `no` when it does not end here. */
function nextWord(text: string, after: number, end: number): number | 'no' | 'unsure' {
  let at = after
  while (at < end && roleAt(text, at) === 'none') at += 1
  if (at < end && roleAt(text, at) === 'unsure') return 'unsure'
  return at === after ? 'no' : at
}

type Role = 'none' | 'part' | 'unsure'

/** Whether a byte belongs to a word; a character beyond ASCII may or may not. */
function roleAt(text: string, at: number): Role {
  const byte = foldTable[text.charCodeAt(at)]
  return byte === 0 ? 'none' : byte === 0xff ? 'unsure' : 'part'
}

function noteKelvin(
  { text, starts, offset, first }: Chunk,
  note: (line: number, verdict: Verdict) => void,
): void {
  let line = first
  for (let at = text.indexOf(kelvin); at !== -1; at = text.indexOf(kelvin, at + 1)) {
    while ((starts[line + 1] ?? 0) - offset <= at) line += 1
    note(line, 'unsure')
  }
}

function toPattern(test: Test): Pattern | undefined {
  if (test.kind === 'words') return toPhrase(test.words.map(fold), test.prefix)
  if (test.kind !== 'contains' || test.text === '') return undefined
  const part = { following: [], whole: { start: false, end: false }, isAll: true }
  if (test.caseSensitive) {
    if (!test.text.isWellFormed()) return undefined
    return { text: Buffer.from(test.text).toString('latin1'), folds: false, ...part }
  }
  const text = fold(test.text)
  return isAscii(text) ? { text, folds: true, ...part } : undefined
}

/** All of a phrase in ASCII; of others the longest word that is, and the rest is looked for in the lines that have it. */
function toPhrase(words: readonly string[], prefix: boolean): Pattern | undefined {
  const known = words.map((word, i) => ({ word, i })).filter(({ word }) => /^[a-z0-9]+$/.test(word))
  const isAll = known.length === words.length
  const wanted = isAll ? known[0] : known.toSorted((a, b) => b.word.length - a.word.length)[0]
  if (wanted === undefined) return undefined
  const following = isAll ? words.slice(1) : []
  const end = !(prefix && wanted.i + following.length === words.length - 1)
  return { text: wanted.word, following, folds: true, whole: { start: true, end }, isAll }
}

export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
