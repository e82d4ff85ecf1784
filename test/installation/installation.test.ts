import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { eventually } from '../e2e/http.ts'
import { bareCluster, type Cluster } from './control-plane.ts'
import { get } from './get.ts'
import { startLoad, watchAvailability } from './load.ts'
import { logIn, readAdministrator } from './log-in.ts'
import { type Pod, startPod } from './pod.ts'
import { uninstall } from './uninstall.ts'
import { untilServed } from './until-served.ts'

const namespace = 'kapis-system'
const apiService = 'v1alpha3.resources.kapis.io'
const overlay = join(repository, 'manifests/overlays/ha')

describe('two replicas that the manifests install', function () {
  this.timeout(400_000)
  let cluster: Cluster
  const pods = new Map<string, Pod>()

  async function start(name: string): Promise<Pod> {
    const pod = await startPod(cluster, { name, namespace })
    pods.set(name, pod)
    return pod
  }
  async function stop(name: string) {
    const codes = await pods.get(name)?.stop()
    pods.delete(name)
    return codes
  }

  before(async () => {
    cluster = await bareCluster()
    await cluster.output(['apply', '-k', overlay])
    // Concurrently, as after a rollout: the second replica may start before the first has created
    // anything.
    await Promise.all([start('a'), start('b')])
    await untilServed(cluster)
  })

  after(async () => {
    await Promise.all([...pods.keys()].map(stop))
    await uninstall(cluster, ['-k', overlay])
  })

  it('serve kubectl through the endpoints of their Service', async () => {
    await eventually(async () => {
      const text = await cluster.output(['get', 'nodes.resources.kapis.io', '-o', 'name'])
      expect(text).to.equal('node.resources.kapis.io/control-plane-0\nnode.resources.kapis.io/worker-1\n')
    }, 60_000)
  })

  it('share certificates and sessions', async () => {
    const [a, b] = [...pods.values()]
    const shown = await Promise.all([a, b].map(async pod => (await get(`${pod?.url}/readyz`)).certificate))
    expect(shown[0]).to.match(/^[0-9A-F:]{95}$/)
    expect(shown[1]).to.equal(shown[0])
    if (a === undefined) throw new Error('there is no Pod')
    const { token } = await logIn(a, await readAdministrator(cluster, namespace))
    for (const pod of [a, b]) {
      await eventually(async () => {
        const page = await get(`${pod?.url}/kapis/resources.kapis.io/v1alpha3/nodes`, { token })
        expect([page.code, JSON.parse(page.body).totalItems]).to.deep.equal([200, 2])
      }, 60_000)
    }
  })

  it('have all permissions that they need', () => {
    for (const pod of pods.values()) {
      for (const container of ['apiserver', 'oauth']) {
        // Checks messages of kube-apiserver. A watch may fail at first, while the CRDs are not
        // served yet.
        const refused = pod
          .log(container)
          .split('\n')
          .filter(line => /is forbidden|cannot \w+ (resource|path)/.test(line))
        expect(refused, `${pod.name}/${container}`).to.deep.equal([])
      }
    }
  })

  it('are updated one after the other under load, without an error', async () => {
    const load = startLoad(cluster)
    const availability = watchAvailability(cluster, apiService)
    await sleep(2_000)
    // As in a Deployment, the next Pod starts while the previous one stops.
    await start('c')
    const ending = stop('a')
    await start('d')
    expect(await Promise.all([ending, stop('b')])).to.deep.equal([
      [0, 0],
      [0, 0],
    ])
    await sleep(2_000)
    const { failures, ...figures } = await load.stop()
    console.log(`      ${JSON.stringify(figures)}`)
    expect(failures).to.deep.equal([])
    expect(await availability.stop()).to.deep.equal(['True'])
    expect(figures.watchesStarted).to.be.at.least(50)
  })

  it('start quickly with little memory', () => {
    for (const { name, readyMs, pids } of pods.values()) {
      const sizes = [...pids].map(([container, pid]) => `${container} ${residentMiB(pid)} MiB`)
      console.log(`      ${name}: ready after ${Math.round(readyMs)} ms, ${sizes.join(', ')}`)
      for (const [, pid] of pids) expect(residentMiB(pid)).to.be.below(400)
    }
  })

  it('do not recreate their APIService while Helm deletes their objects', async () => {
    await cluster.output(['delete', 'apiservice', apiService])
    await cluster.output(['delete', 'service', 'kapis', '-n', namespace])
    await sleep(5_000)
    const { stderr } = await cluster.kubectl(['get', 'apiservice', apiService])
    expect(stderr).to.include('NotFound')
  })

  it('can be uninstalled while they run', async () => {
    await cluster.output(['delete', '-k', overlay, '--ignore-not-found', '--timeout=90s'])
    await sleep(3_000)
    const left = await cluster.output(['get', 'apiservices', '-o', 'name'])
    expect(left).to.not.include(apiService)
    expect((await cluster.kubectl(['get', 'namespace', namespace])).stderr).to.include('NotFound')
  })
})

function residentMiB(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}
