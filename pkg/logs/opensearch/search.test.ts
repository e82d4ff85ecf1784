import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { BodyTooLargeError } from '../../http/read-body.ts'
import type { LogQuery } from '../store.ts'
import type { SearchCall, SearchClient } from './client.ts'
import { queryRecords } from './search.ts'

const limits = { timeoutMs: 1000 }
const query: LogQuery = {
  filter: { scope: 'everything' },
  order: 'asc',
  size: 10_000,
  start: { from: 0 },
  withTotal: true,
}

/** Creates a fake search engine that fails if a response exceeds `maxChars` characters. */
function createEngine(lines: readonly string[], maxChars: number) {
  const sizes: number[] = []
  const call = async ({ body }: SearchCall): Promise<unknown> => {
    const { from = 0, size, search_after: after } = JSON.parse(JSON.stringify(body))
    sizes.push(size)
    const start = after === undefined ? from : after[1] + 1
    const hits = lines.slice(start, start + size).map((log, i) => ({
      _source: { time: '1970-01-01T00:00:01Z', log },
      sort: [1_000_000_000, start + i],
    }))
    if (JSON.stringify(hits).length > maxChars) throw new BodyTooLargeError('too large')
    return { hits: { total: { value: lines.length }, hits } }
  }
  const client: SearchClient = { call, close: async () => undefined }
  return { search: { client, prefix: 'x' }, sizes }
}

describe('queryRecords', () => {
  it('requests fewer records per page if they are long', async () => {
    const lines = Array.from({ length: 60 }, (_, i) => `${i} ${'a'.repeat(1000)}`)
    const { search, sizes } = createEngine(lines, 30_000)
    const { total, hits, isCut } = await queryRecords(search, { ...query, size: 60 }, limits)
    expect([total, isCut]).to.deep.equal([60, false])
    expect(hits.map(({ record }) => record.log)).to.deep.equal(lines)
    expect(Math.max(...sizes.slice(1))).to.be.below(10)
  })

  it('ends a page at the limit of its text, and continues after it', async () => {
    const lines = Array.from({ length: 100 }, (_, i) => `${i} ${'a'.repeat(250_000)}`)
    const { search } = createEngine(lines, 3e7)
    const first = await queryRecords(search, query, limits)
    expect([first.total, first.hits.length, first.isCut]).to.deep.equal([100, 67, true])
    const start = { after: first.hits.at(-1)?.cursor ?? '' }
    const second = await queryRecords(search, { ...query, start }, limits)
    expect(second.isCut).to.equal(false)
    expect([...first.hits, ...second.hits].map(({ record }) => record.log)).to.deep.equal(lines)
  })

  it('reports a single record that is too large', async () => {
    const { search } = createEngine(['a'.repeat(1000)], 100)
    expect(await rejectedStatus(queryRecords(search, query, limits))).to.include({
      code: 503,
      message: 'failed to read a log record: it exceeds the size limit of responses',
    })
  })
})
