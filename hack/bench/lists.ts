import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchEnv } from './env.ts'
import { measure, median } from './load.ts'
import { type Api, createApi, forEach, until } from './objects.ts'
import { openWatchers, processorSeconds } from './watchers.ts'

const namespace = 'bench-lists'
const podCount = Number(process.env.BENCH_PODS ?? 10_000)
const sizes = { small: 5_000, large: Number(process.env.BENCH_OBJECTS ?? 50_000) }
// As many updates in each round.
const fanOut = { watchers: 1_000, updates: Number(process.env.BENCH_UPDATES ?? 200), rounds: 5 }
// Both servers end watches whose clients fall behind for long.
const mostAhead = 20
const rounds = 3
const seconds = 2

/** Pages of many pods against filtering the native list, pages of more and more objects, and watches of many. */
export async function benchLists(env: BenchEnv): Promise<void> {
  const api = createApi(env.kubeUrl, env.kubeToken)
  const kapis = createApi(env.kapisUrl, env.kapisToken)
  try {
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    const parts = [
      () => benchPods(env, api, kapis),
      () => benchSizes(env, api),
      () => benchWatchers(env, api),
    ]
    for (const part of parts) {
      const startedAt = performance.now()
      // What one of them could not measure must not cost the others.
      await part().catch(error => {
        console.log(`FAILED: ${error instanceof Error ? error.message : error}`)
        process.exitCode = 1
      })
      console.log(`   after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
    }
  } finally {
    api.close()
    kapis.close()
  }
}

type Page = readonly [name: string, query: string, nativeQuery: string, remark?: string]

async function benchPods(env: BenchEnv, api: Api, kapis: Api): Promise<void> {
  const apps = ['web', 'api', 'cache', 'queue']
  await forEach(0, podCount, 'pods', i =>
    api.call('POST', `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: `pod-${i}`, labels: { app: apps[i % apps.length] } },
      spec: {
        nodeName: `worker-${1 + (i % 100)}`,
        containers: [{ name: 'main', image: `example.org/app:${i % 100}` }],
      },
    }),
  )
  const podsPath = `/kapis/resources.${env.groupDomain}/v1alpha3/namespaces/${namespace}/pods`
  const running = await until('pods that run', podCount, async () => {
    const { totalItems } = JSON.parse(await kapis.call('GET', `${podsPath}?phase=Running&limit=1`))
    return Number(totalItems)
  })
  if (running < podCount) throw new Error(`only ${running} of ${podCount} pods run`)
  const pods = env.kapisUrl + podsPath
  const native = `${env.kubeUrl}/api/v1/namespaces/${namespace}/pods`
  // The native list cannot sort, nor page what is sorted: anyone who wants a page reads all that is selected.
  const work: readonly Page[] = [
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
      'fieldSelector=spec.containers%5B0%5D.image%3Dexample.org%2Fapp:7&sortBy=.status.startTime&limit=10',
      '',
    ],
    // The one path that kube-apiserver keeps an index for: there it filters nothing.
    [
      'by node, sorted by a path',
      'fieldSelector=spec.nodeName%3Dworker-7&sortBy=.status.startTime&limit=10',
      'fieldSelector=spec.nodeName%3Dworker-7',
      'no target: from an index there too',
    ],
  ]
  console.log(`pages of 10 of ${podCount} pods: kapis /s, kube-apiserver /s, ratio (target >= 100)`)
  for (const [name, query, selector, remark] of work) {
    const [through, direct] = [[] as number[], [] as number[]]
    for (let round = 0; round < rounds; round++) {
      const load = { connections: 16, seconds, gzip: false }
      through.push(
        (await measure(env.hey, { ...load, url: `${pods}?${query}`, token: env.kapisToken })).perSecond,
      )
      const url = `${native}?${selector}`
      direct.push((await measure(env.hey, { ...load, connections: 4, url, token: env.kubeToken })).perSecond)
    }
    const ratio = median(through) / median(direct)
    const verdict = remark ?? (ratio >= 100 ? 'met' : 'MISSED')
    console.log(
      `${name.padEnd(30)} ${median(through).toFixed(1)} ${median(direct).toFixed(1)} ${ratio.toFixed(0)}x ${verdict}`,
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
  const latency = async (of: number) => {
    console.log(`   pages of ${of} objects`)
    const found: number[] = []
    for (const query of ['limit=10', 'sortBy=name&limit=10&page=50', 'name=9&limit=10&page=3']) {
      const url = `${lists}?${query}`
      const load = { connections: 4, seconds, gzip: false, url, token: env.kapisToken }
      // Once unmeasured: the view is made as it is first asked for.
      await measure(env.hey, { ...load, seconds: 1 })
      // Of the requests a second: the client tells quantiles in tenths of a millisecond, a quarter of what is measured.
      const ms = []
      for (let round = 0; round < rounds; round++)
        ms.push((load.connections * 1000) / (await measure(env.hey, load)).perSecond)
      found.push(median(ms))
    }
    return found
  }
  await make(0, sizes.small)
  const small = await latency(sizes.small)
  await make(sizes.small, sizes.large)
  const large = await latency(sizes.large)
  console.log(
    `mean time of a page of 10, ms, of ${sizes.small} and of ${sizes.large} objects (target: at most 1.5 times)`,
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
  /** @param received events so far: the updates never run far ahead of the watchers */
  const update = (received: () => number = () => Number.POSITIVE_INFINITY) => {
    let isLost = false
    return forEach(
      0,
      fanOut.updates,
      'updates',
      async i => {
        const due = (i - mostAhead) * fanOut.watchers
        if (!isLost) isLost = (await until('events', due, received, 5)) < due
        const body = { metadata: { annotations: { bench: String(i) } } }
        await api.call('PATCH', `/api/v1/nodes/${name}`, body, 'application/merge-patch+json')
      },
      1,
    )
  }
  const kubePid = env.pids.get('kube-apiserver') ?? 0
  const kapisPid = env.pids.get('apiserver') ?? 0

  /** Processor time that a server spends while its watchers are told of the updates, and how many events they got. */
  async function told(url: string, token: string, pid: number) {
    console.log(`   ${fanOut.watchers} watches of ${new URL(url).pathname}`)
    const watchers = await openWatchers(url, token, fanOut.watchers)
    await sleep(2_000)
    const [before, cpu] = [watchers.received(), processorSeconds(pid)]
    const received = () => watchers.received() - before
    await update(received)
    const events = await until('events', fanOut.watchers * fanOut.updates, received)
    const used = processorSeconds(pid) - cpu
    watchers.stop()
    await sleep(2_000)
    return { used, events }
  }

  // What the updates themselves cost the servers is no part of telling of them; nor is what was made before.
  await sleep(5_000)
  const start = { kube: processorSeconds(kubePid), kapis: processorSeconds(kapisPid) }
  await update()
  const idle = {
    kube: processorSeconds(kubePid) - start.kube,
    kapis: processorSeconds(kapisPid) - start.kapis,
  }
  const group = `${env.kapisUrl}/apis/resources.${env.groupDomain}/v1alpha3`
  const each = (used: number, events: number) => (Math.max(used, 0) / events) * 1e6
  const [own, native]: [number[], number[]] = [[], []]
  const events = { kapis: 0, kube: 0 }
  // By turns: a machine that others use as well is now faster and now slower.
  for (let round = 0; round < fanOut.rounds; round++) {
    const kube = await told(`${env.kubeUrl}/api/v1/nodes?${query}`, env.kubeToken, kubePid)
    const kapis = await told(`${group}/nodes?${query}`, env.kapisToken, kapisPid)
    own.push(each(kapis.used - idle.kapis, kapis.events))
    native.push(each(kube.used - idle.kube, kube.events))
    events.kapis += kapis.events
    events.kube += kube.events
  }
  const ratios = own.map((us, i) => us / (native[i] ?? Number.NaN))
  const updates = fanOut.rounds * fanOut.updates
  const expected = fanOut.watchers * updates
  console.log(
    `${fanOut.watchers} watchers of ${updates} updates: events, us of processor time each (target: under half)`,
  )
  console.log(`kapis           ${events.kapis} of ${expected} or more, ${median(own).toFixed(1)} us`)
  console.log(`kube-apiserver  ${events.kube} of ${expected} or more, ${median(native).toFixed(1)} us`)
  const isMet = events.kapis >= expected && median(ratios) < 0.5
  const all = ratios.map(ratio => ratio.toFixed(2)).join(', ')
  console.log(`ratio ${median(ratios).toFixed(2)} (rounds ${all}) ${isMet ? 'met' : 'MISSED'}`)
}
