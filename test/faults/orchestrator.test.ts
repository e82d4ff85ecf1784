import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { childEnvironment } from '../../hack/controlplane/settings.ts'
import { accessToken, kubectl, kubectlOutput, nodeNames, uniqueName } from '../e2e/cluster.ts'
import { eventually } from '../e2e/http.ts'
import { scratch, setting } from '../e2e/run.ts'
import { withstand } from './fault.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import type { TrafficOptions } from './traffic.ts'

const namespace = uniqueName('faulty')
const runDir = dirname(setting('KAPIS_CA'))
const holdSeconds = process.env.FAULTS === 'long' ? 8 : 1.5

// Faults that the real thing cannot be brought to on demand: a replica of its own behind a proxy that makes them.
describe('the orchestrator, when it answers wrongly', function () {
  this.timeout(120_000)
  let proxy: FaultProxy
  let front: ChildProcess
  let traffic: TrafficOptions

  before(async () => {
    await kubectlOutput('create', 'namespace', namespace)
    proxy = await startFaultProxy(setting('KUBE_URL'), readFileSync(join(runDir, 'pki/ca.crt'), 'utf8'))
    const port = await freePort()
    front = startReplica(port)
    const url = `https://127.0.0.1:${port}`
    traffic = { url, token: await accessToken(), nodes: (await nodeNames()).length, namespace }
    await eventually(() => isReady(url), 60_000, 250)
  })
  after(async () => {
    if (front?.exitCode === null) {
      const gone = once(front, 'exit')
      front.kill('SIGKILL')
      await gone
    }
    await proxy?.close()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  const faults: readonly (readonly [name: string, begin: () => unknown, end: () => unknown])[] = [
    ['429 for everything', () => proxy.answerWith(429), () => proxy.answerWith(0)],
    ['500 for everything', () => proxy.answerWith(500), () => proxy.answerWith(0)],
    ['two seconds for each answer', () => proxy.delayBy(2_000), () => proxy.delayBy(0)],
    ['every connection cut, watches too', () => proxy.cut(), () => proxy.cut()],
  ]
  for (const [name, begin, end] of faults) {
    it(name, () => withstand({ name, begin, end, holdSeconds, pid: () => front.pid ?? 0 }, traffic))
  }

  /** Shares certificates, keys and logins with the one that runs; only its way to kube-apiserver is another. */
  function startReplica(port: number): ChildProcess {
    const kubeconfig = JSON.parse(readFileSync(join(runDir, 'kapis.kubeconfig'), 'utf8'))
    kubeconfig.clusters[0].cluster = {
      server: proxy.url,
      'certificate-authority-data': Buffer.from(proxy.caPem).toString('base64'),
    }
    const config = JSON.parse(readFileSync(join(runDir, 'kapis.yaml'), 'utf8'))
    const files = { kubeconfig: join(scratch, 'faulty.kubeconfig'), config: join(scratch, 'faulty.json') }
    writeFileSync(files.kubeconfig, JSON.stringify(kubeconfig))
    const own = {
      listen: { address: '127.0.0.1', port },
      kubernetes: { ...config.kubernetes, kubeconfig: files.kubeconfig },
      logs: { store: 'none' },
    }
    writeFileSync(files.config, JSON.stringify({ ...config, ...own }))
    const program = join(import.meta.dirname, '../../cmd/apiserver/main.ts')
    return spawn(process.execPath, [program, '--config', files.config], {
      env: childEnvironment(),
      stdio: 'ignore',
    })
  }

  async function isReady(url: string): Promise<void> {
    const { request } = await import('node:https')
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const req = request(
      new URL('/readyz', url),
      { ca: readFileSync(setting('KAPIS_CA')), agent: false },
      res => resolve(res.resume().statusCode ?? 0),
    )
    req.on('error', reject).end()
    if ((await promise) !== 200) throw new Error('not ready')
  }
})

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
  })
  return promise
}
