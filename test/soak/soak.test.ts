import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import {
  accessToken,
  type HttpResponse,
  kubectl,
  kubectlOutput,
  nodeNames,
  sendToKapis,
  sendToKube,
  uniqueName,
} from '../e2e/cluster.ts'
import { eventually, groupDomain, listAs, sendAs } from '../e2e/http.ts'
import { token as askForToken } from '../e2e/oauth.ts'
import { setting } from '../e2e/run.ts'
import { apiserverUsage, pidOf, readProcessUsage } from '../faults/process.ts'
import { growthOf, laterHalf, metric, type Sample, toRow } from './samples.ts'
import { openWatch } from './watch.ts'

// Mixed load with the heartbeats of all nodes for SOAK_SECONDS, during which certain figures must
// not grow. `make soak` runs an hour with 5,000 nodes, `make test` 15 seconds with three. Leaks are
// visible in the memory after a full garbage collection. Resident memory is larger, since V8 and
// malloc keep pages after a burst of garbage. It first rises to a maximum, so it is judged in the
// second half.
const seconds = Number(process.env.SOAK_SECONDS ?? 15)
const everyMs = Math.max(1_000, (seconds * 1_000) / 120)
// The cache keeps five minutes of history: memory grows during that time, and must then be
// constant.
const settledAfter = 330
const isLong = seconds >= 900
const maxMegabytesPerHour = 60
/**
 * Maximum difference between two measurements because of garbage collection and five minutes of
 * changes.
 */
const noiseMegabytes = 15
const maxMegabytesInAll = 300
const kubeletStatusSeconds = 300

describe(`${seconds} s of mixed load`, function () {
  this.timeout((seconds + 180) * 1_000)
  const namespace = uniqueName('soak')
  const nodesPath = `/kapis/resources.${groupDomain}/v1alpha3/nodes`
  const aggregated = `/apis/resources.${groupDomain}/v1alpha3/nodes`
  let token = ''
  let kubeToken = ''
  let nodes: readonly string[] = []

  before(async () => {
    token = await accessToken()
    nodes = await nodeNames()
    await kubectlOutput('create', 'namespace', namespace)
    await kubectlOutput('-n', namespace, 'create', 'serviceaccount', 'kubelets')
    const account = `--serviceaccount=${namespace}:kubelets`
    await kubectlOutput('create', 'clusterrolebinding', namespace, '--clusterrole=cluster-admin', account)
    kubeToken = (await kubectlOutput('-n', namespace, 'create', 'token', 'kubelets', '--duration=3h')).trim()
  })
  after(async () => {
    await kubectl('delete', 'clusterrolebinding', namespace)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('leaves memory, handles, watches, timers and sessions constant, without a failed request', async () => {
    const until = performance.now() + seconds * 1_000
    const bad: string[] = []
    const counts = new Map<string, number>()
    const repeat = async (what: string, pauseMs: number, work: () => Promise<HttpResponse | undefined>) => {
      while (performance.now() < until) {
        const response = await work().catch(error => ({ code: 0, body: String(error) }))
        counts.set(what, (counts.get(what) ?? 0) + 1)
        if (response !== undefined && (response.code < 200 || response.code > 299))
          bad.push(`${what}: ${response.code} ${response.body.slice(0, 200)}`)
        await sleep(pauseMs)
      }
    }
    let beats = 0
    const before = await sample(0)
    const loginsBefore = await openLogins()
    const samples: Sample[] = []
    let settledLive: number | undefined
    const loads = [
      // As many heartbeats as kubelets of this number of nodes send, at least one per second.
      repeat('heartbeat', Math.min(1_000, (kubeletStatusSeconds * 1_000) / nodes.length), () => {
        const name = nodes[beats++ % nodes.length] ?? ''
        return heartbeat(name)
      }),
      repeat('page', 50, () => sendAs(token, `${nodesPath}?limit=10&page=${(beats % 5) + 1}&sortBy=name`)),
      repeat('filtered list', 200, () =>
        sendAs(token, `${nodesPath}?labelSelector=kubernetes.io%2Fos%3Dlinux&limit=10`),
      ),
      repeat('chunk', 100, () => sendAs(token, `${aggregated}?limit=100`)),
      repeat('whole list', 5_000, () => sendAs(token, aggregated)),
      repeat('proxy', 100, () => sendAs(token, `/api/v1/namespaces/${namespace}`)),
      repeat('write and delete', 1_000, writeAndDelete),
      repeat('log query', 500, () => sendAs(token, `/kapis/tenant.${groupDomain}/v1alpha2/logs?size=10`)),
      repeat('login and logout', 2_000, loginAndLogout),
      ...Array.from({ length: 5 }, () =>
        repeat('watch', 100, async () => {
          const watch = await openWatch(`${aggregated}?watch=true`, token)
          await sleep(Math.min(20_000, Math.max(0, until - performance.now())))
          watch.close()
          return undefined
        }),
      ),
    ]
    const began = performance.now()
    console.log('      after          MB      heap  external   handles resources    timers in flight')
    while (performance.now() < until) {
      await sleep(Math.min(everyMs, until - performance.now()))
      const taken = await sample((performance.now() - began) / 1_000)
      samples.push(taken)
      if (isLong && settledLive === undefined && taken.seconds > settledAfter) settledLive = await live()
      if (samples.length % 6 === 1) console.log(`      ${toRow(taken)}`)
    }
    const endLive = isLong ? await live() : undefined
    await Promise.all(loads)
    console.log(
      `      ${[...counts].map(([what, count]) => `${count} × ${what}`).join(', ')}; ${bad.length} not as they should be`,
    )
    expect(bad.slice(0, 5)).to.deep.equal([])

    // After all connections are closed, the memory that the load occupied must be released.
    await eventually(
      async () => {
        const after = await sample(seconds)
        console.log(`      before ${toRow(before)}\n      then   ${toRow(after)}`)
        expect(after.handles, 'handles').to.be.at.most(before.handles + 40)
        expect(after.inFlight, 'watches and requests').to.be.at.most(before.inFlight + 1)
        expect(after.timers, 'timers').to.be.at.most(before.timers + 10)
      },
      30_000,
      2_000,
    )
    expect(await openLogins(), 'logins that have not ended').to.be.at.most(loginsBefore)
    expect(Math.max(...samples.map(({ megabytes }) => megabytes)) - before.megabytes, 'MB').to.be.below(
      maxMegabytesInAll,
    )
    if (settledLive === undefined || endLive === undefined) return
    const hours = (seconds - settledAfter) / 3_600
    console.log(`      after garbage collection: ${settledLive.toFixed(1)} -> ${endLive.toFixed(1)} MB`)
    expect(endLive - settledLive, 'MB that no collection gives back').to.be.below(
      noiseMegabytes + maxMegabytesPerHour * hours,
    )
    const judged = laterHalf(samples.filter(each => each.seconds > settledAfter))
    const judgedHours = ((judged.at(-1)?.seconds ?? 0) - (judged[0]?.seconds ?? 0)) / 3_600
    const most = { megabytes: noiseMegabytes + maxMegabytesPerHour * judgedHours, handles: 20, resources: 20 }
    for (const figure of ['megabytes', 'handles', 'resources'] as const) {
      const { from, to, perHour } = growthOf(judged, each => each[figure])
      const grown = perHour * judgedHours
      const minutes = Math.round(judgedHours * 60)
      console.log(
        `      ${figure}: ${from} -> ${to}, ${grown.toFixed(1)} in the last ${minutes} minutes, ${perHour.toFixed(1)} an hour`,
      )
      expect(grown, figure).to.be.below(most[figure])
    }
    expect(readProcessUsage(pidOf('oauth')).megabytes, 'MB of kapis-oauth').to.be.below(300)
    expect((await listAs(token)).totalItems).to.equal(nodes.length)
  })

  async function sample(at: number): Promise<Sample> {
    const { megabytes, handles } = apiserverUsage()
    const response = await sendAs(token, '/metrics')
    if (response.code !== 200) throw new Error(`/metrics responded with ${response.code}`)
    const read = (name: string) => metric(response.body, name)
    return {
      ...{ seconds: at, megabytes, heapMegabytes: read('nodejs_heap_size_used_bytes') / 1_048_576 },
      ...{ externalMegabytes: read('nodejs_external_memory_bytes') / 1_048_576, handles },
      resources: read('nodejs_active_resources_total'),
      timers: metric(response.body, 'nodejs_active_resources', 'type="Timeout"'),
      inFlight: read('apiserver_current_inflight_requests'),
    }
  }

  /**
   * Returns the memory in use after a garbage collection, in MB: V8 collects all garbage before it
   * records a heap profile.
   */
  async function live(): Promise<number> {
    const profile = await sendAs(token, '/debug/profile/heap?seconds=1')
    expect(profile.code, profile.body.slice(0, 200)).to.equal(200)
    const { heapMegabytes, externalMegabytes } = await sample(0)
    return heapMegabytes + externalMegabytes
  }

  async function openLogins(): Promise<number> {
    const path = 'jsonpath={range .items[*]}{.spec.ended}{"\\n"}{end}'
    const logins = await kubectlOutput('get', `loginsessions.iam.${groupDomain}`, '-o', path)
    return logins
      .split('\n')
      .slice(0, -1)
      .filter(ended => ended === '').length
  }

  function heartbeat(name: string): Promise<HttpResponse> {
    const time = `${new Date().toISOString().slice(0, 19)}Z`
    const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: time }
    return sendToKube(kubeToken, `/api/v1/nodes/${name}/status`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: JSON.stringify({ status: { conditions: [condition] } }),
    })
  }

  async function writeAndDelete(): Promise<HttpResponse> {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ metadata: { name: 'soaked' } })
    const made = await sendAs(token, path, { method: 'POST', headers, body })
    return made.code === 201 ? sendAs(token, `${path}/soaked`, { method: 'DELETE' }) : made
  }

  async function loginAndLogout(): Promise<HttpResponse> {
    const login = { username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') }
    const given = await askForToken({ grant_type: 'password', ...login })
    if (given.code !== 200) return given
    const { access_token: own } = JSON.parse(given.body)
    return sendToKapis('/oauth/logout', { method: 'POST', headers: { authorization: `Bearer ${own}` } })
  }
})
