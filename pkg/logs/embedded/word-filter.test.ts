import { expect } from 'chai'
import { createWordFilter, hashWord, mayHave, type WordFilter } from './word-filter.ts'

function filterOf(words: readonly string[]): WordFilter {
  const writer = createWordFilter(words.length)
  // As in a segment: one after the other in larger memory.
  const bytes = Buffer.from(words.join(''))
  let at = 0
  for (const word of words) {
    const from = at
    at += Buffer.byteLength(word)
    writer.add(bytes, from, at)
  }
  const { buffer, byteOffset, length } = writer.view()
  const filter = new Uint32Array(buffer, byteOffset, length / 4).slice()
  writer.release()
  return filter
}

const has = (filter: WordFilter, word: string): boolean => mayHave(filter, hashWord(Buffer.from(word)))

/** Words of some kind; those of even numbers are added, the others looked for. */
const kinds: Readonly<Record<string, (i: number) => string>> = {
  numbers: i => String(i),
  'hexadecimal numbers': i => Math.imul(i, 2_654_435_761).toString(16),
  'words that differ at their end': i => `deployment-7d4b9c-${i}`,
  'words that differ at their beginning': i => `${i}-of-the-same-controller`,
  'words of other scripts': i => `größe${i}漢字`,
}

describe('createWordFilter', () => {
  for (const [kind, wordOf] of Object.entries(kinds)) {
    it(`has every word that was added, and takes few others for one: ${kind}`, () => {
      const count = 20_000
      const filter = filterOf(Array.from({ length: count }, (_, i) => wordOf(2 * i)))
      const missed = Array.from({ length: count }, (_, i) => wordOf(2 * i)).filter(word => !has(filter, word))
      expect(missed).to.deep.equal([])
      const others = Array.from({ length: count }, (_, i) => wordOf(2 * i + 1)).filter(word =>
        has(filter, word),
      )
      expect(others.length / count).to.be.within(0.001, 0.05)
      expect(filter.byteLength / count).to.be.within(1, 1.01)
    })
  }

  it('has a word for each number of words', () => {
    for (const count of [0, 1, 2, 31, 32, 33, 64, 65]) {
      const words = Array.from({ length: count }, (_, i) => `w${i}`)
      const filter = filterOf(words)
      expect(filter.length, `${count}`).to.equal(8 * Math.max(1, Math.ceil(count / 32)))
      expect(words.every(word => has(filter, word))).to.equal(true)
    }
    expect(has(filterOf([]), 'w')).to.equal(false)
  })

  it('has the word without a byte', () => {
    expect(has(filterOf(['']), '')).to.equal(true)
    expect(has(filterOf([]), '')).to.equal(false)
  })

  it('is what files have: the same bits as on the day when the first was written', () => {
    expect([...filterOf(['error', 'größe', '401230'])].map(n => n.toString(16))).to.deep.equal([
      '10010800',
      '40004',
      '20024000',
      '80020020',
      '80024',
      '1000042',
      '12040',
      '20400004',
    ])
  })
})
