import type { BenchEnv } from './cluster.ts'
import { measureByTurns, perSecond } from './load.ts'
import { judge, median, printHead, report, type Target } from './report.ts'

type Workload = {
  readonly name: string
  readonly path: string
  readonly connections: number
  readonly seconds: number
  /** Required share of the throughput of direct requests to kube-apiserver. */
  readonly target?: Target
  /** Maximum latency that the proxy may add to the median, in milliseconds. */
  readonly addedP50Ms?: number
}

const node = '/api/v1/nodes/worker-1'
const workloads: readonly Workload[] = [
  { name: 'one node, 16 connections', path: node, connections: 16, seconds: 4 },
  // With 256 connections, both have lower throughput.
  { name: 'one node, 64 connections', path: node, connections: 64, seconds: 4, target: { atLeast: 0.7 } },
  { name: 'one node, sequential', path: node, connections: 1, seconds: 3, addedP50Ms: 0.7 },
  { name: 'all nodes', path: '/api/v1/nodes', connections: 2, seconds: 8, target: { atLeast: 0.9 } },
]

// An odd number of rounds, so that the median is one of them: other load on the machine distorts
// single rounds. The warm-up has about 12,000 requests, during which V8 compiles on its own
// threads.
const measured = { rounds: 5, warmSeconds: 12 }

/** Compares responses of kube-apiserver through kapis-apiserver with direct ones. */
export async function benchProxy(env: BenchEnv): Promise<void> {
  printHead('direct')
  for (const { name, path, connections, seconds, target, addedP50Ms } of workloads) {
    const load = { connections, seconds }
    const loads = [
      { ...load, url: env.kapisUrl + path, token: env.kapisToken },
      { ...load, url: env.kubeUrl + path, token: env.kubeToken },
    ]
    const [through = [], direct = []] = await measureByTurns(env.hey, loads, measured)
    report(`${name}, /s`, perSecond(through), perSecond(direct), target)
    if (addedP50Ms === undefined) continue
    const [own, theirs] = [through, direct].map(outcomes => median(outcomes.map(({ p50Ms }) => p50Ms)))
    const added = (own ?? Number.NaN) - (theirs ?? Number.NaN)
    console.log(`  adds ${added.toFixed(2)} ms to the median: ${judge(added, { atMost: addedP50Ms }, ' ms')}`)
  }
}
