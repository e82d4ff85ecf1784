import { expect } from 'chai'
import fc from 'fast-check'
import { indentJson } from './indent.ts'

describe('indentJson', () => {
  it('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1), (value, blanks) => {
        const expected = JSON.stringify(value, null, 2)
        expect(indentJson(JSON.stringify(value, null, blanks))).to.equal(expected)
        expect(indentJson(JSON.stringify(value), '  ')).to.equal(expected.replaceAll('\n', '\n  '))
      }),
      { numRuns: 500, seed: 5 },
    )
  })

  it('preserves the text and the order of numbers, escapes and keys', () => {
    const json =
      '{"b":9007199254740993,"10":[1.0,1e3,-0],"9":"\\u003ca\\u003e\\u2028/","b":{ },"__proto__":{}}'
    expect(indentJson(json)).to.equal(
      [
        '{',
        '  "b": 9007199254740993,',
        '  "10": [',
        '    1.0,',
        '    1e3,',
        '    -0',
        '  ],',
        '  "9": "\\u003ca\\u003e\\u2028/",',
        '  "b": {},',
        '  "__proto__": {}',
        '}',
      ].join('\n'),
    )
  })

  it('indents a deep value in linear time, without recursion', () => {
    const json = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    const text = indentJson(json)
    expect(text.length).to.be.below(json.length + 20_000)
    expect(text.replaceAll(/\s/g, '')).to.equal(json)
  })
})
