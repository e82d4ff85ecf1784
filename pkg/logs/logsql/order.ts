import { parseInteger, parseNumber, parseTime } from './numbers.ts'

/** A value with its possible interpretations, for sorting. */
export type SortKey = {
  readonly text: string
  readonly integer: bigint | undefined
  readonly time: bigint | undefined
  readonly number: number | undefined
}

export function sortKey(text: string): SortKey {
  const integer = parseInteger(text)
  const time = integer === undefined ? parseTime(text) : undefined
  return { text, integer, time, number: time === undefined ? parseNumber(text) : undefined }
}

/**
 * Compares values. Integers, times and numbers are compared by size, other values in natural order
 * (runs of digits by their numeric value). Negative if `a` comes first.
 */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a.text === b.text) return 0
  return (
    compareSizes(a.integer, b.integer) ??
    compareSizes(a.time, b.time) ??
    compareSizes(a.number, b.number) ??
    compareNatural(a.text, b.text)
  )
}

function compareSizes<T extends bigint | number>(a: T | undefined, b: T | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined
  return a < b ? -1 : a > b ? 1 : 0
}

export function compareNatural(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  if (at === length) return a.length - b.length
  // Goes back to the start of a run of digits, which is compared as a whole.
  while (at > 0 && isDigit(a.charCodeAt(at - 1))) at -= 1
  const [m, n] = [digitsAt(a, at), digitsAt(b, at)]
  // Digits come before all other characters.
  if ((m === '') !== (n === '')) return m === '' ? 1 : -1
  return m === '' ? (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0) : compareDigits(m, n)
}

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39
}

function digitsAt(text: string, at: number): string {
  let end = at
  while (isDigit(text.charCodeAt(end))) end += 1
  return text.slice(at, end)
}

function compareDigits(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+(?=\d)/, ''), b.replace(/^0+(?=\d)/, '')]
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : a.length - b.length)
}

/** Compares strings by their UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
