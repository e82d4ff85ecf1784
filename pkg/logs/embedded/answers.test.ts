import { expect } from 'chai'
import { match } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import { createRecall } from './answers.ts'
import { dayNs } from './lines.ts'
import { linesOf, segmentOf } from './lines-fixtures.ts'
import { openLines } from './open-lines.ts'
import { createPieceCache } from './piece-cache.ts'
import type { Segment } from './segment.ts'
import { countSelected } from './tally.ts'
import { finish } from './work-fixtures.ts'

const lines = linesOf(['a b', 'a', 'b', 'a c'])
const firstNs = 20_000n * dayNs

const keeping = (bytes: number) => ({ cache: createPieceCache(1e6), answers: createPieceCache(bytes) })

const everything: LogFilter = { scope: 'everything' }
const word = (text: string): LogFilter => ({
  scope: 'everything',
  expression: match('log', { kind: 'words', words: [text], prefix: false }),
})

describe('createRecall', () => {
  let found = 0
  beforeEach(() => {
    found = 0
  })

  function count(segment: Segment, filter: LogFilter, what = 'count', bytes = 0): number {
    const recall = createRecall(
      filter,
      what,
      (_, selection) => {
        found += 1
        return { lines: countSelected(selection) }
      },
      () => bytes,
    )
    return finish(recall.find(segment)).lines
  }

  it('finds out once what is asked again', () => {
    const segment = segmentOf(lines, keeping(1e6))
    expect([count(segment, word('a')), count(segment, word('a')), count(segment, word('a'))]).to.deep.equal([
      3, 3, 3,
    ])
    expect(found).to.equal(1)
  })

  const others: readonly (readonly [string, LogFilter, number])[] = [
    ['another word', word('c'), 1],
    ['no words', everything, 4],
    ['one moment less at the start', { ...word('a'), startNs: firstNs + 1n }, 2],
    ['one moment less at the end', { ...word('a'), endNs: firstNs + 2n }, 2],
    ['a day on which there is nothing', { ...word('a'), startNs: firstNs + dayNs }, 0],
    ['a namespace that has them', { ...word('a'), scope: [{ namespace: 'ns', sinceNs: 0n }] }, 3],
    ['the namespace, made later', { ...word('a'), scope: [{ namespace: 'ns', sinceNs: firstNs + 1n }] }, 2],
    ['a namespace that has none', { ...word('a'), scope: [{ namespace: 'other', sinceNs: 0n }] }, 0],
    ['no namespace', { ...word('a'), scope: [] }, 0],
    [
      'a part in another case, asked for with case',
      { ...everything, expression: match('log', { kind: 'contains', text: 'A', caseSensitive: true }) },
      0,
    ],
    [
      'a part in another case',
      { ...everything, expression: match('log', { kind: 'contains', text: 'A', caseSensitive: false }) },
      3,
    ],
  ]
  it('keeps apart what is not the same', () => {
    const segment = segmentOf(lines, keeping(1e6))
    for (const round of [1, 2]) {
      expect(count(segment, word('a'))).to.equal(3)
      for (const [name, filter, expected] of others)
        expect(count(segment, filter), `${name}, ${round}`).to.equal(expected)
      expect(count(segment, word('a'), 'something else')).to.equal(3)
    }
    expect(found).to.equal(others.length + 2)
  })

  it('takes the same lines for the same, however the window is named', () => {
    const segment = segmentOf(lines, keeping(1e6))
    count(segment, word('a'))
    const windows = [
      { startNs: firstNs },
      { startNs: firstNs - 5n * dayNs, endNs: firstNs + 3n },
      { endNs: firstNs + dayNs },
    ]
    for (const window of windows) expect(count(segment, { ...word('a'), ...window })).to.equal(3)
    expect(found).to.equal(1)
  })

  it('keeps segments apart, and forgets those that are closed', () => {
    const shared = keeping(1e6)
    const [one, other] = [segmentOf(lines, shared, 'one'), segmentOf(lines, shared, 'other')]
    for (const segment of [one, other, one, other]) count(segment, word('a'))
    expect(found).to.equal(2)
    one.close()
    for (const segment of [segmentOf(lines, shared, 'one'), other]) count(segment, word('a'))
    expect(found).to.equal(3)
  })

  it('keeps no more than there is room for', () => {
    const segment = segmentOf(lines, keeping(20_000))
    count(segment, word('a'), 'large', 19_000)
    count(segment, word('a'), 'large', 19_000)
    expect(found).to.equal(2)
    for (let i = 0; i < 200; i += 1) count(segment, word('a'), `small ${i}`)
    count(segment, word('a'), 'small 199')
    expect(found).to.equal(202)
    count(segment, word('a'), 'small 0')
    expect(found).to.equal(203)
  })

  it('remembers nothing of lines that are in no segment yet', () => {
    const open = openLines('fresh', lines)
    expect([count(open, word('a')), count(open, word('a'))]).to.deep.equal([3, 3])
    expect(found).to.equal(2)
  })
})
