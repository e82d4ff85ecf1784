import { expect } from 'chai'
import fc from 'fast-check'
import { parseExactly } from './parse-exactly.ts'
import { stringifyExactly } from './stringify.ts'

describe('parseExactly', () => {
  const table: readonly [string, unknown][] = [
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    [' [ -9223372036854775808 , 1.5 ] ', [-9_223_372_036_854_775_808n, 1.5]],
    [
      '{"a":{"b":18446744073709551615},"c":"12345678901234567890","d":1e30}',
      { a: { b: 2n ** 64n - 1n }, c: '12345678901234567890', d: 1e30 },
    ],
    ['{"a":1,"a":[9007199254740993,{},[]]}', { a: [9_007_199_254_740_993n, {}, []] }],
  ]
  for (const [json, value] of table) {
    it(`reads ${json}`, () => expect(parseExactly(json)).to.deep.equal(value))
  }

  it('parses what JSON.parse parses, and preserves integers', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value, big) => {
        const json = `[${JSON.stringify(value)},${big},1234567890123456]`
        const [first, second] = Object.values(parseExactly(json) ?? {})
        expect(JSON.parse(stringifyExactly(first))).to.deep.equal(JSON.parse(JSON.stringify(value)))
        expect(stringifyExactly(second)).to.equal(String(big))
      }),
    )
  })

  it('returns objects with own properties only, with any name', () => {
    const read = parseExactly('{"__proto__":{"polluted":1234567890123456789},"a":1}')
    expect(Object.keys(read ?? {})).to.deep.equal(['__proto__', 'a'])
    expect(Object.getPrototypeOf(read)).to.equal(Object.prototype)
  })

  for (const json of ['', '{', '[1234567890123456,]', '01234567890123456']) {
    it(`rejects ${json}`, () => expect(() => parseExactly(json)).to.throw(SyntaxError))
  }
})
