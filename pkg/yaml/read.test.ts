import { expect } from 'chai'
import { parseYaml, parseYamlDocuments, YamlError } from './read.ts'

describe('parseYaml', () => {
  const table: readonly [string, unknown][] = [
    ['', null],
    ['a: 1', { a: 1 }],
    ['a: 9007199254740991', { a: 9_007_199_254_740_991 }],
    ['a: 9007199254740993', { a: 9_007_199_254_740_993n }],
    ['- -9223372036854775808', [-9_223_372_036_854_775_808n]],
    ['a: 0x1F\nb: 1e3\n1: 2.5', { a: 31, b: 1000, 1: 2.5 }],
    ['a: yes', { a: 'yes' }],
  ]
  for (const [text, value] of table) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(parseYaml(text)).to.deep.equal(value)
      expect(parseYamlDocuments(`${text}\n---\nb: 9007199254740993\n`).at(-1)).to.deep.equal({
        b: 9_007_199_254_740_993n,
      })
    })
  }

  const broken: readonly [string, string][] = [
    ['a: "b', 'is not valid YAML (MISSING_CHAR at line 1, column 6)'],
    ['a: 1\na: 2', 'is not valid YAML (DUPLICATE_KEY at line 2, column 1)'],
    ['a: *b', 'has aliases that cannot be resolved'],
  ]
  for (const [text, problem] of broken) {
    it(`reports the error and position in ${JSON.stringify(text)}`, () => {
      for (const read of [parseYaml, parseYamlDocuments]) {
        expect(() => read(text))
          .to.throw(YamlError)
          .that.includes({ problem })
      }
    })
  }
})
