import { formatTime } from '../../rfc3339.ts'
import {
  formatDuration,
  formatIpv4,
  formatNumber,
  parseDecimal,
  parseDuration,
  parseInteger,
  parseIpv4,
  parseTime,
} from '../numbers.ts'
import type { Bucket } from '../query.ts'

const nsPerDay = 86_400_000_000_000n

/** Returns the start of the bucket of a value; a value that is not numeric is its own bucket. */
export function bucketStart(value: string, bucket: Bucket): string {
  if (!/^[-\d]/.test(value)) return value
  const integer = parseInteger(value)
  const { size, offset } = { size: whole(bucket.size) || 1n, offset: whole(bucket.offset) }
  if (integer !== undefined) return String(truncate(integer, size, offset))
  const decimal = parseDecimal(value)
  if (decimal !== undefined) return formatNumber(truncateDecimal(decimal, bucket))
  const time = parseTime(value)
  if (time !== undefined) return formatTime(bucketOfTime(time, bucket))
  const address = parseIpv4(value)
  if (address !== undefined) return formatIpv4(Math.max(0, Number(truncate(BigInt(address), size, offset))))
  const duration = parseDuration(value)
  return duration === undefined ? value : formatDuration(truncate(whole(duration), size, offset))
}

function whole(value: number): bigint {
  return BigInt(Math.trunc(value))
}

function truncate(value: bigint, size: bigint, offset: bigint): bigint {
  const shifted = value + offset
  return shifted - (((shifted % size) + size) % size) - offset
}

/** Returns the start of the bucket of a time. @param time in nanoseconds since 1970 */
export function bucketOfTime(time: bigint, { size, offset, unit }: Bucket): bigint {
  const shift = whole(offset)
  if (unit !== 'month' && unit !== 'year') {
    // 1970 began on a Thursday, three days after a Monday.
    return truncate(time, whole(size) || 1n, unit === 'week' ? shift + 3n * nsPerDay : shift)
  }
  const date = new Date(Number((time + shift) / 1_000_000n))
  const start = Date.UTC(date.getUTCFullYear(), unit === 'month' ? date.getUTCMonth() : 0)
  return BigInt(start) * 1_000_000n - shift
}

function truncateDecimal(value: number, { size, offset }: Bucket): number {
  // Both are scaled to integers, so that 0.3 is a multiple of 0.1. As in VictoriaLogs, zeros at the
  // end of the size are removed before the value is rounded down.
  const [, zeros = '', decimals = ''] = /(0*)(?:\.(\d+))?$/.exec(formatNumber(size)) ?? []
  const exponent = decimals === '' ? -zeros.length : decimals.length
  const scaled = Math.floor(scale(value + offset, exponent))
  return scale(scaled - (scaled % Math.round(scale(size, exponent))), -exponent) - offset
}

/** Multiplies by a power of ten. Divides for a negative exponent, because 0.1 is not exact. */
function scale(value: number, exponent: number): number {
  return exponent < 0 ? value / 10 ** -exponent : value * 10 ** exponent
}
