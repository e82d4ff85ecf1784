import { compileRegex } from '../regex/compile.ts'
import { toLowerCase } from './letter-case.ts'
import { parseIpv4, parseValue } from './numbers.ts'
import { compareBytes } from './order.ts'
import type { RangeBound, ValueTest } from './query.ts'

const ofWord = /^[\p{L}\p{Nd}_]$/u

/** Compiles a test to a function that tests one value. A missing field has the value ''. */
export function createValueTest(test: ValueTest): (value: string) => boolean {
  switch (test.kind) {
    case 'phrase':
      return inCase(test.anyCase, test.text, text => value => hasPhrase(value, text))
    case 'prefix':
      return inCase(test.anyCase, test.text, text => value => hasPrefix(value, text))
    case 'substring':
      return value => value.includes(test.text)
    case 'exact':
      return value => value === test.text
    case 'exactPrefix':
      return value => value.startsWith(test.text)
    case 'regexp':
      return createRegexpTest(test.source)
    case 'in': {
      const values = new Set(test.values)
      return value => values.has(value)
    }
    case 'containsAll':
      return value => test.values.every(phrase => phrase === '' || hasPhrase(value, phrase))
    case 'containsAny':
      return value => test.values.some(phrase => phrase === '' || hasPhrase(value, phrase))
    case 'sequence':
      return value => hasSequence(value, test.values)
    case 'range':
      return createRangeTest(test.min, test.max)
    case 'stringRange':
      return value =>
        compareStart(value, test.min) >= 0 && (test.max === undefined || compareStart(value, test.max) < 0)
    case 'lengthRange':
      return value => hasLength(value, test.min, test.max)
    case 'ipv4Range':
      return value => {
        const address = parseIpv4(value)
        return address !== undefined && address >= test.min && address <= test.max
      }
  }
}

function inCase(
  anyCase: boolean,
  text: string,
  create: (text: string) => (value: string) => boolean,
): (value: string) => boolean {
  if (!anyCase) return create(text)
  const passes = create(toLowerCase(text))
  return value => passes(toLowerCase(value))
}

/** Regular expressions without operators are searched as text, which is much faster. */
function createRegexpTest(source: string): (value: string) => boolean {
  if (/^[\p{L}\p{N}_ -]*$/u.test(source)) return value => value.includes(source)
  return compileRegex(source, true, 'strict')
}

/** Compares values. Cuts off a long value after the characters that can affect the result. */
function compareStart(value: string, other: string): number {
  return compareBytes(value.slice(0, other.length + 1), other)
}

function createRangeTest(min: RangeBound, max: RangeBound): (value: string) => boolean {
  return text => {
    const value = parseValue(text)
    return (
      (min.isIncluded ? value >= min.value : value > min.value) &&
      (max.isIncluded ? value <= max.value : value < max.value)
    )
  }
}

/** Reports whether a text has `min` to `max` code points. Counts them only if necessary. */
function hasLength(value: string, min: number, max: number): boolean {
  if (value.length < min || value.length > 2 * max) return false
  const length = value.length - (value.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0)
  return length >= min && length <= max
}

/** Reports whether an ASCII code belongs to a word; called for every character. */
function isAsciiWord(code: number): boolean {
  const letter = code | 0x20
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f
}

/** Reports whether the code point before an index belongs to a word. */
function isWordBefore(text: string, at: number): boolean {
  const code = text.charCodeAt(at - 1)
  if (code < 0x80) return isAsciiWord(code)
  return ofWord.test(text.slice(code >= 0xdc00 && code <= 0xdfff ? at - 2 : at - 1, at))
}

function isWordAfter(text: string, at: number): boolean {
  const code = text.codePointAt(at)
  if (code === undefined) return false
  return code < 0x80 ? isAsciiWord(code) : ofWord.test(String.fromCodePoint(code))
}

const restOfWord = /[\p{L}\p{Nd}_]*/uy

/** Returns the end of the word that continues at an index. No other word can begin before it. */
function skipWord(text: string, from: number): number {
  restOfWord.lastIndex = from
  restOfWord.test(text)
  return restOfWord.lastIndex
}

/** Returns the index of a phrase from `from` on, or -1. If `isOpen`, its last word may continue. */
function findPhrase(value: string, phrase: string, from = 0, isOpen = false): number {
  const startsWord = isWordAfter(phrase, 0)
  const endsWord = !isOpen && isWordBefore(phrase, phrase.length)
  let next = from
  for (let at = value.indexOf(phrase, from); at !== -1; at = value.indexOf(phrase, next)) {
    next = at + 1
    if (startsWord && at > from && isWordBefore(value, at)) {
      next = skipWord(value, next)
      continue
    }
    if (endsWord && isWordAfter(value, at + phrase.length)) continue
    return at
  }
  return -1
}

function hasPhrase(value: string, phrase: string): boolean {
  return phrase === '' ? value === '' : findPhrase(value, phrase) !== -1
}

function hasPrefix(value: string, prefix: string): boolean {
  return prefix === '' ? value !== '' : findPhrase(value, prefix, 0, true) !== -1
}

function hasSequence(value: string, phrases: readonly string[]): boolean {
  let at = 0
  for (const phrase of phrases) {
    if (phrase === '') continue
    const found = findPhrase(value, phrase, at)
    if (found === -1) return false
    at = found + phrase.length
  }
  return true
}
