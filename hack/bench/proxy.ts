import type { BenchEnv } from './env.ts'
import { type Signed, signAsProxy } from './impersonated.ts'
import { measure, median, type Outcome } from './load.ts'

type Workload = {
  readonly name: string
  readonly path: string
  readonly connections: number
  readonly seconds: number
  /** Before anything is measured; as long as a round when left out. */
  readonly warmSeconds?: number
  /** Of the requests a second that kube-apiserver gives directly, at least. */
  readonly share?: number
  /** What the way through the proxy may add to the median answer, at one request at a time. */
  readonly addedP50Ms?: number
  /** Whether to say too what kube-apiserver gives when it impersonates by itself, next to no proxy at all. */
  readonly hasCeiling?: boolean
}

const workloads: readonly Workload[] = [
  {
    // Too few for either to give all it can, and fewer are under way at kube-apiserver where some are on their way through kapis-apiserver.
    name: 'one node, 16 connections',
    path: '/api/v1/nodes/worker-1',
    connections: 16,
    seconds: 4,
    // V8 compiles for some 12,000 requests, with threads of its own; kapis-apiserver that serves has them behind it.
    warmSeconds: 16,
  },
  {
    // With 256 both give less.
    name: 'one node, 64 connections',
    path: '/api/v1/nodes/worker-1',
    connections: 64,
    seconds: 4,
    share: 0.7,
    hasCeiling: true,
  },
  {
    name: 'one node, one after the other',
    path: '/api/v1/nodes/worker-1',
    connections: 1,
    seconds: 3,
    addedP50Ms: 0.7,
  },
  { name: 'all nodes', path: '/api/v1/nodes', connections: 2, seconds: 8, share: 0.9 },
]

// Odd, so that there is a middle one; other work on the machine makes single rounds say little.
const rounds = 5

/** kube-apiserver's own answers, through kapis-apiserver and straight from kube-apiserver, interleaved in the same run. */
export async function benchProxy(env: BenchEnv): Promise<void> {
  console.log(row(['work', 'through /s', 'direct /s', 'share', 'p50 ms', 'direct p50 ms', 'target']))
  const asProxy = await signAsProxy(env)
  for (const workload of workloads) await benchOne(env, workload, asProxy)
}

async function benchOne(env: BenchEnv, workload: Workload, asProxy: Signed): Promise<void> {
  const { path, connections, seconds, warmSeconds = seconds } = workload
  const load = { connections, seconds, gzip: false }
  const through: Outcome[] = []
  const direct: Outcome[] = []
  const ceiling: Outcome[] = []
  // Once unmeasured: the code of kapis-apiserver is compiled as it is used.
  await measure(env.hey, { ...load, seconds: warmSeconds, url: env.kapisUrl + path, token: env.kapisToken })
  for (let round = 0; round < rounds; round++) {
    through.push(await measure(env.hey, { ...load, url: env.kapisUrl + path, token: env.kapisToken }))
    direct.push(await measure(env.hey, { ...load, url: env.kubeUrl + path, token: env.kubeToken }))
    if (workload.hasCeiling)
      ceiling.push(await measure(env.hey, { ...load, url: env.kubeUrl + path, ...asProxy }))
  }
  // Of neighbouring rounds, so that what else the machine did weighs on both alike.
  const shareOf = (outcomes: readonly Outcome[]) =>
    median(outcomes.map(({ perSecond }, i) => perSecond / (direct[i]?.perSecond ?? Number.NaN)))
  const share = shareOf(through)
  const [mine, theirs] = [medianOf(through), medianOf(direct)]
  const isMet =
    (workload.share === undefined || share >= workload.share) &&
    (workload.addedP50Ms === undefined || mine.p50Ms - theirs.p50Ms < workload.addedP50Ms)
  const target = [
    ...(workload.share === undefined ? [] : [`>= ${workload.share}`]),
    ...(workload.addedP50Ms === undefined ? [] : [`p50 + < ${workload.addedP50Ms} ms`]),
  ]
  console.log(
    row([
      workload.name,
      mine.perSecond.toFixed(1),
      theirs.perSecond.toFixed(1),
      share.toFixed(2),
      mine.p50Ms.toFixed(2),
      theirs.p50Ms.toFixed(2),
      target.length === 0 ? 'none' : `${isMet ? 'met' : 'MISSED'} (${target.join(', ')})`,
    ]),
  )
  if (workload.hasCeiling)
    console.log(
      `  without any proxy, but impersonating, kube-apiserver gives ${shareOf(ceiling).toFixed(2)} of it`,
    )
}

function medianOf(outcomes: readonly Outcome[]): { perSecond: number; p50Ms: number } {
  return {
    perSecond: median(outcomes.map(({ perSecond }) => perSecond)),
    p50Ms: median(outcomes.map(({ p50Ms }) => p50Ms)),
  }
}

function row(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : cell.padStart(i === 6 ? 26 : 16))).join('')
}
