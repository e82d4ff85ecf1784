import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { uniqueName } from '../e2e/cluster.ts'
import { scratch } from '../e2e/run.ts'
import { bareCluster, type Cluster } from './control-plane.ts'
import { startPod } from './pod.ts'

const container = (name: string, script: string) => ({ name, image: 'x', command: ['node', '-e', script] })
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'kapis' },
  spec: {
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x' } },
      spec: {
        serviceAccountName: 'default',
        volumes: [{ name: 'scratch', emptyDir: {} }],
        initContainers: [
          {
            ...container('oauth', 'console.log(process.pid); setInterval(() => {}, 1_000)'),
            restartPolicy: 'Always',
          },
        ],
        containers: [container('apiserver', 'setTimeout(() => { throw new Error("broken") }, 1_000)')],
      },
    },
  },
}

describe('a test Pod', function () {
  this.timeout(120_000)
  const namespace = uniqueName('pod')
  let cluster: Cluster

  before(async () => {
    cluster = await bareCluster()
    await cluster.output(['create', 'namespace', namespace])
  })
  after(() => cluster?.kubectl(['delete', 'namespace', namespace, '--timeout=90s']))

  it('that does not become ready leaves no process behind', async () => {
    await cluster.output(['-n', namespace, 'create', '-f', '-'], JSON.stringify(deployment))
    const failure = await startPod(cluster, { name: namespace, namespace }).then(
      () => undefined,
      error => error,
    )
    expect(failure).to.be.instanceOf(Error)
    expect(failure.message).to.match(/is not ready:[\s\S]*broken/)
    const sidecar = Number(readFileSync(join(scratch, namespace, 'run/kapis/oauth.log'), 'utf8'))
    expect(sidecar).to.be.above(1)
    expect(() => process.kill(sidecar, 0)).to.throw('ESRCH')
  })
})
