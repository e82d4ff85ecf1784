import { expect } from 'chai'
import { stringifyExactly } from './stringify.ts'

describe('stringifyExactly', () => {
  const table: readonly [unknown, string][] = [
    [9_007_199_254_740_993n, '9007199254740993'],
    [-(2n ** 80n), '-1208925819614629174706176'],
    [{ a: [1n, 2.5, undefined], b: undefined, c: -0 }, '{"a":[1,2.5,null],"c":-0}'],
    [undefined, 'null'],
    ['\u2028"', '"\u2028\\""'],
  ]
  for (const [value, json] of table)
    it(`writes ${json}`, () => expect(stringifyExactly(value)).to.equal(json))

  for (const value of [Number.NaN, [Number.POSITIVE_INFINITY]]) {
    it(`rejects ${value}, which JSON.stringify turns into null`, () => {
      expect(() => stringifyExactly(value)).to.throw(RangeError, 'JSON has no such number')
    })
  }
})
