import type { Expression, Test } from '../expression.ts'
import type { Scope } from '../filter.ts'
import { createTest } from '../matcher.ts'
import { fieldOf } from '../record.ts'
import { requiredTexts } from '../regex/required.ts'
import { parseRegex } from '../regex/syntax.ts'
import { fold, wordRole, wordsOf } from '../words.ts'
import {
  and,
  andNot,
  type Bitmap,
  countBits,
  emptyBitmap,
  isEmpty,
  or,
  rangeBitmap,
  setBit,
} from './bitmap.ts'
import type { Dictionary } from './dictionary.ts'
import { dayOf, timeInDay } from './lines.ts'
import { findSideBySide } from './phrase.ts'
import type { Segment } from './segment.ts'
import { scanTexts } from './text-scan.ts'
import { longWord, manyWords, maxWordBytes } from './word-index.ts'

// So few are sooner read than the positions of frequent words.
const fewLines = 8
const lookFactor = 4

/**
 * What the indexes of a segment say: `must` surely match, `may` is all that could, `must` among them. Where the two are the
 * same nothing needs to be looked at.
 */
export type Candidates = { readonly must: Bitmap; readonly may: Bitmap }

export function findCandidates(segment: Segment, expression: Expression): Candidates {
  if (expression.op === 'match') {
    return expression.field === 'log' ? findText(segment, expression.test) : findStreams(segment, expression)
  }
  if (expression.op === 'not') {
    const { must, may } = findCandidates(segment, expression.operand)
    const every = all(segment)
    return must === may ? exactly(andNot(every, may)) : { must: andNot(every, may), may: andNot(every, must) }
  }
  if (expression.op === 'or') {
    return expression.operands.reduce<Candidates>(
      (found, operand) => join(or, found, findCandidates(segment, operand)),
      none(segment),
    )
  }
  let found: Candidates | undefined
  for (const operand of cheapestFirst(expression.operands)) {
    const next = findCandidates(segment, operand)
    found = found === undefined ? next : join(and, found, next)
    if (isEmpty(found.may)) return none(segment)
  }
  return found ?? exactly(all(segment))
}

/** The documents in a scope; undefined when it is all of them. */
export function findScope(segment: Segment, scope: Scope): Bitmap | undefined {
  if (scope === 'everything') return undefined
  const { footer } = segment
  const permitted = new Map(scope.map(({ namespace, sinceNs }) => [namespace, sinceNs]))
  const bits = emptyBitmap(footer.count)
  footer.streams.forEach(({ namespace }, stream) => {
    const sinceNs = permitted.get(namespace)
    if (sinceNs !== undefined && dayOf(sinceNs) <= footer.day) {
      addStream(segment, stream, bits, dayOf(sinceNs) === footer.day ? timeInDay(sinceNs) : 0)
    }
  })
  return bits
}

function findStreams(segment: Segment, { field, test }: Extract<Expression, { op: 'match' }>): Candidates {
  const bits = emptyBitmap(segment.footer.count)
  const passes = createTest(test)
  segment.footer.streams.forEach((stream, index) => {
    const value = fieldOf({ timeNs: 0n, log: '', ...stream }, field)
    if (value !== undefined && passes(value)) addStream(segment, index, bits, 0)
  })
  return exactly(bits)
}

function addStream(segment: Segment, stream: number, bits: Bitmap, sinceTime: number): void {
  const { streamStarts, footer } = segment
  if (sinceTime > footer.lastTime) return
  const documents = segment.documents()
  const from = sinceTime > footer.firstTime ? segment.lowerBound(sinceTime) : 0
  for (let place = streamStarts[stream] ?? 0, end = streamStarts[stream + 1] ?? 0; place < end; place += 1) {
    const document = documents[place] ?? 0
    if (document >= from) setBit(bits, document)
  }
}

/** A segment with a dictionary. */
type Indexed = { readonly segment: Segment; readonly dictionary: Dictionary }

function findText(segment: Segment, test: Test): Candidates {
  const { dictionary, column } = segment
  if (test.kind === 'regex') {
    const required = requiredTexts(parseRegex(test.source))
    return unsure(segment, required === undefined ? all(segment) : findCandidates(segment, required).may)
  }
  if (dictionary === undefined) {
    return (column && scanTexts(column, test)) ?? unsure(segment, all(segment))
  }
  const found = findIndexed({ segment, dictionary }, test)
  if (column === undefined || found.must === found.may) return found
  // A look at all texts as one costs less than one at each of many.
  const isMany = countBits(found.may, 0, segment.footer.count) * lookFactor > segment.footer.count
  return (isMany ? scanTexts(column, test) : undefined) ?? found
}

function findIndexed(indexed: Indexed, test: Exclude<Test, { kind: 'regex' }>): Candidates {
  const { segment } = indexed
  if (test.kind === 'words') return findPhrase(indexed, test.words.map(fold), test.prefix)
  if (test.kind !== 'contains') return unsure(segment, all(segment))
  const found = findPart(indexed, fold(test.text))
  return test.caseSensitive ? unsure(segment, found.may) : found
}

function findPhrase({ segment, dictionary }: Indexed, words: readonly string[], prefix: boolean): Candidates {
  const { footer } = segment
  let found: Bitmap | undefined
  for (const [i, word] of words.entries()) {
    const bits = emptyBitmap(footer.count)
    if (prefix && i === words.length - 1) dictionary.addPrefix(word, bits)
    else dictionary.addWord(word, bits)
    found = found === undefined ? bits : and(found, bits)
    if (isEmpty(found)) return none(segment)
  }
  if (found === undefined) return exactly(all(segment))
  if (words.some(word => Buffer.byteLength(word) >= maxWordBytes)) return unsure(segment, found)
  if (words.length === 1) return exactly(found)
  if (countBits(found, 0, footer.count) <= fewLines) return unsure(segment, found)
  const together = findSideBySide(dictionary, words, prefix, found)
  if (together === undefined) return unsure(segment, found)
  if (dictionary.countWord(manyWords) === 0) return exactly(together)
  const crowded = emptyBitmap(footer.count)
  dictionary.addWord(manyWords, crowded)
  return { must: andNot(together, crowded), may: or(together, and(found, crowded)) }
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
    if (isEmpty(found)) return none(segment)
  }
  if (found === undefined) return text === '' ? exactly(all(segment)) : unsure(segment, all(segment))
  const isWord =
    words.length === 1 && words[0]?.length === text.length && Buffer.byteLength(text) < maxWordBytes
  return isWord && dictionary.countWord(longWord) === 0 ? exactly(found) : unsure(segment, found)
}

/** The documents with a word that may go on at one end or both. */
function findOpenWord(
  { segment, dictionary }: Indexed,
  word: string,
  open: { readonly start: boolean; readonly end: boolean },
): Bitmap {
  const bits = emptyBitmap(segment.footer.count)
  if (open.start) dictionary.addPart(word, !open.end, bits)
  else if (open.end) dictionary.addPrefix(word, bits)
  else dictionary.addWord(word, bits)
  return bits
}

function all({ footer }: Segment): Bitmap {
  return rangeBitmap(footer.count, 0, footer.count)
}

function none({ footer }: Segment): Candidates {
  return exactly(emptyBitmap(footer.count))
}

function exactly(bits: Bitmap): Candidates {
  return { must: bits, may: bits }
}

function unsure({ footer }: Segment, may: Bitmap): Candidates {
  return isEmpty(may) ? exactly(may) : { must: emptyBitmap(footer.count), may }
}

function join(how: (a: Bitmap, b: Bitmap) => Bitmap, a: Candidates, b: Candidates): Candidates {
  if (a.must === a.may && b.must === b.may) return exactly(how(a.may, b.may))
  return { must: how(a.must, b.must), may: how(a.may, b.may) }
}

/** What selects streams costs little and often leaves nothing. */
function cheapestFirst(operands: readonly Expression[]): readonly Expression[] {
  const cost = (expression: Expression): number => {
    if (expression.op !== 'match') return 2
    if (expression.field !== 'log') return 0
    return expression.test.kind === 'words' ? 1 : 3
  }
  return operands.toSorted((a, b) => cost(a) - cost(b))
}
