import { expect } from 'chai'
import { coerce } from './coerce.ts'
import { boolean, integer, section, text, texts } from './option.ts'

const description = 'any'
const schema = section({
  number: integer({ default: 1, min: 0, max: 9, description }),
  flag: boolean({ default: false, description }),
  list: texts({ description }),
  name: text({ default: '', description }),
  inner: section({ number: integer({ default: 1, min: 0, max: 9, description }) }).prefault({}),
})

describe('coerce', () => {
  const table: readonly [unknown, unknown][] = [
    [
      { number: '7', flag: 'true', list: 'a,b,', name: '7', inner: { number: '08' } },
      { number: 7, flag: true, list: ['a', 'b'], name: '7', inner: { number: 8 } },
    ],
    [
      { flag: 'false', list: '' },
      { flag: false, list: [] },
    ],
    [{ number: null, inner: { number: undefined } }, { inner: {} }],
    [
      { number: '1 ', flag: 'yes', list: [1] },
      { number: '1 ', flag: 'yes', list: [1] },
    ],
    [
      { inner: 'x', other: '1' },
      { inner: 'x', other: '1' },
    ],
    [JSON.parse('{"__proto__":{"number":"1"}}'), JSON.parse('{"__proto__":{"number":"1"}}')],
    ['x', 'x'],
    [[], []],
    [null, null],
  ]
  for (const [given, expected] of table) {
    it(`converts ${JSON.stringify(given)} to ${JSON.stringify(expected)}`, () => {
      expect(coerce(schema, given)).to.deep.equal(expected)
    })
  }
})
