import { setTimeout as sleep } from 'node:timers/promises'
import { measure, median } from './load.ts'
import { type Api, createApi, forEach } from './objects.ts'
import type { BenchEnv } from './run.ts'
import { openWatchers, processorSeconds } from './watchers.ts'

const namespace = 'bench-lists'
const podCount = Number(process.env.BENCH_PODS ?? 10_000)
const sizes = { small: 5_000, large: Number(process.env.BENCH_OBJECTS ?? 50_000) }
const fanOut = { watchers: 1_000, updates: Number(process.env.BENCH_UPDATES ?? 1_000) }
const rounds = 3
const seconds = 3

/** Pages of many pods against filtering the native list, pages of more and more objects, and watches of many. */
export async function benchLists(env: BenchEnv): Promise<void> {
  const api = createApi(env.kubeUrl, env.kubeToken)
  try {
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await benchPods(env, api)
    await benchSizes(env, api)
    await benchWatchers(env, api)
  } finally {
    api.close()
  }
}

async function benchPods(env: BenchEnv, api: Api): Promise<void> {
  const apps = ['web', 'api', 'cache', 'queue']
  await forEach(0, podCount, 'pods', i =>
    api.call('POST', `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: `pod-${i}`, labels: { app: apps[i % apps.length] } },
      spec: {
        nodeName: `worker-${1 + (i % 100)}`,
        containers: [{ name: 'main', image: 'example.org/app:1' }],
      },
    }),
  )
  const pods = `${env.kapisUrl}/kapis/resources.${env.groupDomain}/v1alpha3/namespaces/${namespace}/pods`
  const native = `${env.kubeUrl}/api/v1/namespaces/${namespace}/pods`
  // The native list cannot sort, nor page what is sorted: whoever wants a page reads all that is selected.
  const work: readonly (readonly [string, string, string])[] = [
    ['by label, newest 10', 'labelSelector=app%3Dweb&limit=10', 'labelSelector=app%3Dweb'],
    [
      'by phase, page 7 by name',
      'phase=Running&sortBy=name&limit=10&page=7',
      'fieldSelector=status.phase%3DRunning',
    ],
    ['by part of the name', 'name=77&limit=10', ''],
    ['by words (q=)', 'q=queue&limit=10', ''],
    [
      'by a path, sorted by a path',
      'fieldSelector=spec.nodeName%3Dworker-7&sortBy=.status.startTime&limit=10',
      'fieldSelector=spec.nodeName%3Dworker-7',
    ],
  ]
  console.log(`pages of 10 of ${podCount} pods: kapis /s, kube-apiserver /s, ratio (target >= 100)`)
  for (const [name, query, selector] of work) {
    const [kapis, kube] = [[] as number[], [] as number[]]
    for (let round = 0; round < rounds; round++) {
      const load = { connections: 16, seconds, gzip: false }
      kapis.push(
        (await measure(env.hey, { ...load, url: `${pods}?${query}`, token: env.kapisToken })).perSecond,
      )
      const url = `${native}?${selector}`
      kube.push((await measure(env.hey, { ...load, connections: 4, url, token: env.kubeToken })).perSecond)
    }
    const ratio = median(kapis) / median(kube)
    const verdict = ratio >= 100 ? 'met' : 'MISSED'
    console.log(
      `${name.padEnd(30)} ${median(kapis).toFixed(1)} ${median(kube).toFixed(1)} ${ratio.toFixed(0)}x ${verdict}`,
    )
  }
}

async function benchSizes(env: BenchEnv, api: Api): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const make = (from: number, to: number) =>
    forEach(from, to, 'objects', i =>
      api.call('POST', path, { metadata: { name: `object-${i}` }, data: { i: String(i) } }),
    )
  const lists = `${env.kapisUrl}/kapis/resources.${env.groupDomain}/v1alpha3/namespaces/${namespace}/configmaps`
  const latency = async () => {
    const found: number[] = []
    for (const query of ['limit=10', 'sortBy=name&limit=10&page=50', 'name=9&limit=10&page=3']) {
      const url = `${lists}?${query}`
      const load = { connections: 4, seconds, gzip: false, url, token: env.kapisToken }
      const p50 = []
      for (let round = 0; round < rounds; round++) p50.push((await measure(env.hey, load)).p50Ms)
      found.push(median(p50))
    }
    return found
  }
  await make(0, sizes.small)
  await latency()
  const small = await latency()
  await make(sizes.small, sizes.large)
  await latency()
  const large = await latency()
  console.log(
    `p50 of a page of 10, ms, of ${sizes.small} and of ${sizes.large} objects (target: at most 1.5 times)`,
  )
  for (const [i, name] of ['newest', 'page 50 by name', 'page 3 of a filter'].entries()) {
    const [a = Number.NaN, b = Number.NaN] = [small[i], large[i]]
    console.log(
      `${name.padEnd(30)} ${a.toFixed(2)} ${b.toFixed(2)} ${(b / a).toFixed(2)}x ${b / a <= 1.5 ? 'met' : 'MISSED'}`,
    )
  }
}

async function benchWatchers(env: BenchEnv, api: Api): Promise<void> {
  const name = 'worker-1'
  const query = `watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=0`
  const update = async () => {
    for (let i = 0; i < fanOut.updates; i++) {
      const body = { metadata: { annotations: { bench: String(i) } } }
      await api.call('PATCH', `/api/v1/nodes/${name}`, body, 'application/merge-patch+json')
    }
  }
  const kubePid = env.pids.get('kube-apiserver') ?? 0
  const kapisPid = env.pids.get('apiserver') ?? 0

  /** Processor time that a server spends while its watchers are told of the updates, and how many events they got. */
  async function told(url: string, token: string, pid: number) {
    const watchers = await openWatchers(url, token, fanOut.watchers)
    await sleep(2_000)
    const [before, cpu] = [watchers.received(), processorSeconds(pid)]
    await update()
    const expected = fanOut.watchers * fanOut.updates
    const deadline = Date.now() + 60_000
    while (watchers.received() - before < expected && Date.now() < deadline) await sleep(50)
    const used = processorSeconds(pid) - cpu
    const events = watchers.received() - before
    watchers.stop()
    await sleep(2_000)
    return { used, events }
  }

  // What the updates themselves cost kube-apiserver is no part of telling of them.
  const start = processorSeconds(kubePid)
  await update()
  const idle = processorSeconds(kubePid) - start
  const kube = await told(`${env.kubeUrl}/api/v1/nodes?${query}`, env.kubeToken, kubePid)
  const group = `${env.kapisUrl}/apis/resources.${env.groupDomain}/v1alpha3`
  const kapis = await told(`${group}/nodes?${query}`, env.kapisToken, kapisPid)
  const each = (used: number, events: number) => (used / events) * 1e6
  const [own, native] = [each(kapis.used, kapis.events), each(Math.max(kube.used - idle, 0), kube.events)]
  const expected = fanOut.watchers * fanOut.updates
  console.log(
    `${fanOut.watchers} watchers of ${fanOut.updates} updates: events, us of processor time each (target: under half)`,
  )
  console.log(`kapis           ${kapis.events} of ${expected} or more, ${own.toFixed(1)} us`)
  console.log(`kube-apiserver  ${kube.events} of ${expected} or more, ${native.toFixed(1)} us`)
  const isMet = kapis.events >= expected && own / native < 0.5
  console.log(`ratio ${(own / native).toFixed(2)} ${isMet ? 'met' : 'MISSED'}`)
}
