import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { answerJson, type FakeOrchestrator, startFakeOrchestrator, until } from '../kube/fixtures.ts'
import type { KubeObject } from '../kube/object.ts'
import { refusalOf } from '../status/fixtures.ts'
import { createLogger } from '../telemetry/logger.ts'
import { ResourceCache } from './cache.ts'
import { createCatalog } from './catalog.ts'
import { node } from './fixtures.ts'

const allocatable = { cpu: '4', memory: '4Gi', pods: '110' }

function pod(name: string, version: number, cpu: string): KubeObject {
  return {
    metadata: {
      name,
      namespace: 'ns',
      uid: name,
      resourceVersion: String(version),
      creationTimestamp: '2031-01-01T00:00:00Z',
    },
    spec: { nodeName: 'n1', containers: [{ resources: { requests: { cpu } } }] },
    status: { phase: 'Running' },
  }
}

describe('ResourceCache', () => {
  let running: { fake: FakeOrchestrator; cache: ResourceCache } | undefined
  afterEach(async () => {
    running?.cache.stop()
    await running?.fake.close()
  })

  async function start(answer: (path: string) => readonly KubeObject[] | undefined) {
    const watches = new Map<string, ServerResponse>()
    const lists: string[] = []
    const fake = await startFakeOrchestrator((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? '/', 'http://x')
      if (searchParams.has('watch')) {
        watches.set(pathname, res)
        res.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
        return
      }
      lists.push(pathname)
      const items = answer(pathname)
      if (items === undefined) return answerJson(res, 503, { message: 'busy' })
      answerJson(res, 200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '10' }, items })
    })
    const logger = createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } })
    const cache = new ResourceCache({
      client: fake.client,
      catalog: createCatalog({ client: fake.client, groupDomain: 'kapis.io' }),
      groupDomain: 'kapis.io',
      logger,
      idleSeconds: 60,
      maxBytes: 2 ** 30,
    })
    running = { fake, cache }
    const tell = (path: string, type: string, object: KubeObject) =>
      watches.get(path)?.write(`${JSON.stringify({ type, object })}\n`)
    return { cache, lists, watches, tell }
  }

  const sample = (path: string) =>
    path === '/api/v1/pods' ? [pod('p1', 5, '1')] : [node('n1', { version: 6, status: { allocatable } })]
  const requestsOf = (cache: ResourceCache) =>
    cache.collection('nodes')?.get('', 'n1')?.decoration.annotations['node.kapis.io/cpu-requests']

  it('shows nodes with the sums of their pods from the first moment on', async () => {
    const { cache, lists } = await start(sample)
    await cache.start()
    expect(cache.isSynced).to.equal(true)
    expect(lists).to.deep.equal(['/api/v1/pods', '/api/v1/nodes'])
    expect(requestsOf(cache)).to.equal('1')
    expect(cache.collections()).to.deep.equal([cache.collection('nodes')])
  })

  it('follows both as they change; a change of pods is no event of a node', async () => {
    const { cache, watches, tell } = await start(sample)
    await cache.start()
    await until(() => watches.size === 2)
    tell('/api/v1/pods', 'ADDED', pod('p2', 11, '500m'))
    await until(() => requestsOf(cache) === '1500m')
    expect(cache.collection('nodes')?.version).to.equal(10)
    tell(
      '/api/v1/nodes',
      'MODIFIED',
      node('n1', { version: 12, labels: { a: 'b' }, status: { allocatable } }),
    )
    await until(() => cache.collection('nodes')?.version === 12)
    expect(requestsOf(cache)).to.equal('1500m')
  })

  it('gives nothing out before it has read everything', async () => {
    const { cache } = await start(path => (path === '/api/v1/pods' ? [] : undefined))
    void cache.start()
    expect(cache.isSynced).to.equal(false)
    expect(refusalOf(() => cache.collection('nodes'))).to.deep.equal({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'nodes are still being read from the orchestrator',
    })
  })

  for (const plural of ['pods', '', 'constructor', '__proto__']) {
    it(`does not know ${JSON.stringify(plural)}`, async () => {
      const { cache } = await start(sample)
      await cache.start()
      expect(cache.collection(plural)).to.equal(undefined)
    })
  }
})
