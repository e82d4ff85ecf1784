import { expect } from 'chai'
import { formatJson, parseFields } from './field-values.ts'

describe('parseFields', () => {
  it('parses what formatJson returns', () => {
    const fields = { a: 1, b: 9007199254740993n, c: [true, 'x', -9223372036854775808n], '': 'y', d: 1.5 }
    expect(parseFields(formatJson(fields))).to.deep.equal(fields)
  })

  for (const json of ['[]', '1', 'null', '"x"', '{"a":null}', '{"a":{}}', '{"a":[[]]}', '{"a":[null]}']) {
    it(`rejects ${json}`, () => {
      expect(() => parseFields(json)).to.throw('invalid fields of a line: expected an object of values')
    })
  }
})
