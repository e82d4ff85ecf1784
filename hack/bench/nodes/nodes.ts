import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:https'
import { join } from 'node:path'
import type { BenchEnv } from '../cluster.ts'
import { measureByTurns, perSecond } from '../load.ts'
import { residentMb } from '../process-stats.ts'
import { printHead, report } from '../report.ts'
import type { StaticAnswer } from './static-server.ts'

type Workload = {
  readonly name: string
  readonly connections: number
  readonly gzip?: boolean
  readonly kapis: string
  /** Path of the equivalent request to kube-apiserver. */
  readonly native: string
  /** Required multiples of the throughput of kube-apiserver and of the static server. */
  readonly times: number
  readonly timesStatic?: number
}

const seconds = 3
const measured = { rounds: 3, warmSeconds: seconds }

/** Compares reads of 5,000 nodes with kube-apiserver and a server of static bytes. */
export async function benchNodes(env: BenchEnv): Promise<void> {
  const workloads = toWorkloads(env.groupDomain)
  const { url: staticUrl, child } = await startStatic(env, workloads)
  try {
    printHead('peer')
    for (const { name, connections, gzip = false, kapis, native, times, timesStatic } of workloads) {
      const load = { connections, seconds, gzip }
      const loads = [
        { ...load, url: env.kapisUrl + kapis, token: env.kapisToken },
        { ...load, url: env.kubeUrl + native, token: env.kubeToken },
        { ...load, url: staticUrl + toStaticPath(name) },
      ]
      const [own, theirs, fixed] = (await measureByTurns(env.hey, loads, measured)).map(perSecond)
      report(`${name}, /s`, own ?? [], theirs ?? [], { atLeast: times })
      const target = timesStatic === undefined ? undefined : { atLeast: timesStatic }
      report('  next to static bytes', own ?? [], fixed ?? [], target)
    }
    for (const name of ['apiserver', 'kube-apiserver'])
      console.log(`resident memory of ${name}: ${residentMb(env.pids.get(name) ?? 0)} MB`)
  } finally {
    child.kill()
  }
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
      timesStatic: 0.5,
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

/** Starts the static server with the bytes of responses of Kapis. */
async function startStatic(
  env: BenchEnv,
  workloads: readonly Workload[],
): Promise<{ url: string; child: ChildProcess }> {
  const child = fork(join(import.meta.dirname, 'static-server.ts'), { serialization: 'advanced' })
  child.send(await Promise.all(workloads.map(workload => fetchRaw(env, workload))))
  const [{ port }] = await once(child, 'message')
  return { url: `https://127.0.0.1:${port}`, child }
}

/** Fetches a response without decompression, unlike fetch(). */
async function fetchRaw(env: BenchEnv, { name, kapis, gzip }: Workload): Promise<StaticAnswer> {
  const headers = {
    authorization: `Bearer ${env.kapisToken}`,
    ...(gzip ? { 'accept-encoding': 'gzip' } : {}),
  }
  const { promise, resolve, reject } = Promise.withResolvers<StaticAnswer>()
  const req = request(env.kapisUrl + kapis, { headers }, async res => {
    const body = Buffer.concat(await res.toArray())
    resolve({ path: toStaticPath(name), encoding: res.headers['content-encoding'], body })
  })
  req.on('error', reject)
  req.end()
  return promise
}

function toStaticPath(name: string): string {
  return `/${encodeURIComponent(name)}`
}
