import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { collectGarbage } from '../../telemetry/collect-garbage.ts'
import { parseLogsql } from './parse/parse.ts'
import { createPipeline } from './pipes/pipeline.ts'
import { endWithoutRows } from './pipes/stage.ts'
import type { Row } from './row.ts'

async function heapUsed(): Promise<number> {
  await collectGarbage()
  return process.memoryUsage().heapUsed
}

/**
 * Returns the most memory that a pipeline uses after all rows or while it ends: on the heap, and as
 * its budget counts it.
 */
async function measure(query: string, count: number, make: (i: number) => Row) {
  let [taken, counted] = [0, 0]
  const budget = {
    take: (bytes: number) => {
      taken += bytes
      counted = Math.max(counted, taken)
    },
  }
  const last = { push: () => true, end: endWithoutRows }
  const first = createPipeline(parseLogsql(query, 0n).pipes, last, budget)
  // Lets the pipeline of the previous test be garbage-collected.
  await setImmediate()
  const before = await heapUsed()
  for (let i = 0; i < count; i++) first.push(make(i))
  let used = await heapUsed()
  let steps = 0
  for (const _ of first.end()) if (++steps % count === 0) used = Math.max(used, await heapUsed())
  return { used: used - before, counted }
}

const makeRow = (i: number): Row =>
  new Map(Object.entries({ a: `k${i}`, b: String(i), c: `some value ${i}`, d: 'same' }))
const long = 'x'.repeat(20_000)
const makeLong = (i: number): Row => new Map([['_msg', `${long}${i} id=${String(i).padStart(20, '0')} end`]])
const makeShape = (i: number): Row => {
  const word = 'abcdefghijklmnop'.slice(i % 3)
  return new Map([['_msg', `${Array.from({ length: 1 + i }, () => word).join(' ')} ${long}`]])
}

describe('the memory of a query', function () {
  this.timeout(60_000)
  const counts = Array.from({ length: 10 }, (_, i) => `count(b) as n${i}`)
  const queries = [
    '* | stats by (a) count() n',
    '* | stats by (a, b) count(b) n',
    '* | stats by (a) count() n, sum(b) s, avg(b) t, max(b) m',
    `* | stats by (a) ${counts}`,
    '* | stats by (a) count_uniq(b) n',
    '* | stats by (a) quantile(0.5, b) n',
    '* | stats by (a) histogram(b) n',
    '* | stats by (a) min(c) n',
    '* | stats count_uniq(c) n',
    '* | stats quantile(0.5, c) n',
    '* | uniq by (a)',
    '* | top 1000000 by (a, b)',
    '* | sort by (b)',
    '* | sort by (a, b, c)',
    '* | sort by (b) partition by (a) limit 3',
  ]
  for (const query of queries) {
    it(`is within the counted bytes: ${query}`, async () => {
      const { used, counted } = await measure(query, 8000, makeRow)
      expect(used).to.be.below(counted * 1.1)
    })
  }

  const parts = [
    "* | extract 'id=<id> ' | fields id | sort by (id)",
    "* | extract 'id=<id> ' | stats by (id) count()",
    "* | extract 'id=<id> ' | uniq by (id)",
    '* | unpack_logfmt fields (id) | stats by (id) count()',
    "* | extract 'id=<id> ' | format 'the ID <id>' as f | fields f | sort by (f)",
  ]
  for (const query of parts) {
    it(`does not retain lines of which the result contains only a part: ${query}`, async () => {
      const { used, counted } = await measure(query, 800, makeLong)
      expect(used).to.be.below(counted * 1.1)
    })
  }

  it('does not retain lines whose words are in a pattern', async () => {
    expect((await measure('* | patterns', 48, makeShape)).used).to.be.below(400_000)
  })
})
