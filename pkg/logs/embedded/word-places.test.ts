import { expect } from 'chai'
import { numbersOf, positions } from './word-places.ts'

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
