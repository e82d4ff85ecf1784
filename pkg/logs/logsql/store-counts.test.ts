import { expect } from 'chai'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { line, openTestStore, testDayNs, useFolder } from '../embedded/fixtures.ts'
import type { LogFilter } from '../filter/filter.ts'
import type { LogStore } from '../store.ts'
import { parseLogsql } from './parse/parse.ts'
import { runQuery } from './run-query.ts'

const secondNs = 1_000_000_000n
const timeOf = (seconds: number) =>
  new Date(Number(testDayNs / 1_000_000n) + seconds * 1000).toISOString().replace('.000', '')
// Lines of two days, in three namespaces, at odd times.
const records = Array.from({ length: 3000 }, (_, i) =>
  line(i % 7 === 0 ? 'error' : 'fine', {
    timeNs: testDayNs + 80_000n * secondNs + BigInt((i * 7919) % 3000) * 4_000_000_007n,
    namespace: `team-${i % 3}`,
  }),
)
const range = `_time:[${timeOf(80_000)}, ${timeOf(90_000)}]`
const scopes: readonly LogFilter['scope'][] = [
  'everything',
  [{ namespace: 'team-1', sinceNs: testDayNs + 85_000n * secondNs }],
  [],
]

/** Runs a query, and reports whether lines were read for it. */
async function run(store: LogStore, scope: LogFilter['scope'], query: string) {
  let isRead = false
  const watched: LogStore = {
    ...store,
    rows: async (...asked) => {
      isRead = true
      if (store.rows === undefined) throw new Error('the store has no rows')
      return store.rows(...asked)
    },
  }
  const found: object[] = []
  const given = { store: watched, filter: { scope }, limits: { timeoutMs: 30_000 }, maxBytes: 1e8 }
  const rows = runQuery({ ...given, timeSlices: createTimeSlices() }, parseLogsql(query, testDayNs))
  for await (const page of rows) found.push(...page.map(row => Object.fromEntries(row)))
  return { isRead, found: found.map(row => JSON.stringify(row)).sort() }
}

describe('runQuery', () => {
  const folder = useFolder()

  it('counts lines without reading them, with the result of reading them', async () => {
    const store = await openTestStore(folder())
    await store.append({ records })
    const filters = [
      '*',
      range,
      `{namespace="team-1"}`,
      '{namespace=~"team-1|team-2|other"}',
      `${range} namespace:=team-2`,
      `_time:<${timeOf(0)}`,
    ]
    const pipes = [
      'stats count() as n',
      'stats count() as n, count() as m | math n + m as both',
      'filter {namespace!="team-0"} | stats count() as n',
      'stats count() as n | filter n:>1000',
    ]
    const short = `_time:[${timeOf(80_000)}, ${timeOf(80_060)}]`
    const byTime = ['1s', '7s', '1m', '90m', '1h', 'day'].map(step => `stats by (_time:${step}) count() as n`)
    for (const scope of scopes)
      for (const filter of [...filters, short])
        for (const pipe of filter === short
          ? ['stats by (_time:7ms) count() as n', 'stats by (_time:10ms) count() as n']
          : [...pipes, ...(filter.startsWith('_time:[') ? byTime.slice(1) : [])]) {
          const query = `${filter} | ${pipe}`
          const counted = await run(store, scope, query)
          const read = await run(store, scope, query.replaceAll('count()', 'count() if (*)'))
          expect([query, counted]).to.deep.equal([query, { isRead: false, found: read.found }])
        }
    await store.close()
  })

  it('counts lines by origin without reading them, with the result of reading them', async () => {
    const opened = await openTestStore(folder())
    const labelled = records.map((record, i) => ({
      ...record,
      pod: `web-${i % 4}`,
      labels: { app: `a${i % 5}`, ...(i % 2 === 0 ? {} : { tier: '1' }) },
    }))
    await opened.append({ records: labelled })
    const { origins: _, ...reading } = opened
    const pipes = [
      'stats by (namespace) count() as n, count(pod) as m',
      'stats by (_stream, host) count() if (pod:"web-1") as n, count("labels.tier") as m',
      'stats count(container) as n, count_uniq(pod, namespace) as m, max(pod) as p, min("labels.app") as q',
      'stats by ("labels.app", level) count() as n',
      'top 3 by (pod) rank',
      'top by ("labels.tier", namespace)',
      'uniq by (pod, "labels.tier") hits',
      'uniq by (_stream_id)',
      'filter pod:~"web-[12]" | stats by (pod) count() as n | sort by (n desc, pod) limit 1',
      'stats by (namespace) count() as n | stats sum(n) as n',
    ]
    const filters = [
      '*',
      range,
      '{pod=~"web-[^3]"}',
      '-pod:web',
      '"labels.tier":* namespace:i(TEAM)',
      'error',
    ]
    for (const scope of scopes)
      for (const filter of filters)
        for (const pipe of pipes) {
          const query = `${filter} | ${pipe}`
          const { found } = await run(reading, scope, query)
          expect([query, await run(opened, scope, query)]).to.deep.equal([
            query,
            { isRead: filter === 'error' || pipe.includes('level'), found },
          ])
        }
    await opened.close()
  })

  it('reads lines for any other count', async () => {
    const store = await openTestStore(folder())
    await store.append({ records })
    for (const query of [
      'error | stats count() as n',
      'foo:* | stats count() as n',
      '{namespace=~"team-[12]"} foo:* | stats count() as n',
      '* | stats count(foo) as n',
      '* | stats count() if (error) as n',
      '* | stats by (namespace, foo) count() as n',
      '* | stats by (namespace) sum(pod) as n',
      '* | top by (_msg)',
      '* | fields pod | uniq by (pod)',
      '* | stats by (_time:1h) count() as n',
      `${range} | stats by (_time:1s) count() as n`,
      `${range} | stats by (_time:1h offset 5m) count() as n`,
      `${range} | stats by (_time:week) count() as n`,
      `${range} | stats by (_time) count() as n`,
      `${range} | stats by (_time:1h, namespace) count() as n`,
    ])
      expect([query, (await run(store, 'everything', query)).isRead]).to.deep.equal([query, true])
    await store.close()
  })
})
