import type { BenchEnv } from './cluster.ts'
import { measureByTurns, perSecond } from './load.ts'
import { residentMb } from './process-stats.ts'
import { printHead, report } from './report.ts'

type Workload = {
  readonly name: string
  readonly connections: number
  readonly gzip?: boolean
  readonly kapis: string
  /** Path of the equivalent request to kube-apiserver. */
  readonly native: string
  /** Required multiple of the throughput of kube-apiserver. */
  readonly times: number
}

const seconds = 3
const measured = { rounds: 3, warmSeconds: seconds }

/** Compares reads of 5,000 nodes with kube-apiserver. */
export async function benchNodes(env: BenchEnv): Promise<void> {
  printHead('kube-apiserver')
  for (const { name, connections, gzip = false, kapis, native, times } of toWorkloads(env.groupDomain)) {
    const load = { connections, seconds, gzip }
    const loads = [
      { ...load, url: env.kapisUrl + kapis, token: env.kapisToken },
      { ...load, url: env.kubeUrl + native, token: env.kubeToken },
    ]
    const [own, theirs] = await measureByTurns(env.hey, loads, measured)
    report(`${name}, /s`, perSecond(own), perSecond(theirs), { atLeast: times })
  }
  for (const name of ['apiserver', 'kube-apiserver'])
    console.log(`resident memory of ${name}: ${residentMb(env.pids.get(name) ?? 0)} MB`)
}

function toWorkloads(groupDomain: string): readonly Workload[] {
  const kapis = `/kapis/resources.${groupDomain}/v1alpha3/nodes`
  const aggregated = `/apis/resources.${groupDomain}/v1alpha3/nodes`
  const native = '/api/v1/nodes'
  const selector = 'labelSelector=topology.kubernetes.io%2Fzone%3Dlocal-b'
  return [
    {
      name: 'one node',
      connections: 16,
      kapis: `${aggregated}/worker-1`,
      native: `${native}/worker-1`,
      times: 3,
    },
    {
      name: 'page of 10, newest first',
      connections: 16,
      kapis: `${kapis}?limit=10`,
      native: `${native}?limit=10`,
      times: 5,
    },
    {
      name: 'page 3 of 10, by name, selector',
      connections: 16,
      kapis: `${kapis}?limit=10&page=3&sortBy=name&ascending=true&${selector}`,
      native: `${native}?limit=10&${selector}`,
      times: 5,
    },
    { name: 'whole list, gzip', connections: 2, gzip: true, kapis: aggregated, native, times: 20 },
  ]
}
