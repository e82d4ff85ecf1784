import { expect } from 'chai'
import { thrownFields } from '../apierrors/fixtures.ts'
import { bucketStart, fillBuckets, type Interval, nextBucket, parseInterval } from './histogram-interval.ts'

describe('parseInterval', () => {
  const valid: readonly [string, Interval][] = [
    ['1s', { kind: 'fixed', ms: 1000 }],
    ['15m', { kind: 'fixed', ms: 900_000 }],
    ['2h', { kind: 'fixed', ms: 7_200_000 }],
    ['1d', { kind: 'fixed', ms: 86_400_000 }],
    ['1w', { kind: 'week' }],
    ['2w', { kind: 'fixed', ms: 1_209_600_000 }],
    ['1M', { kind: 'months', months: 1 }],
    ['1q', { kind: 'months', months: 3 }],
    ['1y', { kind: 'months', months: 12 }],
  ]
  for (const [text, expected] of valid) {
    it(`reads ${text}`, () => expect(parseInterval(text)).to.deep.equal(expected))
  }

  const form = 'expected a whole number of at least 1 and a unit: s, m, h, d, w, M, q or y'
  const invalid: readonly [string, string][] = [
    ...['', '15', 'm', '0m', '-1m', '1.5h', '1 m', '15min', '1D', '1000000000000s'].map(
      text => [text, `interval: ${JSON.stringify(text)}: ${form}`] as [string, string],
    ),
    ['2M', 'interval: "2M": months, quarters and years are only supported as 1M, 1q and 1y'],
    ['999999w', 'interval: "999999w" is longer than ten years'],
  ]
  for (const [text, message] of invalid) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(thrownFields(() => parseInterval(text))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }
})

describe('bucketStart and nextBucket', () => {
  const rows: readonly [string, string, string, string][] = [
    ['15m', '2026-11-21T09:44:59.999Z', '2026-11-21T09:30:00Z', '2026-11-21T09:45:00Z'],
    ['1d', '2026-11-21T09:44:59Z', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'],
    ['1w', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['1w', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
    ['1M', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['1q', '2026-11-21T09:44:59Z', '2026-10-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['1y', '2024-02-29T00:00:00Z', '2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z'],
  ]
  for (const [interval, time, start, next] of rows) {
    it(`puts ${time} with interval ${interval} into the bucket that begins at ${start}`, () => {
      const parsed = parseInterval(interval)
      expect(bucketStart(parsed, Date.parse(time))).to.equal(Date.parse(start))
      expect(nextBucket(parsed, Date.parse(start))).to.equal(Date.parse(next))
    })
  }
})

describe('fillBuckets', () => {
  const minute = parseInterval('1m')

  it('adds the empty buckets between the first and the last', () => {
    const counts = new Map([
      [180_000, 2],
      [60_000, 1],
    ])
    expect(fillBuckets(minute, counts, 3)).to.deep.equal([
      { timeMs: 60_000, count: 1 },
      { timeMs: 120_000, count: 0 },
      { timeMs: 180_000, count: 2 },
    ])
  })

  it('returns no bucket for no records', () => expect(fillBuckets(minute, new Map(), 3)).to.deep.equal([]))

  it('rejects more buckets than the limit', () => {
    const counts = new Map([
      [0, 1],
      [180_000, 1],
    ])
    expect(thrownFields(() => fillBuckets(minute, counts, 3))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message: 'interval is too short: there would be more than 3 buckets; choose a longer one',
    })
  })
})
