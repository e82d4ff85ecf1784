import { expect } from 'chai'
import { createLinesBuilder, type Stream } from './lines.ts'
import { openLines } from './open-lines.ts'
import { readRecords } from './records.ts'
import type { Segment } from './segment.ts'
import { finish } from './work-fixtures.ts'

const day = 20_000

function recordsOf(segment: Segment, documents: readonly number[]) {
  const lines = documents.map(document => ({ segment, document }))
  const records = finish(readRecords(lines))
  return lines.flatMap(line => records.get(line) ?? [])
}

describe('openLines', () => {
  const streamOf = (pod: string): Stream => ({
    namespace: 'ns',
    pod,
    container: 'c',
    host: '',
    dockerId: pod,
  })
  const [web, db, late] = [streamOf('web'), streamOf('db'), streamOf('late')]

  function build() {
    const builder = createLinesBuilder(day)
    const add = (time: number, stream: Stream, text: string) => {
      const bytes = Buffer.from(text)
      builder.add(time, builder.count(), stream, bytes, 0, bytes.length)
    }
    add(30, web, 'third')
    add(10, db, 'first')
    add(20, web, 'second')
    return { builder, add }
  }

  it('has lines in the order of time, and which stream each is of', () => {
    const segment = openLines('x', build().builder.finish())
    expect(recordsOf(segment, [0, 1, 2]).map(({ pod, log }) => `${pod} ${log}`)).to.deep.equal([
      'db first',
      'web second',
      'web third',
    ])
    expect([...segment.streamStarts]).to.deep.equal([0, 2, 3])
    expect([...segment.groupDocuments().documents]).to.deep.equal([1, 2, 0])
    expect(segment.useStreams(streamOf => [...streamOf])).to.deep.equal([1, 0, 0])
    expect(segment.documentsOf([0])).to.deep.equal(Uint32Array.of(0b110))
  })

  it('is what it was when more comes, also of streams that were not there', () => {
    const { builder, add } = build()
    const segment = openLines('x', builder.finish())
    add(5, late, 'later')
    expect(segment.footer).to.deep.include({ count: 3, firstTime: 10, lastTime: 30, streams: [web, db] })
    expect([...segment.streamStarts]).to.deep.equal([0, 2, 3])
    expect(recordsOf(segment, [0])).to.have.nested.property('[0].log', 'first')
    const grown = openLines('x', builder.finish())
    expect(grown.footer).to.deep.include({ count: 4, firstTime: 5, streams: [web, db, late] })
    expect(recordsOf(grown, [0])[0]).to.deep.include({ pod: 'late', log: 'later' })
  })
})
