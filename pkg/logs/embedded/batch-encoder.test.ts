import { expect } from 'chai'
import { Status } from '../../status/status.ts'
import { defaultLimits } from '../ingest/limits.ts'
import type { RawBatch } from '../ingest/raw-batch.ts'
import { createBatchEncoder, type EncodedBatch } from './batch-encoder.ts'
import { readingFrame } from './frame.ts'
import { createLinesBuilder } from './lines.ts'

const document = (log: string, time = '2026-11-22T08:00:00Z') => JSON.stringify({ time, log })
const jsonLines = (lines: readonly string[], more: object = {}): RawBatch => ({
  protocol: 'jsonlines',
  body: Buffer.from(lines.join('\n')),
  limits: { ...defaultLimits, ...more },
})

describe('createBatchEncoder', () => {
  const encode = createBatchEncoder(() => undefined)

  function textsOf({ frame }: EncodedBatch): readonly string[] {
    if (frame === undefined) return []
    const builder = createLinesBuilder(0)
    expect([...readingFrame(frame.bytes, () => builder)]).to.deep.equal([])
    const { text, textStarts } = builder.finish()
    return Array.from({ length: frame.count }, (_, i) =>
      text.toString('utf8', textStarts[i], textStarts[i + 1]),
    )
  }
  const answerOf = ({ answer }: EncodedBatch) => JSON.parse(Buffer.from(answer).toString())

  it('makes a frame of the good lines, and tells of the others', () => {
    const encoded = encode(jsonLines([document('a'), 'bad', document('b')]), 0)
    expect(textsOf(encoded)).to.deep.equal(['a', 'b'])
    const { taken, refused, refusal, frame } = encoded
    expect({ taken, refused, refusal, count: frame?.count }).to.deep.equal({
      ...{ taken: 2, refused: 1, refusal: undefined, count: 2 },
    })
    const errors = [{ line: 2, reason: 'not valid JSON' }]
    expect(answerOf(encoded)).to.deep.equal({ accepted: 2, rejected: 1, errors })
  })

  it('leaves out lines of days that are not kept, by their place', () => {
    const firstDay = Date.UTC(2026, 10, 20) / 86_400_000
    const encoded = encode(jsonLines([document('old', '2026-11-19T23:59:59Z'), document('a')]), firstDay)
    expect(textsOf(encoded)).to.deep.equal(['a'])
    const reason = 'the time is before 2026-11-20, and older lines are not kept'
    expect(answerOf(encoded).errors).to.deep.equal([{ line: 1, reason }])
  })

  it('has no frame where nothing can be stored', () => {
    const encoded = encode(jsonLines(['bad', 'worse']), 0)
    expect([encoded.frame, encoded.refusal]).to.deep.equal([
      undefined,
      'none of 2 lines was taken; line 1: not valid JSON',
    ])
    const { taken, refused, refusal } = encode(jsonLines([]), 0)
    expect({ taken, refused, refusal }).to.deep.equal({ taken: 0, refused: 0, refusal: undefined })
  })

  it('has nothing left of a batch that could not be read', () => {
    const text = `{"create":{}}\n${document('lost')}\n{"creat":{}}\n`
    const bulk: RawBatch = { protocol: 'bulk', index: '', body: Buffer.from(text), limits: defaultLimits }
    expect(() => encode(bulk, 0)).to.throw(Status, 'line 3: not an action')
    const many = Array.from({ length: 3 }, (_, i) => document(`many ${i}`))
    expect(() => encode(jsonLines(many, { batchLines: 2 }), 0)).to.throw(
      Status,
      'the batch has 3 lines, the limit is 2',
    )
    expect(textsOf(encode(jsonLines([document('next')]), 0))).to.deep.equal(['next'])
  })

  it('knows a batch again by its lines', () => {
    const key = (...lines: string[]) => encode(jsonLines(lines.map(log => document(log))), 0).frame?.key
    expect(key('a', 'b')).to.equal(key('a', 'b'))
    expect(new Set([key('a', 'b'), key('b', 'a'), key('a')])).to.have.property('size', 3)
  })

  it('lets questions go first, however large the batch', () => {
    let given = 0
    const patient = createBatchEncoder(() => {
      given += 1
    })
    patient(jsonLines(Array.from({ length: 2000 }, (_, i) => document(`line ${i}`))), 0)
    expect(given).to.be.greaterThan(50)
  })
})
