import { expect } from 'chai'
import { defaultLimits } from '../limits.ts'
import type { Problem } from '../raw-batch.ts'
import { joinPieces } from '../read-records.ts'
import { readBulk } from './batch.ts'

describe('readBulk', () => {
  it('reports for each rejected line whether it was invalid, and that it must not be resent', () => {
    const body = Buffer.from('{"create":{}}\n{"log":"a"}\n'.repeat(4))
    const reading = readBulk(body, { index: '', filterPath: '' }, defaultLimits)
    expect([...reading.lines]).to.have.length(4)
    const problems = new Map<number, Problem>([
      [0, { reason: 'not a JSON object' }],
      [1, { reason: 'the quota is used up', cause: 'quota' }],
      [2, { reason: 'too old', cause: 'time' }],
    ])
    const response = joinPieces(reading.respond(problems, new Map(), false)).toString()
    const { items } = JSON.parse(`{${response}}`)
    expect(items.map(({ create: { status, error } }: BulkResponseItem) => [status, error])).to.deep.equal([
      [400, { type: 'document_parsing_exception', reason: 'not a JSON object' }],
      [400, { type: 'validation_exception', reason: 'the quota is used up' }],
      [400, { type: 'timestamp_error', reason: 'too old' }],
      [201, undefined],
    ])
  })
})

type BulkResponseItem = { readonly create: { readonly status: number; readonly error?: object } }
