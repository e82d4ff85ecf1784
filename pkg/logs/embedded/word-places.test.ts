import { expect } from 'chai'
import { countWords, numbersWith, placeOf, rangeOf } from './word-places.ts'

const words = Buffer.from('err\0error\0terror\0errors\0')

describe('numbersWith', () => {
  it('tells which words have a text within, each once', () => {
    expect(numbersWith(words, Buffer.from('r'))).to.deep.equal([0, 1, 2, 3])
    expect(numbersWith(words, Buffer.from('ror'))).to.deep.equal([1, 2, 3])
    expect(numbersWith(words, Buffer.from('ror\0'))).to.deep.equal([1, 2])
    expect(numbersWith(words, Buffer.from('absent'))).to.deep.equal([])
    expect(numbersWith(Buffer.alloc(0), Buffer.from('r'))).to.deep.equal([])
  })
})

describe('placeOf and rangeOf', () => {
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

    it(`finds which of ${list.length} words from ${list[0]} on begin with something`, () => {
      const words = wordsOf(list)
      for (const prefix of [...others, ...list.slice(0, 9), ...list.map(word => word.slice(0, 3))]) {
        const { from, to } = rangeOf(words, Buffer.from(prefix, 'latin1'))
        const found = words.toString('latin1', from, to).split('\0').slice(0, -1)
        expect(found, prefix).to.deep.equal(list.filter(word => word.startsWith(prefix)))
        expect(countWords(words, from, to)).to.equal(found.length)
      }
    })
  }
})
