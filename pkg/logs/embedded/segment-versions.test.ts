import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type Expression, isOneOf, match } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import { createLinesBuilder } from './lines.ts'
import { segmentIn, segmentOf } from './lines-fixtures.ts'
import { createPieceCache } from './piece-cache.ts'
import { searchPage, searchStatistics } from './search.ts'
import { decodeFooter, encodeFooter, type Piece } from './segment-format.ts'
import { writeSegment } from './segment-writer.ts'
import { finish } from './work-fixtures.ts'

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

const log = (test: Extract<Expression, { op: 'match' }>['test']) => match('log', test)
const words = (...list: readonly string[]) => ({ kind: 'words', words: list, prefix: false }) as const

describe('a segment of version 2', () => {
  const file = readFileSync(new URL('testdata/version-2.seg', import.meta.url))
  const old = segmentIn(file, { cache: createPieceCache(1024 * 1024) })
  const now = segmentOf(makeLines(), { cache: createPieceCache(1024 * 1024) })
  const page = { order: 'desc', size: count, start: { from: 0 }, withTotal: true } as const
  const cases: readonly (readonly [string, LogFilter, number])[] = [
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
  for (const [name, filter, total] of cases) {
    it(`answers like one of today: ${name}`, () => {
      const answers = [old, now].map(segment => ({
        page: finish(searchPage([segment], { filter, ...page })),
        statistics: finish(searchStatistics([segment], filter)),
      }))
      expect(answers[0]).to.deep.equal(answers[1])
      expect(answers[0]?.page.total).to.equal(total)
    })
  }
})

describe('a segment of a version that is not known', () => {
  it('is refused by its number', () => {
    const parts: Buffer[] = []
    const footer = writeSegment(makeLines(), part => parts.push(Buffer.from(part)))
    // As a later program may write it, whatever else there is in it.
    const later = JSON.parse(JSON.stringify({ ...footer, version: 4, documents: footer.streamOf }))
    const bytes = Buffer.concat([...parts.slice(0, -1), encodeFooter(later)])
    const read = ({ offset, length }: Piece) => bytes.subarray(offset, offset + length)
    expect(() => decodeFooter(bytes.length, read)).to.throw('segment: version 4 is not known')
  })
})
