import { expect } from 'chai'
import {
  createWordFilter,
  hashWord,
  mayHave,
  openWordFilter,
  pageBytes,
  type WordFilter,
} from './word-filter.ts'

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
  const view = writer.view()
  const pages = Array.from({ length: Math.ceil(view.length / pageBytes) }, (_, i) => {
    const page = Buffer.alloc(pageBytes)
    view.copy(page, 0, i * pageBytes)
    return page
  })
  const filter = openWordFilter(view.length, pages)
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
      expect((filter.blocks * 32) / count).to.be.within(1, 1.01)
      expect(filter.pages.length).to.equal(2)
    })
  }

  it('has a word for each number of words', () => {
    for (const count of [0, 1, 2, 31, 32, 33, 64, 65]) {
      const words = Array.from({ length: count }, (_, i) => `w${i}`)
      const filter = filterOf(words)
      expect(filter.blocks, `${count}`).to.equal(Math.max(1, Math.ceil(count / 32)))
      expect(words.every(word => has(filter, word))).to.equal(true)
    }
    expect(has(filterOf([]), 'w')).to.equal(false)
  })

  it('has the word without a byte', () => {
    expect(has(filterOf(['']), '')).to.equal(true)
    expect(has(filterOf([]), '')).to.equal(false)
  })

  it('is what files have: the same bits as on the day when the first was written', () => {
    const [page = []] = filterOf(['error', 'größe', '401230']).pages
    expect([...page].slice(0, 8).map(n => n.toString(16))).to.deep.equal([
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

describe('openWordFilter', () => {
  for (const [bytes, count] of [
    [0, 0],
    [31, 1],
    [pageBytes + 32, 1],
    [pageBytes, 2],
  ] as const) {
    it(`refuses ${bytes} bytes in ${count} pages`, () => {
      const pages = Array.from({ length: count }, () => Buffer.alloc(pageBytes))
      expect(() => openWordFilter(bytes, pages)).to.throw(RangeError, `no ${bytes} bytes in ${count} pages`)
    })
  }
})
