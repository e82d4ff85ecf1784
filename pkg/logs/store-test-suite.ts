import { expect } from 'chai'
import fc from 'fast-check'
import type { LogFilter } from './filter/filter.ts'
import { createMatcher } from './filter/matcher.ts'
import { bucketStart, fillBuckets, parseInterval } from './histogram-interval.ts'
import { defaultLimits } from './ingest/limits.ts'
import { toDocument } from './opensearch/document.ts'
import type { LogRecord } from './record.ts'
import type { LogStore, Order } from './store.ts'
import { makeLines } from './store-test-lines.ts'
import { filters } from './store-test-queries.ts'

/**
 * Defines the tests of every store: the same queries on the same lines, compared with a scan of all
 * lines.
 *
 * @param firstNs time of the first line; the lines are of this day and the two following
 * @param untilFound waits until stored lines are searchable
 */
export function testLogStore(
  open: () => Promise<LogStore>,
  firstNs: bigint,
  runs: number,
  untilFound?: () => Promise<void>,
): void {
  const lines = makeLines(firstNs, 3000)
  const limits = { timeoutMs: 20_000 }
  let store: LogStore

  before(async function () {
    this.timeout(60_000)
    store = await open()
    // Ranges of mixed times, as from several nodes: records and shipper documents in turn.
    for (let at = 0; at < lines.length; at += 250) {
      const records = lines.slice(at, at + 250)
      if (at % 500 === 0) await store.append({ records })
      else {
        // Shippers do not send label pairs, which exist only in the search engine.
        const toText = (record: LogRecord) =>
          JSON.stringify(toDocument(record), (name, value) => (name === 'label_pairs' ? undefined : value))
        const body = Buffer.from(records.map(toText).join('\n'))
        const { stored } = await store.ingest({ protocol: 'jsonlines', body, limits: defaultLimits })
        expect(stored).to.equal(records.length)
      }
    }
    await untilFound?.()
  })
  after(() => store.close())

  const matching = (filter: LogFilter, order: Order): readonly LogRecord[] => {
    const ascending = lines.filter(createMatcher(filter)).sort((a, b) => Number(a.timeNs - b.timeNs))
    return order === 'asc' ? ascending : ascending.reverse()
  }
  const check = (property: (filter: LogFilter, order: Order, from: number, size: number) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(
        filters(firstNs),
        fc.constantFrom<Order>('asc', 'desc'),
        fc.nat(30),
        fc.nat(25),
        property,
      ),
      { numRuns: runs, seed: 8 },
    )

  it('finds the same records, in the same order, with the same total', async function () {
    this.timeout(120_000)
    await check(async (filter, order, from, size) => {
      const expected = matching(filter, order)
      const query = { filter, order, size, start: { from }, withTotal: true }
      const { total, hits } = await store.query(query, limits)
      expect(total).to.equal(expected.length)
      expect(hits.map(({ record }) => record)).to.deep.equal(expected.slice(from, from + size))
    })
  })

  it('continues after a cursor without omitting or repeating a record', async function () {
    this.timeout(120_000)
    await check(async (filter, order, from) => {
      const expected = matching(filter, order)
      const size = Math.max(Math.ceil(expected.length / 4), from, 1)
      const found: LogRecord[] = []
      let start: { from: number } | { after: string } = { from: 0 }
      for (let page = 0; page < 6; page += 1) {
        const { hits } = await store.query({ filter, order, size, start, withTotal: false }, limits)
        found.push(...hits.map(({ record }) => record))
        const last = hits.at(-1)
        if (last === undefined) break
        start = { after: last.cursor }
      }
      expect(found).to.deep.equal(expected)
    })
  })

  it('returns the same counts', async function () {
    this.timeout(120_000)
    const interval = parseInterval('2h')
    await check(async filter => {
      const expected = matching(filter, 'asc')
      const containers = new Set(expected.map(({ dockerId }) => dockerId).filter(id => id !== ''))
      expect(await store.statistics(filter, limits)).to.deep.equal({
        containers: containers.size,
        logs: expected.length,
      })
      const counts = new Map<number, number>()
      for (const { timeNs } of expected) {
        const start = bucketStart(interval, Number(timeNs / 1_000_000n))
        counts.set(start, (counts.get(start) ?? 0) + 1)
      }
      expect(await store.histogram(filter, interval, limits)).to.deep.equal({
        total: expected.length,
        buckets: fillBuckets(interval, counts, 10_000),
      })
    })
  })
}
