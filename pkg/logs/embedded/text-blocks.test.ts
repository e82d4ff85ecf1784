import { expect } from 'chai'
import { linesOf, segmentOf } from './lines-fixtures.ts'
import { createPieceCache } from './piece-cache.ts'
import type { Segment } from './segment.ts'

// Of many blocks, and such as nothing makes much shorter.
const texts = Array.from({ length: 20_000 }, (_, i) => {
  const word = Math.imul(i + 1, 2_654_435_761) >>> 0
  return `line ${i} ${word.toString(36).repeat(20)}`
})
const lines = linesOf(texts)
const megabyte = 1024 * 1024

function textsTested(segment: Segment, places: readonly number[]): readonly string[] {
  const found: string[] = []
  for (const place of places)
    segment.testText(place, (bytes, start, end) => {
      found.push(bytes.toString('utf8', start, end))
      return true
    })
  return found
}

describe('openTextBlocks', () => {
  const all = texts.map((_, place) => place)

  for (const [name, cacheBytes] of [
    ['keeps nothing', 0],
    ['has room for some', megabyte],
    ['has room for all', 100 * megabyte],
  ] as const) {
    it(`finds each text in any order, where the cache ${name}`, () => {
      const segment = segmentOf(lines, { cache: createPieceCache(cacheBytes) })
      expect(textsTested(segment, all)).to.deep.equal(texts)
      const mixed = all.map(place => (place * 7919) % texts.length).slice(0, 300)
      expect(textsTested(segment, mixed)).to.deep.equal(mixed.map(place => texts[place]))
      expect(all.map(place => segment.textAt(place).toString())).to.deep.equal(texts)
    })
  }

  it('lets go of the memory of those that were gone through, and of nothing that was handed out', () => {
    const segment = segmentOf(lines, { cache: createPieceCache(0) })
    const before = process.memoryUsage().arrayBuffers
    textsTested(segment, all)
    // They are more than four megabytes, and nothing gives V8 a reason to look.
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(megabyte)
    const handed = new Map<number, Buffer>()
    for (let place = 0; place < texts.length; place += 400) {
      textsTested(segment, [place])
      handed.set(place, segment.textAt(place))
    }
    textsTested(segment, all)
    for (const [place, text] of handed) expect(text.toString()).to.equal(texts[place])
  })
})
