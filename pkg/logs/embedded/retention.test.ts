import { expect } from 'chai'
import type { StoredSegment } from './manifest.ts'
import { findExpired, findSmall, firstKeptDay } from './retention.ts'

const segment = (file: string, day: number, more: Partial<StoredSegment> = {}): StoredSegment => ({
  file,
  day,
  count: 10,
  bytes: 100,
  lastSequence: 1,
  ...more,
})
const files = (segments: readonly StoredSegment[]) => segments.map(({ file }) => file)
const nowMs = 100 * 86_400_000 + 5

describe('firstKeptDay', () => {
  it('counts today', () => {
    expect(firstKeptDay({ days: 1, bytes: 0 }, nowMs)).to.equal(100)
    expect(firstKeptDay({ days: 7, bytes: 0 }, nowMs)).to.equal(94)
  })
})

describe('findExpired', () => {
  const segments = [
    segment('d100-new', 100, { lastSequence: 9 }),
    segment('d98', 98),
    segment('d99-a', 99),
    segment('d100-old', 100, { lastSequence: 5 }),
    segment('d99-b', 99),
  ]
  const rows: readonly [string, { days: number; bytes: number }, readonly string[]][] = [
    ['nothing while all fits', { days: 7, bytes: 500 }, []],
    ['days that are too old', { days: 2, bytes: 500 }, ['d98']],
    ['the oldest day when it is too much', { days: 7, bytes: 499 }, ['d98']],
    ['a day as a whole', { days: 7, bytes: 399 }, ['d98', 'd99-a', 'd99-b']],
    ['of the last day what arrived first', { days: 7, bytes: 199 }, ['d98', 'd99-a', 'd99-b', 'd100-old']],
    [
      'everything when nothing fits',
      { days: 7, bytes: 0 },
      ['d98', 'd99-a', 'd99-b', 'd100-old', 'd100-new'],
    ],
  ]
  for (const [what, retention, expected] of rows) {
    it(`finds ${what}`, () => expect(files(findExpired(segments, retention, nowMs))).to.deep.equal(expected))
  }
})

describe('findSmall', () => {
  const limit = { lines: 100, bytes: 1e6 }
  it('takes small segments of one day, as many as fit together', () => {
    const segments = [
      segment('a', 1, { count: 30 }),
      segment('large', 1, { count: 60 }),
      segment('b', 1, { count: 20 }),
      segment('c', 1, { count: 25 }),
      segment('d', 1, { count: 50 }),
    ]
    expect(files(findSmall(segments, limit, 3))).to.deep.equal(['b', 'c', 'a'])
  })

  it('takes no more text together than it is told', () => {
    const segments = [100, 200, 300, 400, 600].map((textBytes, i) =>
      segment(`s${i}`, 1, { count: 10 + i, textBytes }),
    )
    expect(files(findSmall(segments, { lines: 1000, bytes: 1000 }, 3))).to.deep.equal([
      's0',
      's1',
      's2',
      's3',
    ])
    expect(findSmall(segments, { lines: 1000, bytes: 500 }, 3)).to.deep.equal([])
  })

  it('takes what an older manifest says nothing of for eight times its size on the disk', () => {
    const segments = ['a', 'b', 'c'].map(file => segment(file, 1, { count: 10, bytes: 100 }))
    expect(findSmall(segments, { lines: 1000, bytes: 2399 }, 3)).to.deep.equal([])
    expect(files(findSmall(segments, { lines: 1000, bytes: 2400 }, 3))).to.deep.equal(['a', 'b', 'c'])
  })

  it('leaves few alone, and days apart', () => {
    expect(
      findSmall([segment('a', 1), segment('b', 1), segment('c', 2), segment('d', 2)], limit, 3),
    ).to.deep.equal([])
  })
})
