import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { accessToken, kubectl, kubectlOutput, nodeNames, uniqueName } from '../e2e/cluster.ts'
import { setting } from '../e2e/run.ts'
import { runFault } from './fault.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type Replica, startReplica } from './replica.ts'
import type { TrafficOptions } from './traffic.ts'

const namespace = uniqueName('faulty')
const runDir = dirname(setting('KAPIS_CA'))
const holdSeconds = process.env.FAULTS === 'long' ? 8 : 1.5

// Faults that a real kube-apiserver does not produce on demand: a separate replica is connected
// through a proxy that injects them.
describe('faults of kube-apiserver', function () {
  this.timeout(120_000)
  let proxy: FaultProxy
  let replica: Replica
  let traffic: TrafficOptions

  before(async () => {
    await kubectlOutput('create', 'namespace', namespace)
    proxy = await startFaultProxy(setting('KUBE_URL'), readFileSync(join(runDir, 'pki/ca.crt'), 'utf8'))
    const ca = Buffer.from(proxy.caPem).toString('base64')
    replica = await startReplica({
      cluster: { server: proxy.namedUrl, 'certificate-authority-data': ca },
    })
    const nodes = (await nodeNames()).length
    traffic = { url: replica.url, token: await accessToken(), nodes, namespace }
  })
  after(async () => {
    await replica?.stop()
    await proxy?.close()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  const faults: readonly (readonly [name: string, begin: () => unknown, end: () => unknown])[] = [
    ['429 to every request', () => proxy.respondWith(429), () => proxy.respondWith(0)],
    ['500 to every request', () => proxy.respondWith(500), () => proxy.respondWith(0)],
    ['two seconds of delay per response', () => proxy.delayBy(2_000), () => proxy.delayBy(0)],
    ['all connections closed, including watches', () => proxy.cut(), () => proxy.cut()],
    [
      'a host name that does not resolve, and all connections closed',
      async () => {
        replica.set({ names: 'fail' })
        // preload.ts reads the fault every 50 ms.
        await sleep(250)
        proxy.cut()
      },
      () => replica.set({ names: 'resolve' }),
    ],
  ]
  for (const [name, begin, end] of faults) {
    it(name, () =>
      runFault({ name, begin, end, holdSeconds, pid: () => replica.apiserver.pid ?? 0 }, traffic),
    )
  }
})
