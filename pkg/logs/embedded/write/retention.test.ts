import { expect } from 'chai'
import { findExpired, firstKeptDay, timeRejection } from './retention.ts'

const nowMs = 100 * 86_400_000 + 5

describe('firstKeptDay', () => {
  it('includes today', () => {
    expect(firstKeptDay({ days: 1 }, nowMs)).to.equal(100)
    expect(firstKeptDay({ days: 7 }, nowMs)).to.equal(94)
  })
})

describe('timeRejection', () => {
  const dayNs = 86_400_000_000_000n
  const range = 'the time is not between the years 1970 and 2262'
  const rows: readonly [timeNs: bigint, reason: string | undefined][] = [
    [-1n, range],
    [2n ** 63n, range],
    [2n ** 63n - 1n, undefined],
    [100n * dayNs, undefined],
    [100n * dayNs - 1n, 'the time is before 1970-04-11; older lines are not stored'],
  ]
  for (const [timeNs, reason] of rows) {
    it(`rejects ${timeNs} ns as ${reason ?? 'nothing'}`, () =>
      expect(timeRejection(timeNs, 100)).to.equal(reason))
  }
})

describe('findExpired', () => {
  const ids = ['1970-04-09.000', '1970-04-10.000', '1970-04-10.001', '1970-04-11.000', '1970-04-11.001']
  const partitions = ids.map(id => ({ id, bytes: 100 }))
  const rows: readonly [what: string, retention: { days: number; bytes: number }, expired: number][] = [
    ['nothing while everything fits', { days: 7, bytes: 500 }, 0],
    ['days that are too old', { days: 2, bytes: 500 }, 1],
    ['the oldest day when the store is too large', { days: 7, bytes: 499 }, 1],
    ['as many days as are needed', { days: 7, bytes: 299 }, 3],
    ['expired days first, then the oldest', { days: 2, bytes: 399 }, 2],
    ['the earliest arrivals when only the last day is left', { days: 7, bytes: 199 }, 4],
    ['everything when nothing fits', { days: 7, bytes: 0 }, 5],
  ]
  for (const [what, retention, expired] of rows) {
    it(`finds ${what}`, () =>
      expect(findExpired(partitions, retention, nowMs)).to.deep.equal(ids.slice(0, expired)))
  }
})
