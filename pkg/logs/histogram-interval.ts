import { badRequest } from '../apierrors/status.ts'

/**
 * The width of histogram buckets, in UTC (the `interval` of Elasticsearch 7). Fixed widths count
 * from 1970, weeks begin on Monday, and months, quarters and years follow the calendar.
 */
export type Interval =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'week' }
  | { readonly kind: 'months'; readonly months: number }

export type Bucket = { readonly timeMs: number; readonly count: number }

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const unitMonths: Readonly<Record<string, number>> = { M: 1, q: 3, y: 12 }
const mondayMs = 4 * 86_400_000
const longestMs = 3660 * 86_400_000

/** Parses an interval: a positive integer, then s, m, h, d, w, M, q or y. @throws Status 400 */
export function parseInterval(text: string): Interval {
  const found = /^([0-9]{1,9})([smhdwMqy])$/.exec(text)
  const count = Number(found?.[1])
  const unit = found?.[2] ?? ''
  if (!(count > 0)) {
    throw badRequest(
      `interval: ${JSON.stringify(text)}: expected a whole number of at least 1 and a unit: s, m, h, d, w, M, q or y`,
    )
  }
  const months = unitMonths[unit]
  const ms = count * (unitMs[unit] ?? 0)
  if (months !== undefined && count === 1) return { kind: 'months', months }
  if (months !== undefined)
    throw badRequest(
      `interval: ${JSON.stringify(text)}: months, quarters and years are only supported as 1M, 1q and 1y`,
    )
  if (ms > longestMs) throw badRequest(`interval: ${JSON.stringify(text)} is longer than ten years`)
  return text === '1w' ? { kind: 'week' } : { kind: 'fixed', ms }
}

/** Returns the start of the bucket that contains a time, in milliseconds. */
export function bucketStart(interval: Interval, timeMs: number): number {
  if (interval.kind === 'fixed') return Math.floor(timeMs / interval.ms) * interval.ms
  if (interval.kind === 'week') {
    const week = unitMs.w ?? 0
    return Math.floor((timeMs - mondayMs) / week) * week + mondayMs
  }
  const time = new Date(timeMs)
  const month = Math.floor(time.getUTCMonth() / interval.months) * interval.months
  return Date.UTC(time.getUTCFullYear(), month)
}

export function nextBucket(interval: Interval, startMs: number): number {
  if (interval.kind === 'fixed') return startMs + interval.ms
  if (interval.kind === 'week') return startMs + (unitMs.w ?? 0)
  const time = new Date(startMs)
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + interval.months)
}

/** Returns buckets in order, also empty ones. @throws Status 400 for more than `max` */
export function fillBuckets(
  interval: Interval,
  counts: ReadonlyMap<number, number>,
  max: number,
): readonly Bucket[] {
  const starts = [...counts.keys()].sort((a, b) => a - b)
  const [first, last] = [starts[0], starts.at(-1)]
  if (first === undefined || last === undefined) return []
  const buckets: Bucket[] = []
  for (let at = first; at <= last; at = nextBucket(interval, at)) {
    if (buckets.length === max)
      throw badRequest(`interval is too short: there would be more than ${max} buckets; choose a longer one`)
    buckets.push({ timeMs: at, count: counts.get(at) ?? 0 })
  }
  return buckets
}
