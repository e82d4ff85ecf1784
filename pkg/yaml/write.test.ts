import { expect } from 'chai'
import fc from 'fast-check'
import { parse } from 'yaml'
import { jsonTexts, trickyNumbers, trickyTexts } from './fixtures.ts'
import { jsonToYaml, toYaml } from './write.ts'

/** Parses a document as YAML 1.1 and as YAML 1.2. */
function read(yaml: string): readonly unknown[] {
  return (['1.1', '1.2'] as const).map(version => parse(yaml, { version, merge: false }))
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]),
  )
}

describe('toYaml', () => {
  const table: readonly [unknown, string][] = [
    ['no', '"no"\n'],
    [{}, '{}\n'],
    [[], '[]\n'],
    [null, 'null\n'],
    [
      { a: 'no', b: { c: [1, { d: 2, e: [] }], f: {} } },
      'a: "no"\nb:\n  c:\n  - 1\n  - d: 2\n    e: []\n  f: {}\n',
    ],
    [[[1, [2]], [{ a: [3] }]], '- - 1\n  - - 2\n- - a:\n    - 3\n'],
    [{ text: 'two\nlines\n', list: ['a\n\nb'] }, 'text: |\n  two\n  lines\nlist:\n- |-\n  a\n\n  b\n'],
    [{ y: 1, '12:30:45': 2, 'a: b': 3, '': 4 }, '"y": 1\n"12:30:45": 2\n"a: b": 3\n"": 4\n'],
    [{ a: 2n ** 64n, b: -0, c: 1e21, d: undefined }, 'a: 18446744073709551616\nb: -0.0\nc: 1.0e+21\n'],
    [
      { a: 'x\u2028kind: Secret', b: '\u0085\ufeff\u{e0001}' },
      'a: "x\\u2028kind: Secret"\nb: "\\u0085\\ufeff\\U000e0001"\n',
    ],
    ['\ud800x', '"\ufffdx"\n'],
  ]
  for (const [value, yaml] of table) {
    it(`writes ${yaml.split('\n')[0]} …`, () => expect(toYaml(value)).to.equal(yaml))
  }

  for (const text of trickyTexts) {
    it(`writes ${JSON.stringify(text.slice(0, 40))} so that it remains a string, as a key too`, () => {
      const value = { a: text, list: [text], deep: { [text]: text } }
      for (const found of read(toYaml(value))) expect(found).to.deep.equal(wellFormed(value))
    })
  }

  it('rejects numbers that JSON does not have', () => {
    expect(() => toYaml({ a: [Number.NaN] })).to.throw(RangeError)
  })
})

describe('jsonToYaml', () => {
  it('preserves the digits of every number', () => {
    expect(jsonToYaml(`[${trickyNumbers.join()}]`)).to.equal(
      `${[
        ...['0', '-0.0', '1.0', '-0.0', '1.0e+3', '1.0e+3', '1.0e+3', '-1.5e-7', '0.1', '1.0e+21', '1.0e-7'],
        ...['5.0e-324', '9007199254740993', '9223372036854775807', '-9223372036854775808'],
        ...['18446744073709551615', '1.7976931348623157e+308', '0.1000000000000000055511151231257827'],
      ]
        .map(number => `- ${number}`)
        .join('\n')}\n`,
    )
  })

  it('preserves the order of keys, and accepts JSON with white space', () => {
    expect(jsonToYaml(' { "b" : 1 ,\n "10" : [ ] , "9" : { } } ')).to.equal('b: 1\n"10": []\n"9": {}\n')
  })

  it('writes YAML that YAML 1.1 and 1.2 parsers read as the same value', () => {
    fc.assert(
      fc.property(jsonTexts, json => {
        const expected = wellFormed(JSON.parse(json))
        for (const found of read(jsonToYaml(json))) expect(found).to.deep.equal(expected)
      }),
      { numRuns: 1_000, seed: 5 },
    )
  })

  it('writes deep values on one line, without recursion and in linear memory', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"no":', '}'],
    ] as const) {
      const json = (depth: number) => `${open.repeat(depth)}"no"${close.repeat(depth)}`
      for (const found of read(jsonToYaml(json(150)))) expect(found).to.deep.equal(JSON.parse(json(150)))
      expect(jsonToYaml(json(100_000)).length).to.be.below(1_000_000)
    }
  })

  it('writes long keys so that parsers find their end', () => {
    const long = 'k'.repeat(2_000)
    const deep = (value: unknown, depth: number): unknown =>
      depth === 0 ? value : { a: deep(value, depth - 1) }
    const value = { [long]: { a: ['no', { [long]: 'a\nb' }] }, b: 1 }
    for (const depth of [0, 2, 70]) {
      for (const found of read(toYaml(deep(value, depth)))) expect(found).to.deep.equal(deep(value, depth))
    }
  })
})
