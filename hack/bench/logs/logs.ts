import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchEnv, withCluster } from '../cluster.ts'
import { measure } from '../load.ts'
import { childrenOf, residentMb } from '../process-stats.ts'
import { median, printHead, report } from '../report.ts'
import { ingest } from './ingest.ts'
import { writeLines } from './lines.ts'
import { queries } from './queries.ts'

/** A small cluster, which produces few log lines itself. */
export const logsClusterSize = { NODES: '3', PODS: '3' } as const

const count = Number(process.env.LINES ?? 1_000_000)
// With ten million lines, a round of all queries takes half a minute in both stores.
const rounds = count > 2_000_000 ? 5 : 9
// The default of logs.embedded.memoryMegabytes.
const memoryMegabytes = 512
const smallLines = 30_000
const together = { lines: 300_000, rounds: 9, askMs: 4_000, pauseMs: 200 }
const disturbed = { rounds: 9, seconds: 6 }

/** A Kapis instance with one of the log stores. */
type ComparedStore = {
  readonly env: BenchEnv
  readonly ask: (query: string) => Promise<string>
  readonly bulk: string
}

/** Compares the embedded store with OpenSearch by the same lines, queries and API. */
export async function benchLogs(env: BenchEnv): Promise<void> {
  const peer = { RUN_DIR: `${env.runDir}-opensearch`, LOG_STORE: 'opensearch', ...logsClusterSize }
  await withCluster({ ...process.env, ...peer }, async peerEnv => {
    printHead('OpenSearch')
    const [embedded, openSearch] = [toSide(env), toSide(peerEnv)]
    const pids = [env.pids.get('apiserver') ?? 0]
    const before = sumOf([...pids, ...pids.flatMap(childrenOf)].map(pid => residentMb(pid)))
    await compare(embedded, openSearch)
    printHead('alone')
    await benchExpression(embedded)
    // From here on, measurements add lines.
    await benchTogether(embedded)
    await benchSmall(embedded)
    const most = sumOf([...pids, ...pids.flatMap(childrenOf)].map(pid => residentMb(pid, 'VmHWM')))
    report('MB on top at most; the setting', [most - before], [memoryMegabytes], { atMost: 1 })
  })
}

async function compare(embedded: ComparedStore, openSearch: ComparedStore): Promise<void> {
  const end = Math.floor(Date.now() / 1000)
  const lines = writeLines(join(embedded.env.runDir, 'lines.ndjson'), count, end)
  const own = await ingest(lines, embedded.bulk, embedded.env.kapisToken)
  // Kapis creates its index template when the first line arrives.
  const first = writeLines(join(embedded.env.runDir, 'first.ndjson'), 1, end)
  await ingest(first, openSearch.bulk, openSearch.env.kapisToken)
  const direct = openSearch.env.openSearchUrl
  const theirs = await ingest(lines, `${direct}/_bulk`)
  await fetch(`${direct}/_flush`, { method: 'POST' })
  report('ingest, lines/s', [own], [theirs], { atLeast: 2.5 })
  const bytes = ({ env }: ComparedStore, name: string) => [folderBytes(join(env.runDir, name)) / count]
  report('disk, bytes a line', bytes(embedded, 'kapis-logs'), bytes(openSearch, 'opensearch'), {
    atMost: 0.5,
  })
  await sleep(2000)
  for (const [name, query, atMost = 1] of queries(end)) {
    const [a, b] = [await time(embedded, query), await time(openSearch, query)]
    report(`${name}, ms`, a.times, b.times, { atMost })
    // The totals may differ slightly, since each control plane also ships its own logs.
    if (Math.abs(a.total - b.total) > count / 100)
      console.log(`  the totals differ: ${a.total} and ${b.total}`)
  }
}

/** Measures how regular expressions over all lines affect requests without the store. */
async function benchExpression({ env, ask }: ComparedStore): Promise<void> {
  const url = `${env.kapisUrl}/apis/resources.${env.groupDomain}/v1alpha3/nodes/worker-1`
  const load = { url, token: env.kapisToken, connections: 4, perSecond: 50, seconds: disturbed.seconds }
  const [busy, quiet]: [number[], number[]] = [[], []]
  let requestCount = 0
  for (let round = 0; round < disturbed.rounds; round++) {
    quiet.push((await measure(load)).p99Ms)
    const isDone = new AbortController()
    // Each query is different, since caches respond to repeated queries.
    const asking = repeat(isDone.signal, () =>
      ask(`q=${encodeURIComponent(`/=1.*u49[^${requestCount++}]/`)}&size=1`),
    )
    busy.push((await measure(load)).p99Ms)
    isDone.abort()
    await asking
  }
  report('p99 of a node during expressions, ms', busy, quiet, { atMost: 2 })
}

/** Measures how ingest and queries affect each other; the query alone before and after. */
async function benchTogether({ env, ask, bulk }: ComparedStore): Promise<void> {
  const times: number[] = []
  const question = async (): Promise<void> => {
    const start = performance.now()
    await ask(`q=error+OR+never${Date.now()}&size=10`)
    times.push(performance.now() - start)
    await sleep(together.pauseMs)
  }
  const askDuring = async (work: Promise<unknown>): Promise<number> => {
    const isDone = new AbortController()
    const asking = repeat(isDone.signal, question)
    await work
    isDone.abort()
    await asking
    return median(times.splice(0))
  }
  const askAlone = async (): Promise<number> => {
    await sleep(2000)
    return askDuring(sleep(together.askMs))
  }
  const rates: { alone: number[]; during: number[] } = { alone: [], during: [] }
  const asked: { alone: number[]; during: number[] } = { alone: [], during: [] }
  for (let round = 0; round < together.rounds; round += 1) {
    // All lines have the current time: old lines would not be stored again, and cost little.
    const now = Math.floor(Date.now() / 1000)
    const [first, second] = [1, 2].map(ago =>
      writeLines(join(env.runDir, `together-${ago}.ndjson`), together.lines, now - ago),
    )
    if (first === undefined || second === undefined) return
    rates.alone.push(await ingest(first, bulk, env.kapisToken))
    const before = await askAlone()
    const sending = ingest(second, bulk, env.kapisToken)
    asked.during.push(await askDuring(sending))
    rates.during.push(await sending)
    asked.alone.push((before + (await askAlone())) / 2)
  }
  report('ingest during queries, lines/s', rates.during, rates.alone, { atLeast: 0.67 })
  report('query during ingest, ms', asked.during, asked.alone, { atMost: 2 })
}

/** Measures the disk space of lines that are sent one by one, after their file is closed. */
async function benchSmall({ env, bulk }: ComparedStore): Promise<void> {
  const folder = join(env.runDir, 'kapis-logs')
  // A day without other lines.
  const day = Math.floor(Date.now() / 86_400_000) - 3
  const name = new Date(day * 86_400_000).toISOString().slice(0, 10)
  const lines = writeLines(join(env.runDir, 'small.ndjson'), smallLines, (day + 1) * 86_400, 1)
  await ingest(lines, bulk, env.kapisToken)
  // Files of past days are closed once a minute.
  const deadline = performance.now() + 150_000
  const files = () => readdirSync(folder).filter(file => file.startsWith(name))
  while (files().some(file => file.endsWith('-wal')) && performance.now() < deadline) await sleep(1000)
  const bytes = sumOf(files().map(file => statSync(join(folder, file)).size))
  report('lines sent one by one, bytes per line; the target', [bytes / smallLines], [220], { atMost: 1 })
}

function toSide(env: BenchEnv): ComparedStore {
  const headers = { authorization: `Bearer ${env.kapisToken}` }
  const logs = `${env.kapisUrl}/kapis/tenant.${env.groupDomain}/v1alpha2/logs`
  return {
    env,
    bulk: `${env.kapisUrl}/kapis/logging.${env.groupDomain}/v1alpha2/ingest/_bulk`,
    ask: async query => {
      const response = await fetch(`${logs}?${query}`, { headers })
      const text = await response.text()
      if (response.ok) return text
      throw new Error(`${query} failed with ${response.status}: ${text}`)
    },
  }
}

/** Measures several rounds, since both stores cache parts of earlier queries. */
async function time({ ask }: ComparedStore, query: string): Promise<{ times: number[]; total: number }> {
  const times: number[] = []
  let body = ''
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now()
    body = await ask(query.replace('{n}', `${round}`))
    times.push(performance.now() - start)
  }
  const { query: found, histogram, statistics } = JSON.parse(body)
  return { times, total: Number(found?.total ?? histogram?.total ?? statistics?.logs) }
}

async function repeat(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) await work()
}

function folderBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  )
  return sumOf(entries.map(entry => statSync(join(entry.parentPath, entry.name)).size))
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
