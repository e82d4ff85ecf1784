import { expect } from 'chai'
import { toSeconds } from './duration.ts'

describe('toSeconds', () => {
  const cases: readonly [unknown, number | undefined][] = [
    ['1h30m', 5400],
    ['10m0s', 600],
    ['1.5s', 2],
    ['300ms', 1],
    ['0s', 0],
    ['0', 0],
    [0, 0],
    [3_600_000_000_000, 3600],
    ['', undefined],
    ['10', undefined],
    ['-1s', undefined],
    ['1 h', undefined],
    [undefined, undefined],
  ]
  for (const [value, expected] of cases) {
    it(`reads ${JSON.stringify(value)}`, () => {
      expect(toSeconds(value)).to.equal(expected)
    })
  }
})
