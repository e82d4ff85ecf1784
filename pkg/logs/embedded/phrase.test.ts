import { expect } from 'chai'
import type { Test } from '../expression.ts'
import { match } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { linesOf, segmentOf } from './lines-fixtures.ts'
import { openLines } from './open-lines.ts'
import { createPieceCache } from './piece-cache.ts'
import type { Segment } from './segment.ts'
import { select } from './selection.ts'
import { maxPositions } from './word-lists.ts'
import { finish } from './work-fixtures.ts'

const segmentOfTexts = (texts: readonly string[]): Segment =>
  segmentOf(linesOf(texts), { cache: createPieceCache(1e6) })

/** The documents that are found. */
function find(segment: Segment, test: Test): readonly number[] {
  const { bits, from, to } = finish(select(segment, { scope: 'everything', expression: match('log', test) }))
  const found: number[] = []
  for (let i = from; i < to; i += 1)
    if (bits === undefined || ((bits[i >>> 5] ?? 0) >>> (i & 31)) & 1) found.push(i)
  return found
}

describe('phrases', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const vocabulary = ['a', 'b', 'c', 'ab', 'abc', 'é', '漢', 'B', 'x'.repeat(64), `x${'y'.repeat(80)}`]
  const sentence = (words: number): string =>
    Array.from({ length: words }, () => vocabulary[random(vocabulary.length)]).join(random(2) ? ' ' : '-')

  it('are found where their words stand side by side, as the matcher says, in crowded lines too', () => {
    const texts = Array.from({ length: 120 }, (_, i) =>
      i % 60 === 0 ? sentence(maxPositions + random(20) - 10) : sentence(random(12)),
    )
    texts.push(`${'z '.repeat(2 * maxPositions)}crowded end`, 'z z z', 'z crowded', 'crowded z')
    const segment = segmentOfTexts(texts)
    const phrases = Array.from({ length: 25 }, () =>
      Array.from({ length: 2 + random(3) }, () =>
        (vocabulary[random(vocabulary.length)] ?? '').toLowerCase(),
      ),
    )
    phrases.push(['z', 'crowded'], ['z', 'z', 'z'], ['crowded', 'end'])
    for (const words of phrases) {
      for (const prefix of [false, true]) {
        const test: Test = { kind: 'words', words, prefix }
        const passes = createTest(test)
        const wanted = texts.flatMap((text, i) => (passes(text) ? [i] : []))
        expect(find(segment, test), `${words.join(' ')} ${prefix}`).to.deep.equal(wanted)
      }
    }
  })

  it('are found among lines that have no index yet', () => {
    const lines = linesOf(['one two', 'two one', 'One, two'])
    expect(
      find(openLines('open', lines), { kind: 'words', words: ['one', 'two'], prefix: false }),
    ).to.deep.equal([0, 2])
  })

  it('are found without a look at the lines', () => {
    const segment = segmentOfTexts(
      Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? 'one two' : 'two one')),
    )
    const read = () => {
      throw new Error('a line was read')
    }
    const blind: Segment = { ...segment, textAt: read, testText: read }
    const even = Array.from({ length: 500 }, (_, i) => 2 * i)
    expect(find(blind, { kind: 'words', words: ['one', 'two'], prefix: false })).to.deep.equal(even)
    expect(find(blind, { kind: 'words', words: ['one', 'tw'], prefix: true })).to.deep.equal(even)
  })
})
