import { expect } from 'chai'
import { formatAge } from './age.ts'

const now = Date.parse('2031-05-06T07:08:09Z')
const minute = 60
const hour = 3600
const day = 86_400
const year = 365 * day

describe('formatAge', () => {
  const table: readonly [number, string][] = [
    [-1000, '<invalid>'],
    [-2, '<invalid>'],
    [-1.5, '0s'],
    [-1, '0s'],
    [-0.5, '0s'],
    [0, '0s'],
    [0.9, '0s'],
    [1, '1s'],
    [59, '59s'],
    [60, '60s'],
    [119, '119s'],
    [2 * minute, '2m'],
    [2 * minute + 1, '2m1s'],
    [9 * minute + 59, '9m59s'],
    [10 * minute, '10m'],
    [10 * minute + 59, '10m'],
    [179 * minute + 59, '179m'],
    [3 * hour, '3h'],
    [3 * hour + 59, '3h'],
    [3 * hour + 12 * minute, '3h12m'],
    [8 * hour - 1, '7h59m'],
    [8 * hour, '8h'],
    [8 * hour + 59 * minute, '8h'],
    [48 * hour - 1, '47h'],
    [2 * day, '2d'],
    [2 * day + 59 * minute, '2d'],
    [2 * day + hour, '2d1h'],
    [8 * day - 1, '7d23h'],
    [8 * day, '8d'],
    [2 * year - 1, '729d'],
    [2 * year, '2y'],
    [2 * year + 23 * hour, '2y'],
    [2 * year + day, '2y1d'],
    [8 * year - 1, '7y364d'],
    [8 * year, '8y'],
    [40 * year + 200 * day, '40y'],
  ]
  for (const [seconds, expected] of table) {
    it(`formats ${seconds} seconds as ${expected}`, () => {
      expect(formatAge(new Date(now - seconds * 1000).toISOString(), now)).to.equal(expected)
    })
  }

  for (const since of ['', 'yesterday', 'null']) {
    it(`returns <unknown> for ${JSON.stringify(since)}`, () => {
      expect(formatAge(since, now)).to.equal('<unknown>')
    })
  }
})
