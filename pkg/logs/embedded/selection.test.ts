import { expect } from 'chai'
import { match } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import { takeBits } from './bitmap.ts'
import { createDecompress } from './decompress.ts'
import { createLinesBuilder } from './lines.ts'
import { segmentOf } from './lines-fixtures.ts'
import { createPieceCache } from './piece-cache.ts'
import type { Segment } from './segment.ts'
import { type Selection, select } from './selection.ts'
import { finish } from './work-fixtures.ts'

const [count, day] = [30_000, 20_000]
const streamOf = (i: number) => ({
  namespace: 'ns',
  pod: ['a', 'b', 'c'][i % 3] ?? '',
  container: 'c',
  host: '',
  dockerId: '',
})
const timeOf = (i: number): bigint => BigInt(day) * 86_400_000_000_000n + BigInt(i)
// Hardly two are alike, so that there are many words.
const textOf = (i: number): string =>
  `line ${i} ${i % 50 === 0 ? 'seldom' : 'often'} ${(Math.imul(i + 1, 2_654_435_761) >>> 0).toString(36)}`

function makeLines() {
  const lines = createLinesBuilder(day)
  for (let i = 0; i < count; i += 1) {
    const source = Buffer.from(textOf(i))
    lines.add(i, i + 1, streamOf(i), source, 0, source.length)
  }
  return lines.finish()
}

function run(segment: Segment, filter: LogFilter): Selection {
  return finish(select(segment, filter))
}

const regex = (source: string) => match('log', { kind: 'regex', source, caseSensitive: true })

describe('select', () => {
  const lines = makeLines()
  const everything: LogFilter = { scope: 'everything' }
  const cases: readonly [string, LogFilter, (i: number) => boolean][] = [
    [
      'a few that words leave open',
      { ...everything, expression: regex('seldom .*z$') },
      i => /seldom .*z$/.test(textOf(i)),
    ],
    [
      'a few of a part of the time',
      { ...everything, startNs: timeOf(5_000), endNs: timeOf(19_999), expression: regex('seldom .*z$') },
      i => i >= 5_000 && i <= 19_999 && /seldom .*z$/.test(textOf(i)),
    ],
    [
      'all, of which words say nothing',
      { ...everything, expression: regex('[xy]$') },
      i => /[xy]$/.test(textOf(i)),
    ],
    [
      'many of a part of the time',
      { ...everything, startNs: timeOf(777), endNs: timeOf(28_001), expression: regex('[xy]$') },
      i => i >= 777 && i <= 28_001 && /[xy]$/.test(textOf(i)),
    ],
    ['none', { ...everything, expression: regex('seldom often') }, () => false],
  ]
  for (const cacheBytes of [0, 100 * 1024 * 1024]) {
    const room = cacheBytes === 0 ? 'no room' : 'room for all'
    for (const [what, filter, isWanted] of cases) {
      it(`finds ${what}, with ${room}, and again`, () => {
        const segment = segmentOf(lines, { cache: createPieceCache(cacheBytes) })
        const wanted = Array.from({ length: count }, (_, i) => i).filter(isWanted)
        for (const _ of ['at first', 'again']) {
          const { from, to, bits } = run(segment, filter)
          if (bits === undefined) throw new Error('everything is no answer here')
          expect(takeBits(bits, { from, to }, count, false)).to.deep.equal(wanted)
        }
      })
    }
  }

  const { poolSize } = Buffer
  afterEach(() => {
    Buffer.poolSize = poolSize
  })
  for (const [what, source] of [
    ['few', 'seldom .*z$'],
    ['many', '[xy]$'],
  ] as const) {
    it(`leaves next to nothing to be collected of a look at ${what}, where there is no room`, () => {
      // As in the thread that reads: what shares its memory cannot be let go of by itself.
      Buffer.poolSize = 0
      const segment = segmentOf(lines, { cache: createPieceCache(0), decompress: createDecompress() })
      const before = process.memoryUsage().arrayBuffers
      for (let i = 0; i < 10; i += 1) run(segment, { ...everything, expression: regex(source) })
      // Bitmaps are 4 KB each. Where its documents lie takes 240 KB alone, the texts more than a megabyte.
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(600_000)
    })
  }

  it('leaves what another question has that goes through the same meanwhile, with no room', () => {
    const segment = segmentOf(lines, { cache: createPieceCache(0) })
    const expression = regex('[xy]$')
    const slow = select(segment, { ...everything, expression })
    for (let i = 0; i < 20; i += 1) slow.next()
    const quick = run(segment, { ...everything, expression })
    expect(finish(slow)).to.deep.equal(quick)
  })
})
