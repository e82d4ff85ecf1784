import { expect } from 'chai'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import type { LogBatch } from '../store.ts'
import { createIngestRecords } from './ingest-records.ts'
import { defaultLimits } from './limits.ts'

describe('createIngestRecords', () => {
  it('derives the ID of a batch from the bytes that were sent, not from the times of its lines', async () => {
    const batches: LogBatch[] = []
    const append = async (batch: LogBatch) => {
      batches.push(batch)
      return { duplicate: false, rejected: [] }
    }
    const ingest = createIngestRecords(append, createTimeSlices())
    for (const log of ['a', 'a', 'b']) {
      const body = Buffer.from(JSON.stringify({ log }))
      await ingest({ protocol: 'jsonlines', body, limits: defaultLimits })
    }
    const [first, second, other] = batches.map(({ id }) => id)
    expect(first).to.be.a('string')
    expect(second).to.equal(first)
    expect(other).not.to.equal(first)
  })
})
