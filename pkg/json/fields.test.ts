import { expect } from 'chai'
import fc from 'fast-check'
import { compactJson, fieldsIn, fieldText, itemTexts, withFields, withoutField } from './fields.ts'

describe('fieldsIn', () => {
  it('returns the fields in their order, including duplicates and unusual names', () => {
    const json = ' { "b" : 1 , "a":[{"b":2}], "\\u0062":"x" , "__proto__":null } '
    const members = fieldsIn(json).map(({ name, valueStart, end }) => [name, json.slice(valueStart, end)])
    expect(members).to.deep.equal([
      ['b', '1'],
      ['a', '[{"b":2}]'],
      ['b', '"x"'],
      ['__proto__', 'null'],
    ])
  })

  for (const json of ['', '{}', '[1]', '"{"', '1', 'null']) {
    it(`finds no field in ${json}`, () => expect(fieldsIn(json)).to.deep.equal([]))
  }
})

describe('itemTexts', () => {
  it('returns the text of each item', () => {
    expect(itemTexts('[ 1.0 ,{"a":[]}, "]" ]')).to.deep.equal(['1.0', '{"a":[]}', '"]"'])
    for (const json of ['[]', '{}', 'null', '']) expect(itemTexts(json)).to.deep.equal([])
  })
})

describe('fieldText', () => {
  it('returns the last of several values, as JSON.parse does', () => {
    expect(fieldText('{"a":1,"b":{"a":3},"a":2.0}', 'a')).to.equal('2.0')
    expect(fieldText('{"b":{"a":3}}', 'a')).to.equal('')
  })
})

describe('withFields', () => {
  const table: readonly [string, Record<string, string | undefined>, string][] = [
    ['{}', { a: '1' }, '{"a":1}'],
    ['{"b":1.0}', { a: '"x"' }, '{"b":1.0,"a":"x"}'],
    ['{"b":1.0,"a":2,"10":3,"9":4}', { a: '[]', b: undefined }, '{"a":[],"10":3,"9":4}'],
    ['{"a":1,"a":2,"c":9007199254740993}', { a: '3' }, '{"a":3,"c":9007199254740993}'],
    ['null', { a: '1' }, '{"a":1}'],
    ['{}', { 'a"b': '1', c: undefined }, '{"a\\"b":1}'],
  ]
  for (const [json, values, expected] of table) {
    it(`turns ${json} into ${expected}`, () => {
      expect(withFields(json, new Map(Object.entries(values)))).to.equal(expected)
    })
  }

  it('preserves the text of every other field', () => {
    const keys = fc.string({ maxLength: 3 }).filter(key => key !== 'x')
    const texts = fc.constantFrom('9007199254740993', '1.0', '"\\u003c"', '{"b":1,"10":-0}', '[ ]')
    fc.assert(
      fc.property(fc.array(fc.tuple(keys, texts)), members => {
        const parts = members.map(([key, text]) => `${JSON.stringify(key)}:${text}`)
        expect(withFields(`{${parts.join()}}`, new Map([['x', '1']]))).to.equal(
          `{${[...parts, '"x":1'].join()}}`,
        )
      }),
    )
  })
})

describe('withoutField', () => {
  const table: readonly [string, readonly string[], string][] = [
    ['{"a":1,"b":{"c":2,"d":3.0}}', ['b', 'c'], '{"a":1,"b":{"d":3.0}}'],
    ['{"b":{"c":1,"c":2},"b":{"\\u0063":3}}', ['b', 'c'], '{"b":{},"b":{}}'],
    ['{"a":1}', ['b', 'c'], '{"a":1}'],
    ['{"b":[{"c":1}]}', ['b', 'c'], '{"b":[{"c":1}]}'],
    ['{"b":null}', ['b', 'c'], '{"b":null}'],
  ]
  for (const [json, path, expected] of table) {
    it(`turns ${json} into ${expected}`, () => expect(withoutField(json, path)).to.equal(expected))
  }
})

describe('compactJson', () => {
  it('removes the blanks between tokens, and no others', () => {
    expect(compactJson(' {\n  "a b" : [ 1.0,\r\n\t2 ],\n "c\\" d" : { } }\n')).to.equal(
      '{"a b":[1.0,2],"c\\" d":{}}',
    )
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const compact = JSON.stringify(value)
        expect(compactJson(JSON.stringify(value, null, '\t'))).to.equal(compact)
        expect(compactJson(compact)).to.equal(compact)
      }),
    )
  })
})
