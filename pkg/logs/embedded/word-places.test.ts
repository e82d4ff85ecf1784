import { expect } from 'chai'
import { numbersOf, placeOf, positions } from './word-places.ts'

const words = Buffer.from('err\0error\0terror\0errors\0')
const zero = Buffer.from('\0')

describe('positions and numbersOf', () => {
  it('tell which words have a part, each once', () => {
    expect(numbersOf(words, positions(words, Buffer.from('r'), 0))).to.deep.equal([0, 1, 2, 3])
    expect(numbersOf(words, positions(words, Buffer.from('ror'), 0))).to.deep.equal([1, 2, 3])
    expect(numbersOf(words, positions(words, Buffer.from('absent'), 0))).to.deep.equal([])
  })

  it('tell which words begin with something, behind the first', () => {
    const wanted = Buffer.concat([zero, Buffer.from('err')])
    expect(positions(words, wanted, 1)).to.deep.equal([4, 17])
    expect(numbersOf(words, positions(words, wanted, 1, [0]))).to.deep.equal([0, 1, 3])
  })

  it('find no word behind the last', () => expect(positions(words, zero, 1)).to.deep.equal([4, 10, 17]))
})

describe('placeOf', () => {
  const wordsOf = (list: readonly string[]) => Buffer.from(list.map(word => `${word}\0`).join(''), 'latin1')
  const lists = [
    [],
    [''],
    ['', ' ', 'a', 'aa', 'ab', 'b', 'z'],
    ['one'],
    Array.from({ length: 500 }, (_, i) => `w${String(i * 7).padStart(4, '0')}`),
    ['a', 'a\xc3\xa9', 'a\xff', 'b'],
  ]
  const others = ['', ' ', '0', 'a', 'aaa', 'abc', 'on', 'onee', 'w', 'w0001', 'w9999', '\xff', 'zz']

  for (const list of lists) {
    it(`finds each of ${list.length} words from ${list[0]} on, and no other`, () => {
      const words = wordsOf(list)
      const begins = (at: number) => words.toString('latin1', at, words.indexOf(0, at))
      for (const word of list) expect(begins(placeOf(words, Buffer.from(word, 'latin1')))).to.equal(word)
      for (const word of others.filter(other => !list.includes(other))) {
        expect(placeOf(words, Buffer.from(word, 'latin1')), word).to.equal(-1)
      }
    })
  }
})
