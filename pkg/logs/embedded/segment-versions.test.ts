import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type Expression, isOneOf, match } from '../expression.ts'
import type { LogQuery } from '../store.ts'
import { createLinesBuilder } from './lines.ts'
import { segmentOf } from './lines-fixtures.ts'
import { createPieceCache } from './piece-cache.ts'
import { searchPage, searchStatistics, type Work } from './search.ts'
import { openSegment, type Segment } from './segment.ts'
import type { Piece } from './segment-format.ts'

const count = 400

/** The lines of which `testdata/version-2.seg` was made, by the program that wrote that version. */
function makeLines() {
  const lines = createLinesBuilder(20_000)
  for (let i = 0; i < count; i += 1) {
    const who = i % 3 === 0 ? 'three' : 'others'
    const how = i % 50 === 7 ? 'seldom seen' : 'often seen'
    const text = Buffer.from(`line ${i} of ${who} says ${how} n${(i * 7919) % 1000}`)
    const pod = ['a', 'b', 'c', 'd'][i % 4] ?? ''
    const stream = { namespace: 'ns', pod, container: 'c', host: 'node', dockerId: `id-${i % 4}` }
    lines.add(i % 2 === 0 ? i : i + 2, i + 1, stream, text, 0, text.length)
  }
  return lines.finish()
}

function openStored(file: string): Segment {
  const bytes = readFileSync(new URL(`testdata/${file}`, import.meta.url))
  const read = ({ offset, length }: Piece) => Buffer.from(bytes.subarray(offset, offset + length))
  const source = {
    size: bytes.length,
    read,
    use: <T>(piece: Piece, work: (bytes: Buffer) => T): T => work(read(piece)),
    close: () => undefined,
  }
  return openSegment('stored', source, { cache: createPieceCache(1024 * 1024) })
}

function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

const log = (test: Extract<Expression, { op: 'match' }>['test']) => match('log', test)
const words = (...list: readonly string[]) => ({ kind: 'words', words: list, prefix: false }) as const

describe('a segment of version 2', () => {
  const old = openStored('version-2.seg')
  const now = segmentOf(makeLines(), { cache: createPieceCache(1024 * 1024) })
  const page = { order: 'desc', size: count, start: { from: 0 }, withTotal: true } as const
  const cases: readonly (readonly [string, LogQuery['filter'], number])[] = [
    ['everything', { scope: 'everything' }, count],
    ['a word', { scope: 'everything', expression: log(words('seldom')) }, 8],
    ['a word that is in no line', { scope: 'everything', expression: log(words('never')) }, 0],
    ['a word of one line', { scope: 'everything', expression: log(words('n919')) }, 1],
    ['words side by side', { scope: 'everything', expression: log(words('three', 'says')) }, 134],
    [
      'the beginning of words',
      { scope: 'everything', expression: log({ ...words('n91'), prefix: true }) },
      4,
    ],
    [
      'a part of words',
      { scope: 'everything', expression: log({ kind: 'contains', text: 'eldo', caseSensitive: false }) },
      8,
    ],
    [
      'a regular expression',
      { scope: 'everything', expression: log({ kind: 'regex', source: 'n9.9$', caseSensitive: true }) },
      5,
    ],
    ['some streams', { scope: 'everything', expression: isOneOf('pod', ['b']) }, 100],
    [
      'a namespace since it is there',
      { scope: [{ namespace: 'ns', sinceNs: 1_728_000_000_000_000_300n }] },
      101,
    ],
  ]
  for (const [name, filter, least] of cases) {
    it(`answers like one of today: ${name}`, () => {
      const answers = [old, now].map(segment => ({
        page: finish(searchPage([segment], { filter, ...page })),
        statistics: finish(searchStatistics([segment], filter)),
      }))
      expect(answers[0]).to.deep.equal(answers[1])
      expect(answers[0]?.page.total).to.equal(least)
    })
  }
})
