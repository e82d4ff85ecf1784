/**
 * Scanner of valid JSON text (RFC 8259). It returns positions instead of values, which preserves
 * source text: numbers of any size, escapes, key order and duplicate keys.
 */

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Returns the first position from `at` that is not white space. */
export function skipBlank(text: string, at: number): number {
  let i = at
  for (;;) {
    const code = text.charCodeAt(i)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return i
    i++
  }
}

/** Returns the position after the string whose opening quote is at `at`. */
export function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end + 1
}

/** Returns the position after the value at `at`. Not recursive, to support any depth. */
export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === quote) return skipString(text, at)
  let i = at
  if (first !== openBrace && first !== openBracket) {
    while (i < text.length && !endsScalar(text.charCodeAt(i))) i++
    return i
  }
  let depth = 0
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      i = skipString(text, i)
      continue
    }
    i++
    if (code === openBrace || code === openBracket) depth++
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return i
  }
  return i
}

/**
 * Returns the position of the first key or item of a container, or -1 if the container is empty.
 * `at` is the position of the opening bracket.
 */
export function firstIn(text: string, at: number): number {
  const i = skipBlank(text, at + 1)
  const code = text.charCodeAt(i)
  return code === closeBrace || code === closeBracket ? -1 : i
}

/** Returns the position of the key or item after a value that ended at `at`; -1 at the end. */
export function nextIn(text: string, at: number): number {
  const i = skipBlank(text, at)
  return text.charCodeAt(i) === comma ? skipBlank(text, i + 1) : -1
}

/** Returns the position of the value whose key ended at `at`. */
export function valueAfter(text: string, at: number): number {
  return skipBlank(text, skipBlank(text, at) + 1)
}

/** A field of an object or an item of an array. */
export type Child = {
  /** The name of the field, or the index of the item. */
  readonly step: string | number
  /** Position of the key, or of the item itself. */
  readonly start: number
  readonly valueStart: number
}

/**
 * Visits the fields or items of the value at `at`. A scalar has none.
 *
 * @param visit returns the position after the value of the child
 * @returns the position after the whole value
 */
export function eachChild(text: string, at: number, visit: (child: Child) => number): number {
  const isObject = text.charCodeAt(at) === openBrace
  let start = isObject || text.charCodeAt(at) === openBracket ? firstIn(text, at) : -1
  if (start < 0) return skipValue(text, at)
  let end = at
  for (let index = 0; start >= 0; index++) {
    const keyEnd = isObject ? skipString(text, start) : start
    const valueStart = isObject ? valueAfter(text, keyEnd) : start
    end = visit({ step: isObject ? decodeString(text, start, keyEnd) : index, start, valueStart })
    start = nextIn(text, end)
  }
  return skipBlank(text, end) + 1
}

/** Returns the string whose source text, quotes included, is from `start` to `end`. */
export function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner
}

/** Reports whether the quote at `at` is escaped: an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let i = at - 1
  while (text.charCodeAt(i) === backslash) i--
  return (at - i) % 2 === 0
}

function endsScalar(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || code <= 0x20
}
