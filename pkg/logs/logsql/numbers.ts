const nsOf: Readonly<Record<string, number>> = {
  ns: 1,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
  d: 86_400e9,
  w: 7 * 86_400e9,
  y: 365 * 86_400e9,
}
// Maximum length of a number in any notation: the longest doubles have more than 300 digits.
const longest = 400
const plain = /^-?(?:0|[1-9][\d_]*)(?:\.[\d_]+)?$/
const unsigned = /^(?:0|[1-9][\d_]*)(?:\.[\d_]+)?$/
// As in Go, an underscore may separate two digits.
const digits = String.raw`\d+(?:_\d+)*`
const general = new RegExp(
  String.raw`^[+-]?(?:${digits}(?:\.(?:${digits})?)?|\.${digits})(?:[eE][+-]?${digits})?$`,
)
const based = /^([+-]?)(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+)$/
const durationPart = /([\d._]+)(ns|µs|ms|s|m|h|d|w|y)/gy
const sizePart = /([\d._]+)([KMGT]i?B?|B|$)/gy

/**
 * Parses a number as LogsQL reads values: decimal, a duration (in nanoseconds) or a size (in
 * bytes).
 *
 * @returns undefined if it is not a number
 */
export function parseNumber(text: string): number | undefined {
  if (text.length === 0 || text.length > longest) return undefined
  const first = text.charCodeAt(0)
  const isDigit = first >= 0x30 && first <= 0x39
  if (!isDigit && !'+-.iI'.includes(text[0] ?? '')) return undefined
  if (plain.test(text)) return Number(text.replaceAll('_', ''))
  return parseDuration(text) ?? parseSize(text) ?? parseGeneral(text)
}

export function parseDecimal(text: string): number | undefined {
  if (text.length > longestInteger || !plain.test(text)) return undefined
  const [whole = '', fraction = '0'] = text.replaceAll('_', '').replace('-', '').split('.')
  // As in VictoriaLogs, both parts must be at most 64-bit integers.
  const isDecimal = [whole, fraction].every(part => part.length < 20 || BigInt(part) < 2n ** 64n)
  return isDecimal ? Number(text.replaceAll('_', '')) : undefined
}

function parseGeneral(text: string): number | undefined {
  if (general.test(text)) {
    const value = Number(text.replaceAll('_', ''))
    return Number.isFinite(value) ? value : undefined
  }
  if (/^[+-]?inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  const found = based.exec(text)
  if (found === null) return undefined
  const value = BigInt((found[2] ?? '').replaceAll('_', '')) * (found[1] === '-' ? -1n : 1n)
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined
}

/** Parses a duration such as `1h30m` or `-2.5s` to nanoseconds. */
export function parseDuration(text: string): number | undefined {
  return sumOf(text, durationPart, unit => nsOf[unit] ?? 0)
}

/** Parses a size such as `1.5MiB` or `10KB` to bytes. */
function parseSize(text: string): number | undefined {
  return sumOf(text, sizePart, unit => (unit.includes('i') ? 1024 : 1000) ** 'BKMGT'.indexOf(unit[0] ?? 'B'))
}

function sumOf(text: string, part: RegExp, sizeOf: (unit: string) => number): number | undefined {
  if (text.length > longest) return undefined
  const isNegative = text.startsWith('-')
  let sum = 0
  part.lastIndex = isNegative ? 1 : 0
  if (part.lastIndex === text.length) return undefined
  while (part.lastIndex < text.length) {
    const found = part.exec(text)
    const [, number = '', unit = ''] = found ?? []
    if (found === null || !unsigned.test(number)) return undefined
    const value = Number(number.replaceAll('_', ''))
    if (value >= 2 ** 64 || (unit === '' && !Number.isInteger(value))) return undefined
    sum += Math.trunc(value * sizeOf(unit))
  }
  // As in VictoriaLogs, a larger sum is the largest 64-bit integer, which a double rounds to this.
  sum = Math.min(sum, 2 ** 63)
  return isNegative ? 0 - sum : sum
}

/** Parses a number, a time (to nanoseconds since 1970) or an IPv4 address; NaN for other texts. */
export function parseValue(text: string): number {
  const number = parseNumber(text)
  if (number !== undefined) return number
  const time = parseTime(text)
  return time === undefined ? (parseIpv4(text) ?? Number.NaN) : Number(time)
}

/** Parses an unsigned integer; undefined for other texts. */
export function parseCount(text: string): number | undefined {
  const value = parseNumber(text)
  return value !== undefined && value >= 0 && Number.isSafeInteger(value) ? value : undefined
}

// The longest 64-bit integer, with underscores: -18_446_744_073_709_551_615.
const longestInteger = 27

/** Parses a decimal integer from -2^63 to 2^64 - 1, in which underscores may separate digits. */
export function parseInteger(text: string): bigint | undefined {
  if (text.length > longestInteger || !/^-?(?:0|[1-9][\d_]*)$/.test(text)) return undefined
  const value = BigInt(text.replaceAll('_', ''))
  return value >= -(2n ** 63n) && value < 2n ** 64n ? value : undefined
}

const address = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

export function parseIpv4(text: string): number | undefined {
  const found = address.exec(text)
  if (found === null) return undefined
  const octets = found.slice(1).map(Number)
  return octets.some(octet => octet > 255)
    ? undefined
    : octets.reduce((value, octet) => value * 256 + octet, 0)
}

export function formatIpv4(value: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join('.')
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):?(\d{2}))?$/

/**
 * Parses an RFC 3339 time to nanoseconds since 1970. A time without a zone is UTC. As in
 * VictoriaLogs, the 30th of February is the 2nd of March, and 24:00 is the next day.
 *
 * @returns undefined if it is not a time from 1677-09-21T00:12:44Z to 2262-04-11T23:47:15Z
 */
export function parseTime(text: string): bigint | undefined {
  if (text.length < 19 || text[4] !== '-') return undefined
  const found = rfc3339.exec(text)
  if (found === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour, zoneMinute] = found
  if (Number(zoneHour) > 24 || Number(zoneMinute) > 60) return undefined
  const zone = sign === undefined ? 0 : (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1)
  const clock = [Number(hour), Number(minute) - zone, Number(second)] as const
  const seconds = Date.UTC(Number(year), Number(month) - 1, Number(day), ...clock) / 1000
  // Beyond 64 bits of nanoseconds. Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (Number(year) < 1677 || seconds < -9_223_372_036 || seconds > 9_223_372_035) return undefined
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** Formats a number in decimal, without an exponent. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const text = String(value)
  if (!text.includes('e')) return Object.is(value, -0) ? '-0' : text
  const [mantissa = '', exponent = ''] = text.split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const power = Number(exponent)
  if (power > 0) return sign + (whole + fraction).padEnd(whole.length + power, '0')
  return `${sign}0.${'0'.repeat(-power - 1)}${whole}${fraction}`
}

/** Formats a duration in nanoseconds: `1w2d3h4m5.5s`, `20ms300µs`. */
export function formatDuration(ns: bigint): string {
  if (ns === 0n) return '0'
  let rest = ns < 0n ? -ns : ns
  let text = ns < 0n ? '-' : ''
  const isLong = rest >= 1_000_000_000n
  for (const unit of ['w', 'd', 'h', 'm', ...(isLong ? [] : ['ms', 'µs', 'ns'])]) {
    const size = BigInt(nsOf[unit] ?? 1)
    if (rest >= size) text += `${rest / size}${unit}`
    rest %= size
  }
  // After larger units: seconds with a fraction, or smaller units if less than a second remains.
  if (isLong && rest >= 1_000_000_000n) return `${text}${formatNumber(Number(rest) / 1e9)}s`
  if (isLong && rest > 0n) return text + formatDuration(rest)
  return text
}
