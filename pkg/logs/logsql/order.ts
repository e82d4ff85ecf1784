import { parseInteger, parseNumber, parseTime } from './numbers.ts'

/** A value, and what it is as a number of some kind. */
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
 * The order of values: integers, times and numbers by their size, all else as natural sorting has
 * it (runs of digits by their number). Negative when `a` comes first.
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

const digits = /\d+/y

export function compareNatural(a: string, b: string): number {
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [m, n] = [digitsAt(a, i), digitsAt(b, j)]
    // A digit comes before anything else.
    if ((m === '') !== (n === '')) return m === '' ? 1 : -1
    const order = m === '' ? (a.codePointAt(i) ?? 0) - (b.codePointAt(j) ?? 0) : compareDigits(m, n)
    if (order !== 0) return order
    const width = m === '' ? ((a.codePointAt(i) ?? 0) > 0xffff ? 2 : 1) : m.length
    i += width
    j += width
  }
  return a.length - i - (b.length - j)
}

function digitsAt(text: string, at: number): string {
  digits.lastIndex = at
  return digits.exec(text)?.[0] ?? ''
}

function compareDigits(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+(?=\d)/, ''), b.replace(/^0+(?=\d)/, '')]
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : a.length - b.length)
}

/** The order of texts by their bytes in UTF-8. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
