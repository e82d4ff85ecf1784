import { expect } from 'chai'
import { createLinesBuilder } from './lines.ts'
import { segmentOf } from './lines-fixtures.ts'
import { openLines } from './open-lines.ts'
import { createPieceCache } from './piece-cache.ts'
import { readRecords } from './records.ts'
import { finish } from './work-fixtures.ts'

const [count, day] = [2000, 20_000]

/** Lines that arrive out of order; document i is the one of time i. */
function makeLines(name: string) {
  const lines = createLinesBuilder(day)
  for (let i = 0; i < count; i += 1) {
    const time = (i * 7) % count
    const text = Buffer.from(`${name} ${time} ${'x'.repeat(100)}`)
    const stream = { namespace: 'ns', pod: `pod-${time % 13}`, container: 'c', host: '', dockerId: '' }
    lines.add(time, i + 1, stream, text, 0, text.length)
  }
  return lines.finish()
}

const shared = { cache: createPieceCache(0) }
const segments = [
  segmentOf(makeLines('one'), shared, 'one'),
  segmentOf(makeLines('two'), shared, 'two'),
  openLines('three', makeLines('three')),
]

describe('readRecords', () => {
  const expected = (name: string, document: number) => ({
    log: `${name} ${document} ${'x'.repeat(100)}`,
    timeNs: BigInt(day) * 86_400_000_000_000n + BigInt(document),
    pod: `pod-${document % 13}`,
  })

  for (const [what, documents] of [
    ['no lines', []],
    ['one of each segment', [1234]],
    ['the first and the last', [count - 1, 0]],
    ['some, in no order', [77, 3, 1999, 500, 78, 2]],
    ['all, the newest first', Array.from({ length: count }, (_, i) => count - 1 - i)],
  ] as const) {
    it(`has of each line its own record: ${what}`, () => {
      const lines = documents.flatMap(document => segments.map(segment => ({ segment, document })))
      const records = finish(readRecords(lines))
      expect(records.size).to.equal(lines.length)
      for (const line of lines) {
        const { log, timeNs, pod } = records.get(line) ?? {}
        expect({ log, timeNs, pod }).to.deep.equal(expected(line.segment.id, line.document))
      }
    })
  }

  it('lets others in while it reads many', () => {
    const lines = segments.flatMap(segment =>
      Array.from({ length: count }, (_, document) => ({ segment, document })),
    )
    const work = readRecords(lines)
    let turns = 0
    while (!work.next().done) turns += 1
    expect(turns).to.be.at.least(60)
  })
})
