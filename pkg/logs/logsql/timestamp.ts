import { parseTimestamp } from '../ingest/line/timestamp.ts'
import { parseDuration } from './numbers.ts'

/** A time range in nanoseconds since 1970. `endNs` is inclusive. */
export type Span = { readonly startNs: bigint; readonly endNs: bigint }

const calendar =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9})\d*)?)?)?)?)?)?(?:[Zz]|([+-])(\d{2}):(\d{2}))?$/
const nsPerMs = 1_000_000n

/**
 * Parses a time of the API or of `_time`: `now`, `now-1h`, a duration before now, RFC 3339 or a
 * prefix of it (`2026-11`, UTC without a zone), or a Unix time in seconds to nanoseconds. Returns a
 * range for a time that is less precise than a nanosecond.
 *
 * @returns undefined if it is not a time
 */
export function parseMoment(text: string, nowNs: bigint): Span | undefined {
  const relative = /^now(?:([+-].+))?$/i.exec(text)
  if (relative !== null) {
    const distance = relative[1] === undefined ? 0 : parseDuration(relative[1].replace('+', ''))
    return distance === undefined ? undefined : at(nowNs + BigInt(distance))
  }
  const date = parseCalendar(text)
  if (date !== undefined) return date
  const duration = parseDuration(text)
  if (duration !== undefined) return at(nowNs - BigInt(Math.abs(duration)))
  return /^\d/.test(text) ? parseCount(text) : undefined
}

const unixTime = /^([+-]?)(\d{1,19})(?:\.(\d{1,18}))?(?:[eE]\+?(\d{1,3}))?$/

/**
 * Parses a Unix time in seconds, milliseconds, microseconds or nanoseconds; undefined for a date.
 * With an exponent, it must be a whole number.
 */
export function parseUnixTime(value: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent] = unixTime.exec(value) ?? []
  if (whole === '') return undefined
  const ns =
    exponent === undefined
      ? parseDecimal(whole, fraction)
      : parseScaled(whole + fraction, Number(exponent) - fraction.length)
  return ns !== undefined && sign === '-' ? -ns : ns
}

function parseDecimal(whole: string, fraction: string): bigint | undefined {
  if (fraction.length > 9) return undefined
  return parseTimestamp(fraction === '' ? whole : `${whole}.${fraction}`)
}

function parseScaled(digits: string, zeros: number): bigint | undefined {
  return zeros < 0 || zeros > 18 ? undefined : parseTimestamp(digits + '0'.repeat(zeros))
}

function at(ns: bigint): Span {
  return { startNs: ns, endNs: ns }
}

function parseCount(text: string): Span | undefined {
  const startNs = parseUnixTime(text)
  if (startNs === undefined) return undefined
  if (/e/i.test(text)) return at(startNs)
  const [whole = '', fraction] = text.split('.')
  const digits = fraction === undefined ? whole.length - 10 : fraction.length
  const width = digits <= 0 ? 1_000_000_000n : digits <= 3 ? 1_000_000n : digits <= 6 ? 1000n : 1n
  return { startNs, endNs: startNs + width - 1n }
}

function parseCalendar(text: string): Span | undefined {
  const found = calendar.exec(text)
  if (found === null) return undefined
  const [, year = '', ...rest] = found
  const [month, day, hour, minute, second, fraction, sign, zoneHour, zoneMinute] = rest
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)]
  const clock = [hour, minute, second].map(part => Number(part ?? 0))
  const [h = 0, min = 0, s = 0] = clock
  const isReal = m < 12 && new Date(startOfDay(y, m, d)).getUTCDate() === d && h < 24 && min < 60 && s < 60
  if (!isReal || Number(zoneHour ?? 0) > 24 || Number(zoneMinute ?? 0) > 60) return undefined
  const start = startOfDay(y, m, d) + ((h * 60 + min) * 60 + s) * 1000
  const zone = (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0)) * (sign === '-' ? -60_000 : 60_000)
  const startNs = BigInt(start - zone) * nsPerMs + BigInt((fraction ?? '').padEnd(9, '0'))
  const width =
    day === undefined
      ? BigInt((month === undefined ? startOfDay(y + 1, 0, 1) : startOfDay(y, m + 1, 1)) - start) * nsPerMs
      : widthOf([hour, minute, second], fraction)
  return { startNs, endNs: startNs + width - 1n }
}

/** Returns the start of a day in UTC. Date.UTC would read the years 0 to 99 as 1900 to 1999. */
function startOfDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

const widths = [86_400_000_000_000n, 3_600_000_000_000n, 60_000_000_000n]

/** Returns the length of a range given as an incomplete time of day. */
function widthOf(clock: readonly (string | undefined)[], fraction: string | undefined): bigint {
  const width = widths[clock.indexOf(undefined)]
  if (width !== undefined) return width
  if (fraction === undefined) return 1_000_000_000n
  return fraction.length === 3 ? nsPerMs : fraction.length === 6 ? 1000n : 1n
}
