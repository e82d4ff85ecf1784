import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createPortFinder } from '../../hack/controlplane/ports.ts'
import { openTestStore } from '../../pkg/logs/embedded/fixtures.ts'
import { parseLogsql } from '../../pkg/logs/logsql/parse.ts'
import { runQuery } from '../../pkg/logs/logsql/run.ts'
import type { LogStore } from '../../pkg/logs/store.ts'
import { createTurns } from '../../pkg/scheduling/time-slices.ts'
import { makeLines } from './lines.ts'
import { type Asked, makeQuery } from './queries.ts'
import { createRandom } from './random.ts'
import { startVictoriaLogs, type VictoriaLogs, victoriaLogs } from './victorialogs.ts'

// LINES, QUERIES and SEED from the environment; a failure names the seed of its query.
const lines = Number(process.env.LINES ?? 200_000)
const queries = Number(process.env.QUERIES ?? 2000)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const ports = createPortFinder()

describe(`LogsQL beside VictoriaLogs, seed ${seed}`, function () {
  this.timeout(3_600_000)
  let folder = ''
  let store: LogStore
  let peer: VictoriaLogs
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-logsql-'))
    const records = makeLines(lines, seed)
    store = await openTestStore(join(folder, 'kapis'), { now: Date.now })
    peer = await startVictoriaLogs(await victoriaLogs(), join(folder, 'peer'), await ports.any())
    for (let at = 0; at < records.length; at += 5000) await store.append({ records: records.slice(at, at + 5000) })
    await peer.load(records)
  })
  after(async () => {
    await store?.close()
    await peer?.stop()
    ports.release()
    await rm(folder, { recursive: true, force: true })
  })

  async function ofKapis(query: string): Promise<readonly string[]> {
    const found: string[] = []
    const run = {
      ...{ store, filter: { scope: 'everything' as const }, limits: { timeoutMs: 120_000 } },
      ...{ turns: createTurns(), maxBytes: 1024 ** 3 },
    }
    for await (const rows of runQuery(run, parseLogsql(query, BigInt(Date.now()) * 1_000_000n)))
      found.push(...rows.map(row => toComparable(Object.fromEntries(row))))
    return found.sort()
  }

  async function ofPeer(query: string): Promise<readonly string[]> {
    const text = await peer.ask('query', { query })
    const rows = text.split('\n').filter(line => line !== '')
    return rows.map(line => toComparable(JSON.parse(line))).sort()
  }

  it(`answers ${queries} generated queries on ${lines} lines alike`, async () => {
    const different: string[] = []
    let found = 0
    for (let i = 0; i < queries; i++) {
      const asked: Asked = makeQuery(createRandom(seed * 10_007 + i))
      const why = await differenceOf(asked, rows => {
        found += rows > 0 ? 1 : 0
      })
      if (why !== undefined) different.push(`${i}: ${asked.query}\n${why}`)
    }
    console.log(`seed ${seed}: ${queries - different.length} of ${queries} alike, ${found} with rows`)
    expect(different.slice(0, 20).join('\n\n'), `${different.length} differ`).to.equal('')
    expect(found).to.be.greaterThan(queries / 3)
  })

  async function differenceOf(asked: Asked, count: (rows: number) => void): Promise<string | undefined> {
    const [ours, theirs] = await Promise.all([ofKapis(asked.query), ofPeer(asked.query)]).catch(error => [
      [String(error)],
      [],
    ])
    count(theirs.length)
    if (asked.isCountOnly) return ours.length === theirs.length ? undefined : `${ours.length} and ${theirs.length}`
    if (ours.length === theirs.length && ours.every((row, i) => row === theirs[i])) return undefined
    const [a, b] = [new Set(ours), new Set(theirs)]
    const [only, missing] = [ours.find(row => !b.has(row)), theirs.find(row => !a.has(row))]
    return `  ${ours.length} rows, ${theirs.length} of VictoriaLogs\n  only Kapis: ${only}\n  only VictoriaLogs: ${missing}`
  }
})

/** Ids of streams are each one's own, and the last digits of floating-point sums depend on the order of lines. */
function toComparable(row: Record<string, string>): string {
  const members = Object.entries(row)
    .filter(([name]) => name !== '_stream_id')
    .map(([name, value]) => [name, /^-?\d+\.\d+$/.test(value) ? String(Number(Number(value).toPrecision(12))) : value])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  return JSON.stringify(members)
}
