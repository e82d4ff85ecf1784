import { expect } from 'chai'
import { RE2JS } from 're2js'
import { regexSize } from './size.ts'

const limit = 1_000_000

describe('regexSize', () => {
  const table = {
    abc: 6,
    'a{30}': 63,
    '(a{30}){30}': 1_893,
    'a{2,5}': 13,
    'a{0}': 5,
    String: 9,
    '\\x{41}\\p{Greek}': 204,
    '[]\\pL{3}]{2}': 405,
    '[a-\\x{10ffff}]': 1_004,
    '[\\x{e9}]': 4,
  }
  for (const [source, size] of Object.entries(table))
    it(`returns ${size} for ${source}`, () => {
      expect(regexSize(source, limit)).to.equal(size)
    })

  it('never returns less than RE2 compiles', () => {
    const atoms = [
      'a',
      'é',
      '.',
      '\\w',
      '\\pL',
      '\\p{Greek}',
      '[^a]',
      '[[:alpha:]_]',
      '\\x{41}',
      '\\b',
      '^',
      '[]a]',
      '(?i:a|b)',
    ]
    const repetitions = ['', '*', '+?', '?', '{3}', '{2,5}', '{4,}', '{0}', '{0,3}']
    const items = atoms.flatMap(atom => repetitions.map(repetition => atom + repetition))
    for (const [i, first] of items.entries()) {
      const second = items[(7 * i) % items.length]
      const source = `(${first}|${second}){2}${second}`
      expect(regexSize(source, limit), source).to.be.at.least(RE2JS.compile(source).programSize())
    }
  })

  it('takes linear time', function () {
    this.timeout(1_000)
    for (const part of ['\\p{', '\\x{', '[[:a', '('])
      expect(regexSize(part.repeat(100_000), Number.POSITIVE_INFINITY), part).to.be.at.least(3)
  })

  it('stops counting at the limit', () => {
    expect(regexSize('a{999}'.repeat(100_000), 5_000)).to.be.within(5_001, 10_000)
  })
})
