import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchEnv } from './env.ts'
import { median } from './load.ts'
import { createPlainSend, firstLine, ingestAll, type Side, sideOf } from './log-client.ts'
import { type LineFile, writeLines } from './log-lines.ts'
import { questions } from './log-questions.ts'
import { askWhile, comparedP99, startLoop } from './logs-during.ts'
import { startPlane } from './plane.ts'
import { report } from './verdict.ts'

/** Of both clusters, where nothing else is measured. */
export const logsClusterSize = { NODES: '3', PODS: '3' } as const

const count = Number(process.env.LINES ?? 1_000_000)
// Of ten million lines a question about each takes half a minute with both stores.
const rounds = count > 2_000_000 ? 5 : 9
// logs.embedded.memoryMegabytes, which is left as it is.
const memoryMegabytes = 512
// Of both at once: a round is some ten questions, and what one round says of them is good to a fifth.
const smallLines = 30_000
const together = { lines: 300_000, rounds: 9 }
// Each from within words of a fifth of all lines.
const withinWords = [
  'd by ups',
  's for k',
  'fter ret',
  'one in t',
  'ection ref',
  'ache mi',
  'eout aft',
  'n refus',
  'iss for',
  'er retr',
  'ed by up',
  'ne in ti',
]

/** The embedded store next to a real OpenSearch: the same lines by `_bulk`, the same questions through the same API. */
export async function benchLogs(env: BenchEnv): Promise<void> {
  const peer = await startPlane({
    ...process.env,
    RUN_DIR: `${env.runDir}-opensearch`,
    LOG_STORE: 'opensearch',
    ...logsClusterSize,
  })
  try {
    await compare(env, peer.env)
  } finally {
    peer.stop()
  }
}

async function compare(env: BenchEnv, peer: BenchEnv): Promise<void> {
  const end = Math.floor(Date.now() / 1000)
  mkdirSync(env.runDir, { recursive: true })
  const lines = writeLines(join(env.runDir, 'lines.ndjson'), count, end)
  const [embedded, openSearch] = [sideOf('embedded', env), sideOf('OpenSearch', peer)]
  const direct = createPlainSend(peer.openSearchUrl)
  const ingest = `/kapis/logging.${env.groupDomain}/v1alpha2/ingest/_bulk`
  console.log(`${count} lines; load of the machine ${loadavg()[0]?.toFixed(1)}`)

  const pid = env.pids.get('apiserver') ?? 0
  const before = residentMegabytes(pid, 'VmRSS')
  const own = await ingestAll(lines, embedded.kapis, ingest)
  const first = performance.now()
  await embedded.kapis('GET', `${embedded.tenant}?q=error&size=1`)
  console.log(`the first question after it: ${(performance.now() - first).toFixed(1)} ms`)
  // Kapis puts its index template when the first line arrives.
  await openSearch.kapis('POST', ingest, firstLine(lines))
  const theirs = await ingestAll(lines, direct, '/_bulk')
  await direct('POST', '/_flush')
  report('ingest, lines/s', own, theirs, { target: 2.5, least: true })
  const bytes = (dir: string, name: string) => folderBytes(join(dir, name)) / count
  report('disk, bytes a line', bytes(env.runDir, 'kapis-logs'), bytes(peer.runDir, 'opensearch'), {
    target: 0.5,
  })
  await sleep(2000)
  for (const [name, query, target = 1] of questions(end)) {
    const [a, b] = [await time(embedded, query), await time(openSearch, query)]
    report(name, a.ms, b.ms, { target })
    console.log(`  asked for the first time: ${a.firstMs.toFixed(1)} and ${b.firstMs.toFixed(1)} ms`)
    // Each control plane ships its own logs besides.
    if (Math.abs(a.total - b.total) > count / 100)
      console.log(`  the answers differ: ${a.total} and ${b.total}`)
  }
  await benchCase(embedded)
  await benchDisturbance(env, embedded, peer, openSearch)
  // Last, as it adds lines.
  await benchTogether(env, embedded, (lines: LineFile) => ingestAll(lines, embedded.kapis, ingest))
  await benchSmall(env, lines => ingestAll(lines, embedded.kapis, ingest))
  const most = residentMegabytes(pid, 'VmHWM')
  report('memory that came on top at most; its setting', most - before, memoryMegabytes, { target: 1 })
  console.log(`resident memory of kapis-apiserver: ${before} MiB before, ${most} MiB at most`)
}

/**
 * What stands within words is looked for in the lines themselves, the first time it is asked. Anyone who asks second finds some of
 * it in memory, so the two take turns; and anyone who asks first of all waits while V8 compiles, so that text is not counted.
 */
async function benchCase(side: Side): Promise<void> {
  const ask = async (q: string) => (await time(side, `q=${encodeURIComponent(q)}&size=100`, 1)).ms
  const [anyCase, exactCase]: [number[], number[]] = [[], []]
  for (const [i, text] of withinWords.entries()) {
    const asks = [
      async () => anyCase.push(await ask(`*"${text}"*`)),
      async () => exactCase.push(await ask(`case:"${text}"`)),
    ]
    for (const each of i % 2 === 0 ? asks : asks.toReversed()) await each()
  }
  anyCase.shift()
  exactCase.shift()
  report('without case; with case', median(anyCase), median(exactCase), { target: 1.5 })
}

/** Of a process and its children: the store writes and reads in two of them. */
function residentMegabytes(pid: number, key: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const own = Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === ''
    ? own
    : children.split(' ').reduce((sum, id) => sum + residentMegabytes(Number(id), key), own)
}

/**
 * What ingest and questions take of each other: the figures of both at once next to those of each alone. A question is asked
 * alone of as many lines as it is asked of during ingest, which adds some: before it and after it.
 */
async function benchTogether(
  env: BenchEnv,
  embedded: Side,
  ingest: (lines: LineFile) => Promise<number>,
): Promise<void> {
  const url = `${env.kapisUrl}${embedded.tenant}?q=error+OR+never{now}&size=10`
  const question = { url, caFile: env.kapisCa, token: env.kapisToken }
  const some = (now: number, secondsAgo: number) =>
    writeLines(join(env.runDir, `together-${secondsAgo}.ndjson`), together.lines, now - secondsAgo)
  const askAlone = async (): Promise<number> => {
    await sleep(2000)
    return (await askWhile(question, () => sleep(4000))).ms
  }
  const measured: { rate: number; alone: number; rateDuring: number; during: number }[] = []
  for (let round = 0; round < together.rounds; round += 1) {
    // Of one moment, however long writing takes: lines that came before are not stored again, and cost little.
    const now = Math.floor(Date.now() / 1000)
    const [first, second] = [some(now, 1), some(now, 2)]
    const rate = await ingest(first)
    const before = await askAlone()
    const { ms: during, result: rateDuring } = await askWhile(question, () => ingest(second))
    const alone = (before + (await askAlone())) / 2
    measured.push({ rate, alone, rateDuring, during })
  }
  const middle = (key: keyof (typeof measured)[number]): number => median(measured.map(one => one[key]))
  const [pace, alone] = [middle('rateDuring'), middle('rate')]
  report('ingest next to questions; alone, lines/s', pace, alone, { target: 2 / 3, least: true })
  report('query during ingest; alone, ms', middle('during'), middle('alone'), { target: 2 })
}

/** What lines take on the disk that are sent one by one, once their file is complete. */
async function benchSmall(env: BenchEnv, ingest: (lines: LineFile) => Promise<number>): Promise<void> {
  const folder = join(env.runDir, 'kapis-logs')
  // A whole day that no other lines are of.
  const day = Math.floor(Date.now() / 86_400_000) - 3
  const name = new Date(day * 86_400_000).toISOString().slice(0, 10)
  const lines = writeLines(join(env.runDir, 'small.ndjson'), smallLines, (day + 1) * 86_400, 1)
  console.log(`lines one by one: ${Math.round(await ingest(lines))} lines/s`)
  // Files of former days are closed each minute.
  const deadline = performance.now() + 150_000
  const files = () => readdirSync(folder).filter(file => file.startsWith(name))
  while (files().some(file => file.endsWith('-wal')) && performance.now() < deadline) await sleep(1000)
  const bytes = files().reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
  report('lines one by one, bytes a line; goal', bytes / smallLines, 220, { target: 1 })
}

/** What the log store does to those who do not use it. */
async function benchDisturbance(
  env: BenchEnv,
  embedded: Side,
  peer: BenchEnv,
  openSearch: Side,
): Promise<void> {
  // Another question each time: what was asked before is answered out of memory.
  let questionsAsked = 0
  const ask = ({ kapis, tenant }: Side, q: string) =>
    kapis('GET', `${tenant}?q=${encodeURIComponent(q)}&size=1`)
  const node = `/apis/resources.${env.groupDomain}/v1alpha3/nodes/worker-1`
  const wanted = 2
  const tell = async (name: string, from: BenchEnv, path: string, disturb: () => () => Promise<void>) => {
    const { disturbedMs, quietMs, low, high } = await comparedP99(from, path, disturb, wanted)
    report(`p99 of ${name}, ms`, disturbedMs, quietMs, { target: wanted })
    console.log(`  nine tenths certain: ${low.toFixed(2)} to ${high.toFixed(2)}`)
  }
  await tell('a node: store busy; idle', env, node, () => {
    let isDone = false
    const asking = (async () => {
      while (!isDone) await ask(embedded, `/=1.*u49[^${questionsAsked++}]/`)
    })()
    return () => {
      isDone = true
      return asking
    }
  })
  const loop = await comparedP99(env, node, startLoop)
  const taken = [loop.disturbedMs / loop.quietMs, loop.low, loop.high].map(quotient => quotient.toFixed(2))
  console.log(
    `  with a processor that another program keeps instead: ${taken[0]} (${taken[1]} to ${taken[2]})`,
  )
  const engine = peer.pids.get('opensearch')
  if (engine === undefined) throw new Error('there is no OpenSearch to stop')
  const stop = () => {
    process.kill(engine, 'SIGSTOP')
    // What is answered as soon as it goes on: regular expressions would keep it busy next to the next turn, which is to be quiet.
    const asking = [1, 2, 3, 4].map(() => ask(openSearch, `never${questionsAsked++}`))
    return async () => {
      process.kill(engine, 'SIGCONT')
      await Promise.all(asking)
    }
  }
  const asked = { 'a node': node, oauth: '/oauth/userinfo', proxy: '/api/v1/nodes/worker-1' }
  for (const [name, path] of Object.entries(asked))
    await tell(`${name}: store stopped; idle`, peer, path, stop)
}

type Timed = { readonly ms: number; readonly firstMs: number; readonly total: number }

/** The median of some rounds, as both stores keep something of what they were asked, and what the first one took. */
async function time(side: Side, query: string, asked = rounds): Promise<Timed> {
  const times: number[] = []
  let body = ''
  for (let round = 0; round < asked; round += 1) {
    const start = performance.now()
    const answer = await side.kapis('GET', `${side.tenant}?${query.replace('{n}', `${round}`)}`)
    times.push(performance.now() - start)
    if (answer.code !== 200) throw new Error(`${side.name}: ${query} answered ${answer.code}: ${answer.body}`)
    body = answer.body
  }
  const { query: found, histogram, statistics } = JSON.parse(body)
  return {
    ms: median(times),
    firstMs: times[0] ?? Number.NaN,
    total: Number(found?.total ?? histogram?.total ?? statistics?.logs),
  }
}

function folderBytes(folder: string): number {
  return Number(execFileSync('du', ['-sb', folder], { encoding: 'utf8' }).split('\t')[0])
}
