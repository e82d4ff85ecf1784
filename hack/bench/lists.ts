import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { fieldsOf, parseList } from '../../pkg/kubeclient/object/object.ts'
import { forEach } from '../controlplane/for-each.ts'
import { type Call, createApi, until } from './api.ts'
import type { BenchEnv } from './cluster.ts'
import { meanMs, measureByTurns, perSecond } from './load.ts'
import { cpuMs } from './process-stats.ts'
import { printHead, report } from './report.ts'

const namespace = 'bench-lists'
const podCount = Number(process.env.BENCH_PODS ?? 10_000)
const sizes = { small: 5_000, large: Number(process.env.BENCH_OBJECTS ?? 50_000) }
// `updates` is the number in each round.
const fanOut = { watchers: 1_000, updates: Number(process.env.BENCH_UPDATES ?? 200), rounds: 5 }
// Maximum number of updates ahead of the watchers: both servers end watches that fall behind.
const maxAhead = 20
const seconds = 2
const measured = { rounds: 3, warmSeconds: 1 }

/** Compares pages of many pods with the native list, and watches of many clients. */
export async function benchLists(env: BenchEnv): Promise<void> {
  const kube = createApi(env.kubeUrl, env.kubeToken)
  await kube('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  for (const part of [benchPods, benchSizes, benchWatchers]) {
    // A failed measurement does not stop the others.
    await part(env, kube).catch(error => {
      console.log(`FAILED: ${error instanceof Error ? error.message : error}`)
      process.exitCode = 1
    })
  }
}

/**
 * Queries with the equivalent native query. The native list cannot sort or page sorted results, so
 * a client reads all selected objects for one page.
 */
const pages: readonly (readonly [name: string, query: string, nativeQuery: string])[] = [
  ['by label, newest 10', 'labelSelector=app%3Dweb', 'labelSelector=app%3Dweb'],
  ['by phase, page 7 by name', 'phase=Running&sortBy=name&page=7', 'fieldSelector=status.phase%3DRunning'],
  ['by part of the name', 'name=77', ''],
  ['by words (q=)', 'q=queue', ''],
  [
    'by a path, sorted by a path',
    'fieldSelector=spec.containers%5B0%5D.image%3Dexample.org%2Fapp:7&sortBy=.status.startTime',
    '',
  ],
]

async function benchPods(env: BenchEnv, kube: Call): Promise<void> {
  const apps = ['web', 'api', 'cache', 'queue']
  const native = `/api/v1/namespaces/${namespace}/pods`
  const nodes = parseList(await kube('GET', '/api/v1/nodes'))
  const workers = nodes.items.map(({ metadata }) => metadata.name).filter(name => name.startsWith('worker-'))
  await forEach(0, podCount, i =>
    kube('POST', native, {
      metadata: { name: `pod-${i}`, labels: { app: apps[i % apps.length] } },
      spec: {
        nodeName: workers[i % Math.min(workers.length, 100)],
        containers: [{ name: 'main', image: `example.org/app:${i % 100}` }],
      },
    }),
  )
  const pods = `/kapis/resources.${env.groupDomain}/v1alpha3/namespaces/${namespace}/pods`
  const kapis = createApi(env.kapisUrl, env.kapisToken)
  const running = await until(podCount, async () =>
    Number(fieldsOf(await kapis('GET', `${pods}?phase=Running&limit=1`)).totalItems),
  )
  if (running < podCount) throw new Error(`only ${running} of ${podCount} pods run`)
  printHead('kube-apiserver')
  for (const [name, query, selector] of pages) {
    const url = `${env.kapisUrl}${pods}?limit=10&${query}`
    const loads = [
      { connections: 16, seconds, url, token: env.kapisToken },
      { connections: 4, seconds, url: `${env.kubeUrl}${native}?${selector}`, token: env.kubeToken },
    ]
    const [own, theirs] = await measureByTurns(loads, measured)
    report(`of ${podCount} pods, ${name}, /s`, perSecond(own), perSecond(theirs), { atLeast: 100 })
  }
}

async function benchSizes(env: BenchEnv, kube: Call): Promise<void> {
  const queries = {
    newest: 'limit=10',
    'page 50 by name': 'sortBy=name&limit=10&page=50',
    'page 3 of a filter': 'name=9&limit=10&page=3',
  }
  const path = `${env.kapisUrl}/kapis/resources.${env.groupDomain}/v1alpha3/namespaces/${namespace}/configmaps`
  const create = (from: number, to: number) =>
    forEach(from, to, i =>
      kube('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
        metadata: { name: `object-${i}` },
        data: { i: String(i) },
      }),
    )
  const load = { connections: 4, seconds, token: env.kapisToken }
  const times = async (): Promise<readonly (readonly number[])[]> => {
    const loads = Object.values(queries).map(query => ({ ...load, url: `${path}?${query}` }))
    return (await measureByTurns(loads, measured)).map(outcomes => meanMs(load.connections, outcomes))
  }
  await create(0, sizes.small)
  const small = await times()
  await create(sizes.small, sizes.large)
  const large = await times()
  console.log(`ms of a page of 10 of ${sizes.large} objects, and of ${sizes.small}`)
  for (const [i, name] of Object.keys(queries).entries())
    report(name, large[i] ?? [], small[i] ?? [], { atMost: 1.5 })
}

type Server = { readonly url: string; readonly token: string; readonly pid: number }

async function benchWatchers(env: BenchEnv, kube: Call): Promise<void> {
  const name = 'worker-1'
  const query = `watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=0`
  const kapisUrl = `${env.kapisUrl}/apis/resources.${env.groupDomain}/v1alpha3/nodes?${query}`
  const kubeUrl = `${env.kubeUrl}/api/v1/nodes?${query}`
  const kapis = { url: kapisUrl, token: env.kapisToken, pid: env.pids.get('apiserver') ?? 0 }
  const native = { url: kubeUrl, token: env.kubeToken, pid: env.pids.get('kube-apiserver') ?? 0 }
  /** @param received returns the number of received events; updates wait for it */
  const update = async (received: () => number): Promise<void> => {
    for (let i = 0; i < fanOut.updates; i++) {
      const due = (i - maxAhead) * fanOut.watchers
      if ((await until(due, received, 5)) < due) throw new Error('watchers miss events')
      const body = { metadata: { annotations: { bench: String(i) } } }
      await kube('PATCH', `/api/v1/nodes/${name}`, body, 'application/merge-patch+json')
    }
  }
  const expected = fanOut.watchers * fanOut.updates

  /** Returns the CPU time in µs per event sent to watchers, without that of the updates. */
  async function costOf({ url, token, pid }: Server, idleMs: number): Promise<number> {
    const watchers = await openWatchers(url, token, fanOut.watchers)
    await sleep(2_000)
    const [before, cpu] = [watchers.received(), cpuMs(pid)]
    const received = () => watchers.received() - before
    await update(received)
    const events = await until(expected, received)
    const used = cpuMs(pid) - cpu
    watchers.stop()
    await sleep(2_000)
    if (events < expected) throw new Error(`${events} of ${expected} events of ${url}`)
    return (Math.max(used - idleMs, 0) / events) * 1000
  }

  await sleep(5_000)
  const start = [kapis, native].map(({ pid }) => cpuMs(pid))
  await update(() => Number.POSITIVE_INFINITY)
  const [idle = 0, nativeIdle = 0] = [kapis, native].map(({ pid }, i) => cpuMs(pid) - (start[i] ?? 0))
  const [own, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < fanOut.rounds; round++) {
    theirs.push(await costOf(native, nativeIdle))
    own.push(await costOf(kapis, idle))
  }
  report(`${fanOut.watchers} watchers, us an event`, own, theirs, { atMost: 0.5 })
}

type Watchers = { readonly received: () => number; readonly stop: () => void }

/** Opens many watches, each on its own connection, and counts their events. */
async function openWatchers(url: string, token: string, count: number): Promise<Watchers> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  let received = 0
  let open = 0
  for (let i = 0; i < count; i++) {
    const req = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, res => {
      open++
      // Each event ends with a line feed, so its content need not be parsed.
      res.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) received++
      })
    })
    req.on('error', () => undefined)
    req.end()
    if (i % 50 === 49) await sleep(100)
  }
  if ((await until(count, () => open)) < count)
    throw new Error(`${open} of ${count} watches of ${url} are open`)
  return { received: () => received, stop: () => agent.destroy() }
}
