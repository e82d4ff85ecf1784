import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { openTestStore } from '../../pkg/logs/embedded/fixtures.ts'
import type { Scope } from '../../pkg/logs/filter/filter.ts'
import { toComparable } from '../../pkg/logs/logsql/fixtures.ts'
import { parseLogsql } from '../../pkg/logs/logsql/parse/parse.ts'
import { runQuery } from '../../pkg/logs/logsql/run-query.ts'
import type { LogStore } from '../../pkg/logs/store.ts'
import { createTimeSlices } from '../../pkg/scheduling/time-slices.ts'
import { makeFilter } from './filters.ts'
import { type KapisLogsql, startKapisLogsql } from './kapis.ts'
import { makeLines, namespaces, recentNs } from './lines.ts'
import { makeQuery, type TestQuery } from './queries.ts'
import { createRandom } from './random.ts'
import { startVictoriaLogs, type VictoriaLogs, victoriaLogs } from './victorialogs.ts'

// LINES, QUERIES, SEED and TIMEOUT (seconds of a query) come from the environment; a failure reports
// the seed. RECORD=file writes the expectations of the unit tests.
const { LINES, QUERIES, SEED, TIMEOUT, RECORD } = process.env
const lines = Number(LINES ?? 200_000)
const queries = Number(QUERIES ?? 2000)
const seed = Number(SEED ?? Date.now() % 1_000_000)
/** Both have the same time limit, so that a slow machine causes no differences. */
const timeoutMs = Number(TIMEOUT ?? 600) * 1000
/** The namespaces that the second user may read. */
const few = namespaces.slice(2, 4)
const fewScope: Scope = few.map(namespace => ({ namespace, sinceNs: 0n }))
const onlyFew = { extra_filters: `namespace:in(${few.join(', ')})` }
const ports = createPortFinder()

describe(`LogsQL compared to VictoriaLogs, seed ${seed}`, function () {
  this.timeout(7_200_000)
  const firstNs = RECORD === undefined ? recentNs : 1_700_000_000_000_000_000n
  const records = makeLines(lines, seed, firstNs)
  let folder = ''
  let store: LogStore
  let peer: VictoriaLogs
  let all: KapisLogsql
  let some: KapisLogsql
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-logsql-'))
    store = await openTestStore(join(folder, 'kapis'), {
      now: Date.now,
      retention: { days: 3650, bytes: 1e10 },
    })
    peer = await startVictoriaLogs(await victoriaLogs(), join(folder, 'peer'), await ports.any(), timeoutMs)
    for (let at = 0; at < records.length; at += 5000)
      await store.append({ records: records.slice(at, at + 5000) })
    await peer.load(records)
    all = await startKapisLogsql(store, 'everywhere', timeoutMs)
    some = await startKapisLogsql(store, few, timeoutMs)
  })
  after(async () => {
    await all?.stop()
    await some?.stop()
    await store?.close()
    await peer?.stop()
    ports.release()
    await rm(folder, { recursive: true, force: true })
  })

  async function ofKapis(query: string, scope: Scope): Promise<readonly string[]> {
    const found: string[] = []
    const run = {
      ...{ store, filter: { scope }, limits: { timeoutMs } },
      ...{ timeSlices: createTimeSlices(), maxBytes: 1024 ** 3 },
    }
    for await (const rows of runQuery(run, parseLogsql(query, BigInt(Date.now()) * 1_000_000n)))
      found.push(...rows.map(row => toComparable(Object.fromEntries(row))))
    return found.sort()
  }

  async function ofPeer(query: string, scope: Scope): Promise<readonly string[]> {
    return toRows(await peer.send('query', { query, ...(scope === 'everything' ? {} : onlyFew) }))
  }

  /** Returns the rows of VictoriaLogs. */
  async function compare(asked: TestQuery, scope: Scope, report: (why: string) => void) {
    const responses = [ofKapis, ofPeer].map(respond => rowsOf(() => respond(asked.query, scope)))
    const [ours = [], theirs = []] = await Promise.all(responses)
    const why = differenceOf(asked, ours, theirs)
    if (why !== undefined) report(why)
    return theirs
  }

  it(`returns the same results for ${queries} generated queries on ${lines} lines, for both users`, async () => {
    const different: string[] = []
    const recorded: { readonly query: string; readonly rows: readonly string[] }[] = []
    let found = 0
    const report = (query: string) => (why: string) => {
      different.push(`${query}\n${why}`)
      // Reported immediately, since the remaining queries may take hours.
      console.log(different.at(-1))
    }
    for (let i = 0; i < queries; i++) {
      const asked = makeQuery(createRandom(seed * 10_007 + i), firstNs)
      const rows = await compare(asked, 'everything', report(`${i}: ${asked.query}`))
      await compare(asked, fewScope, report(`${i}, as a user of two namespaces: ${asked.query}`))
      if (rows.length > 0) found += 1
      if (!asked.isCountOnly && rows.length < 12) recorded.push({ query: asked.query, rows })
      if (i % 100 === 99) console.log(`${i + 1} queries for each user, ${different.length} differ`)
    }
    console.log(
      `seed ${seed}: ${queries} queries for each user, ${different.length} differ, ${found} with rows`,
    )
    if (RECORD !== undefined) await writeFile(RECORD, record(recorded))
    expect(different.slice(0, 20).join('\n\n'), `${different.length} differ`).to.equal('')
    expect(found).to.be.greaterThan(queries / 3)
  })

  function record(recorded: readonly object[]): string {
    const plain = (_: string, value: unknown) =>
      typeof value === 'bigint' ? { bigint: String(value) } : value
    const texts = [...records, ...recorded].map(value => JSON.stringify(value, plain))
    return `[\n${texts.join(',\n')}\n]\n`
  }

  for (const whose of ['an administrator', 'a user of two of the ten namespaces'] as const) {
    it(`returns the same results from the other endpoints for ${whose}`, async () => {
      const isAll = whose === 'an administrator'
      const kapis = isAll ? all : some
      const extra: Record<string, string> = isAll ? {} : onlyFew
      const random = createRandom(seed + 1)
      let compared = 0
      for (let i = 0; i < Math.min(queries / 10, 100); i++) {
        const query = makeFilter(random, 1, firstNs)
        const span = { start: isoOf(600n), end: isoOf(3000n) }
        const requests: readonly [string, Record<string, string>][] = [
          ['hits', { query, ...span, step: '5m' }],
          ['hits', { query, ...span, step: '7m', offset: '2m', field: 'level' }],
          ['facets', { query, ...span, limit: '2000', max_value_len: '300' }],
          ['field_values', { query, field: 'level' }],
          ['streams', { query, ...span }],
          ['stream_field_values', { query, field: 'pod' }],
          ['stats_query', { query: `${query} | stats by (level) count() as n, max(bytes) as m`, ...span }],
          [
            'stats_query_range',
            { query: `${query} | stats by (namespace) count() as n, sum(status) as s`, ...span, step: '10m' },
          ],
          ['query', { query: `${query} | fields _time, _msg`, ...span, limit: '1000000' }],
        ]
        for (const [endpoint, parameters] of requests) {
          const [ours, theirs] = await Promise.all([
            kapis.send(endpoint, parameters),
            peer.send(endpoint, { ...parameters, ...extra }),
          ])
          expect(sorted(endpoint, ours), `${endpoint} ${JSON.stringify(parameters)}`).to.deep.equal(
            sorted(endpoint, theirs),
          )
          compared += 1
        }
      }
      console.log(`seed ${seed}: ${compared} responses of endpoints are equal, for ${whose}`)
    })
  }

  function isoOf(seconds: bigint): string {
    return new Date(Number(firstNs / 1_000_000n + seconds * 1000n)).toISOString()
  }
})

/** An error is returned as a row, so that the comparison continues and reports it. */
async function rowsOf(respond: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await respond()
  } catch (error) {
    return [`failed: ${error}`]
  }
}

function differenceOf(
  { isCountOnly }: TestQuery,
  ours: readonly string[],
  theirs: readonly string[],
): string | undefined {
  const failed = [...ours, ...theirs].find(row => row.startsWith('failed: '))
  if (failed !== undefined) return failed
  if (isCountOnly) return ours.length === theirs.length ? undefined : `${ours.length} and ${theirs.length}`
  if (ours.length === theirs.length && ours.every((row, i) => row === theirs[i])) return undefined
  const [a, b] = [new Set(ours), new Set(theirs)]
  const [only, missing] = [ours.find(row => !b.has(row)), theirs.find(row => !a.has(row))]
  return `  ${ours.length} rows, ${theirs.length} of VictoriaLogs\n  only Kapis: ${only}\n  only VictoriaLogs: ${missing}`
}

function toRows(text: string): readonly string[] {
  const rows = text.split('\n').filter(line => line !== '')
  return rows.map(line => toComparable(JSON.parse(line))).sort()
}

/** Sorts lists whose order is undefined. */
function sorted(endpoint: string, text: string): unknown {
  if (endpoint === 'query') return toRows(text)
  const order = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const texts = value.map(item => JSON.stringify(order(item)))
      // Lists in responses of hits are sorted by time, and are not changed.
      return typeof value[0] === 'object' ? texts.sort() : texts
    }
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).filter(([name, inner]) => name !== 'field_name' || inner !== '')
    return Object.fromEntries(members.map(([name, inner]) => [name, order(inner)]).sort())
  }
  const parsed = JSON.parse(text)
  if (endpoint === 'facets')
    parsed.facets = parsed.facets.filter(
      ({ field_name }: { field_name: string }) => field_name !== '_stream_id',
    )
  return order(parsed)
}
