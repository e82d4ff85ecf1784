import { maxTimeNs } from '../../record.ts'

// Numbers below this are seconds, below 1000 times this milliseconds, below a million times this
// microseconds. Each limit is in the year 5138.
const maxSeconds = 100_000_000_000n
const thousand = 1000n
const billion = 1_000_000_000n

// RFC 3339 and its usual variants: without seconds or a zone, a zone in hours, the name of a zone after
// its offset (Java, Go).
const rfc3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?\s?(?:([Zz]|[+-]\d{2}(?::?\d{2})?)(?:\[[\w/+-]{1,64}\]| [A-Z]{1,5})?|UTC|GMT|)$/
// RFC 2822 and HTTP (`Tue, 10 Oct 2000 13:55:36 -0700`), and Apache's `%t` (`[10/Oct/2000:13:55:36 -0700]`).
const dayFirst =
  /^\[?(?:[A-Z][a-z]{2}, ?)?(\d{1,2})[ /-]([A-Z][a-z]{2})[ /-](\d{4})[ :](\d{2}:\d{2}(?::\d{2})?) (?:([+-]\d{4})|GMT|UTC?|Z)\]?$/
const months = 'JanFebMarAprMayJunJulAugSepOctNovDec'
const decimal = /^(\d{1,19})(?:\.(\d{1,9})\d*)?$/
// The notation for large doubles in JSON.
const scientific = /^(\d)(?:\.(\d+))?[eE]\+?(\d{1,2})$/

/**
 * Parses the time of a log line to nanoseconds since 1970. Accepts RFC 3339 with up to nine
 * fractional digits, also without a time zone, and the formats of RFC 2822 and Apache. Accepts a
 * number of seconds (with up to nine decimals), milliseconds, microseconds or nanoseconds since
 * 1970, distinguished by size.
 *
 * @param input the source text, because a double cannot represent nanoseconds
 * @returns undefined if the time is invalid or before 1970
 */
export function parseTimestamp(input: string): bigint | undefined {
  const common = parseUtc(input)
  if (common !== undefined) return common
  const text = input.trim().replace(dayFirst, toIso)
  const date = rfc3339.exec(text)
  if (date) return fromDate(date)
  const plain = decimal.exec(expand(text))
  if (!plain) return undefined
  const [, whole = '', fraction = ''] = plain
  const count = BigInt(whole)
  if (count < maxSeconds) return count * billion + nanoseconds(fraction)
  if (count < maxSeconds * thousand) return count * 1_000_000n + nanoseconds(fraction) / thousand
  if (count < maxSeconds * 1_000_000n) return count * thousand
  return inRange(count)
}

/** Parses the format of container runtimes without allocations; undefined for others. */
function parseUtc(text: string): bigint | undefined {
  const end = text.length - 1
  if (end < 19 || end > 29 || !text.endsWith('Z') || text[10] !== 'T') return undefined
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':') return undefined
  if (end > 19 && (text[19] !== '.' || end === 20)) return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)]
  const fraction = end > 19 ? digits(text, 20, end) * 10 ** (29 - end) : 0
  if (!(year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 28)) return undefined
  if (!(hour <= 23 && minute <= 59 && second <= 59 && fraction >= 0)) return undefined
  const seconds = Date.UTC(year, month - 1, day, hour, minute, second) / 1000
  return inRange(BigInt(seconds) * billion + BigInt(fraction))
}

/** Parses decimal digits; NaN if there are other characters. */
function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let i = from; i < to; i += 1) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return Number.NaN
    value = 10 * value + digit
  }
  return value
}

function fromDate(parts: RegExpExecArray): bigint | undefined {
  const [, date = '', time = '', second = '00', fraction = '', zone = ''] = parts
  // A time without a zone is UTC.
  const [, hours, minutes = '00'] = /^([+-]\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`
  // A leap second is the first second of the next minute, as in POSIX.
  const isLeap = second === '60'
  const ms = Date.parse(`${date}T${time}:${isLeap ? '59' : second}${offset}`) + (isLeap ? 1000 : 0)
  // Date.parse accepts the 30th of February and 24:00, and converts them to the next day.
  if (!(ms >= 0) || !isCalendarDate(date) || time.startsWith('24')) return undefined
  return inRange(BigInt(ms) * 1_000_000n + nanoseconds(fraction))
}

function isCalendarDate(date: string): boolean {
  // Every month has the days 1 to 28.
  if (date.slice(8) <= '28') return true
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function nanoseconds(fraction: string): bigint {
  return BigInt(fraction.padEnd(9, '0'))
}

function toIso(_: string, day: string, month: string, year: string, time: string, zone = 'Z'): string {
  const index = months.indexOf(month)
  return `${year}-${String(index % 3 === 0 ? index / 3 + 1 : 0).padStart(2, '0')}-${day.padStart(2, '0')}T${time}${zone}`
}

function inRange(count: bigint): bigint | undefined {
  return count <= maxTimeNs ? count : undefined
}

function expand(text: string): string {
  const parts = scientific.exec(text)
  if (!parts) return text
  const [, lead = '', decimals = '', exponent = ''] = parts
  const digits = (lead + decimals).padEnd(Number(exponent) + 1, '0')
  const whole = digits.slice(0, Number(exponent) + 1)
  const rest = digits.slice(Number(exponent) + 1)
  return rest === '' ? whole : `${whole}.${rest}`
}
