import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { accessToken, kubectl, kubectlOutput, nodeNames, uniqueName } from '../e2e/cluster.ts'
import { component } from '../e2e/control-plane-process.ts'
import { eventually } from '../e2e/http.ts'
import { setting } from '../e2e/run.ts'
import { type Fault, runFault } from './fault.ts'
import { pidOf } from './process.ts'
import type { TrafficOptions } from './traffic.ts'

// Faults that kill, stop or starve processes under traffic. They take minutes and run in `make
// faults`. `make test` only runs test/e2e/faults.test.ts, which stops and starts each process.
if (process.env.FAULTS === 'long') {
  describe('failures of processes under load', function () {
    this.timeout(180_000)
    const namespace = uniqueName('parts')
    let traffic: TrafficOptions

    before(async () => {
      await kubectlOutput('create', 'namespace', namespace)
      const nodes = (await nodeNames()).length
      traffic = { url: setting('KAPIS_URL'), token: await accessToken(), nodes, namespace }
    })
    after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

    const crowd: TLSSocket[] = []
    const faults: readonly Omit<Fault, 'pid'>[] = [
      killed('kube-apiserver', 8),
      { ...killed('etcd', 8), end: etcdIsBack },
      killed('oauth', 5),
      { ...killed('apiserver', 2), mayCut: true },
      stopped('kube-apiserver', 8),
      stopped('etcd', 8),
      stopped('oauth', 8),
      { ...stopped('apiserver', 5), name: 'the event loop of kapis-apiserver blocked for 5 s' },
      {
        name: 'file descriptors of kapis-apiserver exhausted',
        async begin() {
          // Leaves file descriptors for twenty more connections, which the burst then uses up.
          limitHandles(openHandles() + 20)
          for (let i = 0; i < 200; i++) crowd.push(dial())
          await eventually(async () => {
            if (crowd.filter(({ destroyed }) => destroyed).length < 50)
              throw new Error('file descriptors are not exhausted')
          }, 20_000)
        },
        end() {
          for (const socket of crowd.splice(0)) socket.destroy()
          limitHandles(20_000)
        },
        holdSeconds: 5,
        mayCut: true,
      },
    ]
    for (const fault of faults) {
      it(fault.name, async () => {
        try {
          await runFault({ ...fault, pid: () => pidOf('apiserver') }, traffic)
        } finally {
          for (const name of ['etcd', 'kube-apiserver', 'oauth', 'apiserver']) await component('start', name)
        }
      })
    }
  })
}

/** A process that is killed by SIGKILL, as by the out-of-memory killer, and then restarted. */
function killed(name: string, holdSeconds: number): Omit<Fault, 'pid'> {
  return {
    name: `${name} killed`,
    async begin() {
      process.kill(pidOf(name), 'SIGKILL')
      await component('stop', name)
    },
    end: () => component('start', name),
    holdSeconds,
  }
}

/**
 * Waits until kube-apiserver has connected to etcd. It retries after 1, 1.6, 2.6, 4.1 and 6.6
 * seconds, plus or minus a fifth (connection backoff of gRPC). Until eight seconds after the start
 * of etcd, it may therefore fail for all clients.
 */
async function etcdIsBack(): Promise<void> {
  await component('start', 'etcd')
  const read = ['get', 'namespaces', 'default', '--request-timeout=5s']
  const seconds = await eventually(() => kubectlOutput(...read), 30_000, 50)
  console.log(`      kube-apiserver responds ${seconds.toFixed(1)} s after etcd is ready`)
}

/** A process that is stopped: it neither responds nor closes connections. */
function stopped(name: string, holdSeconds: number): Omit<Fault, 'pid'> {
  return {
    name: `${name} stopped for ${holdSeconds} s`,
    begin: () => process.kill(pidOf(name), 'SIGSTOP'),
    end: () => process.kill(pidOf(name), 'SIGCONT'),
    holdSeconds,
  }
}

function openHandles(): number {
  return execFileSync('ls', [`/proc/${pidOf('apiserver')}/fd`], { encoding: 'utf8' })
    .trim()
    .split('\n').length
}

function limitHandles(count: number): void {
  execFileSync('prlimit', ['--pid', String(pidOf('apiserver')), `--nofile=${count}:20000`])
}

function dial(): TLSSocket {
  const { hostname, port } = new URL(setting('KAPIS_URL'))
  const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(setting('KAPIS_CA')) })
  socket.on('error', () => undefined)
  return socket
}
