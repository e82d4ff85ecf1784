import { expect } from 'chai'
import fc from 'fast-check'
import { decodeString, firstIn, nextIn, skipBlank, skipString, skipValue, valueAfter } from './scan.ts'

/** Returns the source texts of an object's keys and values, or of an array's items. */
function parts(text: string): string[] {
  const isObject = text.startsWith('{')
  const found: string[] = []
  let at = firstIn(text, 0)
  while (at >= 0) {
    let valueAt = at
    if (isObject) {
      const keyEnd = skipString(text, at)
      found.push(text.slice(at, keyEnd))
      valueAt = valueAfter(text, keyEnd)
    }
    const end = skipValue(text, valueAt)
    found.push(text.slice(valueAt, end))
    at = nextIn(text, end)
  }
  return found
}

describe('the JSON scanner', () => {
  const table: readonly [string, readonly string[]][] = [
    ['{}', []],
    ['[ \n\t\r]', []],
    ['{"a":1}', ['"a"', '1']],
    ['{ "a" : -1.0e+3 , "b":[ 1 , {"c":"]"} ] }', ['"a"', '-1.0e+3', '"b"', '[ 1 , {"c":"]"} ]']],
    ['{"a\\"":"\\\\","\\\\\\"":"}"}', ['"a\\""', '"\\\\"', '"\\\\\\""', '"}"']],
    [
      '["\\u2028",true,false,null,9007199254740993]',
      ['"\\u2028"', 'true', 'false', 'null', '9007199254740993'],
    ],
    ['{"a":1,"a":2,"__proto__":{}}', ['"a"', '1', '"a"', '2', '"__proto__"', '{}']],
  ]
  for (const [text, expected] of table) {
    it(`finds the parts of ${JSON.stringify(text)}`, () => {
      expect(parts(text)).to.deep.equal(expected)
      expect(skipValue(text, 0)).to.equal(text.length)
    })
  }

  it('finds the end of any value, and the texts of its parts', () => {
    const gaps = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n')
    fc.assert(
      fc.property(fc.json(), gaps, gaps, (json, before, after) => {
        const start = skipBlank(before + json + after, 0)
        expect(start).to.equal(before.length)
        expect(skipValue(before + json + after, start)).to.equal(before.length + json.length)
        const spaced = JSON.stringify(JSON.parse(json), null, before === '' ? 0 : 2)
        if (!/^[[{]/.test(json)) return
        expect(parts(spaced).map(part => JSON.parse(part))).to.deep.equal(
          parts(json).map(part => JSON.parse(part)),
        )
      }),
      { numRuns: 500, seed: 5 },
    )
  })

  it('scans a value of any depth without recursion', () => {
    const depth = 1_000_000
    expect(skipValue(`${'['.repeat(depth)}${']'.repeat(depth)}`, 0)).to.equal(2 * depth)
  })

  it('ends for any text', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(skipString(text, 0)).to.be.at.most(text.length)
        expect(skipValue(text, 0)).to.be.at.most(text.length)
      }),
      { numRuns: 500, seed: 5 },
    )
  })

  for (const [source, text] of [
    ['"a"', 'a'],
    ['"\\u0061\\n\\"\\\\"', 'a\n"\\'],
    ['"grün 🎉"', 'grün 🎉'],
    ['"\\ud83c\\udf89"', '🎉'],
  ] as const) {
    it(`decodes ${source}`, () => {
      expect(decodeString(`[${source}]`, 1, 1 + source.length)).to.equal(text)
    })
  }
})
