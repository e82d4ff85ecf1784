import { expect } from 'chai'
import { isLater } from './resource-version.ts'

describe('isLater', () => {
  const rows: readonly [string, string, boolean][] = [
    ['10', '9', true],
    ['9', '10', false],
    ['101', '100', true],
    ['100', '100', false],
    ['18446744073709551615', '9223372036854775807', true],
  ]
  for (const [a, b, later] of rows)
    it(`${a} ${later ? 'is' : 'is not'} later than ${b}`, () => expect(isLater(a, b)).to.equal(later))
})
