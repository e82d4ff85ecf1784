import type { BenchEnv } from './cluster.ts'
import { type Load, measureByTurns, perSecond } from './load.ts'
import { residentMb } from './process-stats.ts'
import { judge, median, printHead, report, type Target } from './report.ts'

/** The same read from Kapis and from kube-apiserver. */
type Workload = Pick<Load, 'connections' | 'seconds' | 'gzip'> & {
  readonly name: string
  readonly kapis: string
  readonly native: string
  /** Required multiple of the throughput of kube-apiserver. */
  readonly target?: Target
  /** Maximum latency that Kapis may add to the median, in milliseconds. */
  readonly addedP50Ms?: number
}

const native = '/api/v1/nodes'
const oneNode = `${native}/worker-1`

/** Compares reads of 5,000 nodes with kube-apiserver. */
export async function benchNodes(env: BenchEnv): Promise<void> {
  const kapis = `/kapis/resources.${env.groupDomain}/v1alpha3/nodes`
  const aggregated = `/apis/resources.${env.groupDomain}/v1alpha3/nodes`
  const selector = 'labelSelector=topology.kubernetes.io%2Fzone%3Dlocal-b'
  const workloads: readonly Workload[] = [
    {
      ...{ name: 'one node', connections: 16, seconds: 3, target: { atLeast: 3 } },
      kapis: `${aggregated}/worker-1`,
      native: oneNode,
    },
    {
      ...{ name: 'page of 10, newest first', connections: 16, seconds: 3, target: { atLeast: 5 } },
      kapis: `${kapis}?limit=10`,
      native: `${native}?limit=10`,
    },
    {
      ...{ name: 'page 3 of 10, by name, selector', connections: 16, seconds: 3, target: { atLeast: 5 } },
      kapis: `${kapis}?limit=10&page=3&sortBy=name&ascending=true&${selector}`,
      native: `${native}?limit=10&${selector}`,
    },
    {
      ...{ name: 'whole list, gzip', connections: 2, seconds: 3, target: { atLeast: 20 } },
      ...{ gzip: true, kapis: aggregated, native },
    },
  ]
  printHead('kube-apiserver')
  await compare(env, workloads, { rounds: 3, warmSeconds: 3 })
  for (const name of ['apiserver', 'kube-apiserver'])
    console.log(`resident memory of ${name}: ${residentMb(env.pids.get(name) ?? 0)} MB`)
}

const proxied = { kapis: oneNode, native: oneNode }
const proxyWorkloads: readonly Workload[] = [
  { name: 'one node, 16 connections', ...proxied, connections: 16, seconds: 4 },
  // With 256 connections, both have lower throughput.
  { name: 'one node, 64 connections', ...proxied, connections: 64, seconds: 4, target: { atLeast: 0.7 } },
  { name: 'one node, sequential', ...proxied, connections: 1, seconds: 3, addedP50Ms: 0.7 },
  { name: 'all nodes', kapis: native, native, connections: 2, seconds: 8, target: { atLeast: 0.9 } },
]

/** Compares responses of kube-apiserver through kapis-apiserver with direct ones. */
export async function benchProxy(env: BenchEnv): Promise<void> {
  printHead('direct')
  // An odd number of rounds, so that the median is one of them: other load on the machine distorts
  // single rounds. The warm-up has about 12,000 requests, during which V8 compiles on its own
  // threads.
  await compare(env, proxyWorkloads, { rounds: 5, warmSeconds: 12 })
}

async function compare(
  env: BenchEnv,
  workloads: readonly Workload[],
  measured: { readonly rounds: number; readonly warmSeconds: number },
): Promise<void> {
  for (const { name, kapis, native, target, addedP50Ms, ...load } of workloads) {
    const loads = [
      { ...load, url: env.kapisUrl + kapis, token: env.kapisToken },
      { ...load, url: env.kubeUrl + native, token: env.kubeToken },
    ]
    const [own = [], theirs = []] = await measureByTurns(loads, measured)
    report(`${name}, /s`, perSecond(own), perSecond(theirs), target)
    if (addedP50Ms === undefined) continue
    const [ownMs = 0, theirMs = 0] = [own, theirs].map(all => median(all.map(({ p50Ms }) => p50Ms)))
    const added = ownMs - theirMs
    console.log(`  adds ${added.toFixed(2)} ms to the median: ${judge(added, { atMost: addedP50Ms }, ' ms')}`)
  }
}
