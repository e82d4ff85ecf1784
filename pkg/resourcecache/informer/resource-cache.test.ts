import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { Status } from '../../apierrors/status.ts'
import {
  type FakeKubeApiserver,
  respondJson,
  startFakeKubeApiserver,
  until,
} from '../../kubeclient/fixtures.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { withClocks } from '../../scheduling/clock-fixtures.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { node } from '../fixtures.ts'
import type { Kind } from '../kind.ts'
import { nodes } from '../kinds/nodes.ts'
import { createDiscoveryCache } from './discovery-cache.ts'
import { type CacheLimits, ResourceCache } from './resource-cache.ts'

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
  let running: { fake: FakeKubeApiserver; cache: ResourceCache } | undefined
  afterEach(async () => {
    running?.cache.stop()
    await running?.fake.close()
  })

  async function start(
    respond: (path: string) => readonly KubeObject[] | number | undefined,
    limits: Partial<CacheLimits> = {},
    groups: Readonly<Record<string, readonly object[]>> = {},
  ) {
    const watches = new Map<string, ServerResponse>()
    const lists: string[] = []
    const fake = await startFakeKubeApiserver((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? '/', 'http://x')
      if (searchParams.has('watch')) {
        watches.set(pathname, res)
        res.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
        return
      }
      if (pathname === '/api' || pathname === '/apis')
        return respondJson(res, 200, { kind: 'APIGroupDiscoveryList', items: groups[pathname] ?? [] })
      lists.push(pathname)
      const items = respond(pathname)
      if (items === undefined) return respondJson(res, 503, { message: 'busy' })
      if (typeof items === 'number') return respondJson(res, items, { message: 'no', reason: 'Forbidden' })
      respondJson(res, 200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '10' }, items })
    })
    const logger = createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } })
    const cache = new ResourceCache({
      client: fake.client,
      discovery: createDiscoveryCache({ client: fake.client, groupDomain: 'kapis.io' }),
      groupDomain: 'kapis.io',
      logger,
      limits: () => ({ idleSeconds: 60, maxMegabytes: 1024, ...limits }),
    })
    running = { fake, cache }
    const emit = (path: string, type: string, object: object) =>
      watches.get(path)?.write(`${JSON.stringify({ type, object })}\n`)
    return { cache, lists, watches, emit }
  }

  const sample = (path: string) =>
    path === '/api/v1/pods' ? [pod('p1', 5, '1')] : [node('n1', { version: 6, status: { allocatable } })]
  const requestsOf = (cache: ResourceCache) =>
    cache.store('nodes')?.get('', 'n1')?.decoration.annotations['node.kapis.io/cpu-requests']

  it('returns nodes with the sums of their pods from the start', async () => {
    const { cache, lists } = await start(sample)
    await cache.start()
    expect(cache.isSynced).to.equal(true)
    expect(lists).to.deep.equal(['/api/v1/pods', '/api/v1/nodes'])
    expect(requestsOf(cache)).to.equal('1')
    expect(cache.stores()).to.deep.equal([cache.store('nodes')])
  })

  it('follows nodes and pods; a change of pods causes no node event', async () => {
    const { cache, watches, emit } = await start(sample)
    await cache.start()
    await until(() => watches.size === 2)
    emit('/api/v1/pods', 'ADDED', pod('p2', 11, '500m'))
    await until(() => requestsOf(cache) === '1500m')
    expect(cache.store('nodes')?.version).to.equal(10)
    emit(
      '/api/v1/nodes',
      'MODIFIED',
      node('n1', { version: 12, labels: { a: 'b' }, status: { allocatable } }),
    )
    await until(() => cache.store('nodes')?.version === 12)
    expect(requestsOf(cache)).to.equal('1500m')
  })

  it('counts the claims of storage classes from the first request on', async () => {
    const at = (version: number, name: string) => ({
      ...{ name, uid: name, resourceVersion: String(version), creationTimestamp: '2031-01-01T00:00:00Z' },
    })
    const claim = (version: number, name: string, storageClassName: string) => ({
      metadata: { ...at(version, name), namespace: 'ns' },
      spec: { storageClassName },
    })
    const respond = (path: string) => {
      if (path === '/api/v1/persistentvolumeclaims') return [claim(3, 'a', 'fast'), claim(4, 'b', 'gone')]
      return path.endsWith('/storageclasses') ? [{ metadata: at(5, 'fast') }] : sample(path)
    }
    const resource = { resource: 'persistentvolumeclaims', scope: 'Namespaced', verbs: ['list', 'watch'] }
    const version = { version: 'v1', resources: [{ ...resource, responseKind: { kind: 'Claim' } }] }
    const core = [{ metadata: { name: '' }, versions: [version] }]
    const { cache, watches, emit } = await start(respond, {}, { '/api': core })
    await cache.start()
    const kind: Kind = {
      ...{ plural: 'storageclasses', singular: 'storageclass', kind: 'StorageClass', namespaced: false },
      source: { group: 'storage.k8s.io', version: 'v1', path: '/apis/storage.k8s.io/v1/storageclasses' },
      ...{ shortNames: [], categories: [], columns: [], filters: {} },
      toFields: () => ({ status: '', cells: [], values: {} }),
    }
    const [classes] = await Promise.all([cache.obtain(kind), cache.obtain(kind)])
    const countOf = () => classes.get('', 'fast')?.annotations['kapis.io/pvc-count']
    expect(countOf()).to.equal('1')
    const claims = '/api/v1/persistentvolumeclaims'
    await until(() => watches.has(claims))
    emit(claims, 'ADDED', claim(11, 'c', 'fast'))
    await until(() => countOf() === '2')
    emit(claims, 'DELETED', claim(12, 'a', 'fast'))
    await until(() => countOf() === '1')
  })

  const kindOfPods: Kind = {
    ...nodes,
    plural: 'pods',
    source: { group: '', version: 'v1', path: '/api/v1/pods' },
  }

  it('watches pods once, even if they are cached', async () => {
    const { cache, lists, watches, emit } = await start(sample)
    await cache.start()
    await until(() => watches.size === 2)
    const own = watches.get('/api/v1/pods')
    await cache.obtain(kindOfPods)
    await until(() => own?.closed === true && watches.get('/api/v1/pods') !== own)
    expect(lists.filter(path => path === '/api/v1/pods')).to.have.length(2)
    emit('/api/v1/pods', 'ADDED', pod('p2', 11, '500m'))
    await until(() => requestsOf(cache) === '1500m')
    const shared = watches.get('/api/v1/pods')
    emit('/api/v1/pods', 'ERROR', { code: 404, message: 'no' })
    await until(() => cache.stores().length === 1)
    await until(() => shared?.closed === true && watches.get('/api/v1/pods') !== shared)
    emit('/api/v1/pods', 'ADDED', pod('p3', 12, '2'))
    await until(() => requestsOf(cache) === '3')
  })

  it('sends the objects it already has to a later subscriber', async () => {
    const { cache, lists, watches, emit } = await start(sample)
    await cache.start()
    await until(() => watches.size === 2)
    const own = watches.get('/api/v1/pods')
    await cache.obtain(kindOfPods)
    const observed: string[] = []
    const watch = cache.watch('/api/v1/pods', {
      replace: items => void observed.push(...items.map(({ metadata }) => metadata.name)),
      apply: events =>
        void observed.push(...events.map(({ type, object }) => `${type} ${object.metadata.name}`)),
    })
    await watch.start()
    expect(observed).to.deep.equal(['p1'])
    expect(lists.filter(path => path === '/api/v1/pods')).to.have.length(2)
    await until(() => watches.get('/api/v1/pods') !== own)
    emit('/api/v1/pods', 'ADDED', pod('p2', 11, '1'))
    await until(() => observed.length === 2)
    watch.stop()
    emit('/api/v1/pods', 'DELETED', pod('p2', 12, '1'))
    await until(() => requestsOf(cache) === '1')
    expect(observed).to.deep.equal(['p1', 'ADDED p2'])
  })

  it('returns nothing before it has read everything', async () => {
    const { cache } = await start(path => (path === '/api/v1/pods' ? [] : undefined))
    void cache.start()
    expect(cache.isSynced).to.equal(false)
    expect(thrownFields(() => cache.store('nodes'))).to.deep.equal({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'the cache for nodes has not synced yet; retry later',
    })
  })

  it('returns nothing older than five seconds while kube-apiserver is unreachable, also after a change of the system time', async () => {
    const { cache } = await start(sample)
    await cache.start()
    const { fake } = running ?? expect.fail()
    running = undefined
    await fake.close()
    await withClocks({ wallMs: -600_000, monotonicMs: 5_001 }, async () => {
      const message = 'the cache for nodes is stale: the watch on kube-apiserver was lost; retry later'
      await until(() => {
        try {
          return cache.store('nodes') === undefined
        } catch (error) {
          return error instanceof Status && error.code === 503 && error.message === message
        }
      })
    })
    cache.stop()
  })

  for (const plural of ['pods', '', 'constructor', '__proto__']) {
    it(`returns 404 for ${JSON.stringify(plural)}`, async () => {
      const { cache } = await start(sample)
      await cache.start()
      expect(cache.store(plural)).to.equal(undefined)
    })
  }

  describe('a kind that is watched on demand', () => {
    const gadgets = (plural: string): Kind => ({
      ...nodes,
      plural,
      source: { group: 'x.io', version: 'v1', path: `/apis/x.io/v1/${plural}` },
    })
    const withGadgets = (path: string) =>
      path.startsWith('/apis/x.io') ? [node('g1', { version: 3 })] : sample(path)

    it('is watched once, from the first request on', async () => {
      const { cache, lists } = await start(withGadgets)
      await cache.start()
      const [a, b] = await Promise.all([cache.obtain(gadgets('gadgets')), cache.obtain(gadgets('gadgets'))])
      expect(a).to.equal(b)
      expect(a.get('', 'g1')?.version).to.equal(3)
      expect(lists.filter(path => path === '/apis/x.io/v1/gadgets')).to.have.length(1)
    })

    const rejections: readonly [number, number, string][] = [
      [403, 503, 'the Kapis service account cannot list gadgets: add get, list and watch to its ClusterRole'],
      [404, 404, 'the server could not find the requested resource'],
      [500, 503, 'failed to list gadgets at kube-apiserver'],
    ]
    for (const [answered, code, message] of rejections) {
      it(`causes ${code} when kube-apiserver answers ${answered}`, async () => {
        const { cache } = await start(path => (path.startsWith('/apis/x.io') ? answered : sample(path)))
        await cache.start()
        const rejection = await cache.obtain(gadgets('gadgets')).catch((error: unknown) => error)
        expect(rejection).to.be.instanceOf(Status).that.includes({ code, message })
      })
    }

    it('causes 404 after its CRD is deleted, ends its watches, and is watched again when it is created again', async () => {
      let isThere = true
      const { cache, lists, watches, emit } = await start(path =>
        isThere || !path.startsWith('/apis/x.io') ? withGadgets(path) : 404,
      )
      await cache.start()
      const before = await cache.obtain(gadgets('gadgets'))
      let resets = 0
      before.subscribe({ changed: () => undefined, reset: () => resets++ })
      await until(() => watches.has('/apis/x.io/v1/gadgets'))
      isThere = false
      emit('/apis/x.io/v1/gadgets', 'ERROR', { code: 404, message: 'no' })
      await until(() => resets === 1)
      expect(before.isEnded).to.equal(true)
      const rejection = await cache.obtain(gadgets('gadgets')).catch((error: unknown) => error)
      expect(rejection).to.be.instanceOf(Status).that.includes({ code: 404 })
      expect(cache.stores()).to.have.length(1)
      const asked = lists.length
      isThere = true
      const after = await cache.obtain(gadgets('gadgets'))
      expect(after).to.not.equal(before)
      expect(after.get('', 'g1')?.version).to.equal(3)
      expect(lists).to.have.length(asked + 1)
    })

    it('is not started before the permanent kinds are synced', async () => {
      const { cache } = await start(withGadgets)
      const rejection = await cache.obtain(gadgets('gadgets')).catch((error: unknown) => error)
      expect(rejection).to.be.instanceOf(Status).that.includes({ code: 503 })
    })

    it('is evicted for another kind, which is rejected when nothing can be evicted', async () => {
      const { cache } = await start(withGadgets, { maxMegabytes: 0 })
      await cache.start()
      // The nodes alone exceed the limit, but are always cached.
      const rejection = await cache.obtain(gadgets('gadgets')).catch((error: unknown) => error)
      expect(rejection).to.be.instanceOf(Status).that.includes({
        code: 503,
        message: 'the resource cache is full (0 MiB): gadgets cannot be added',
      })

      await running?.fake.close()
      cache.stop()
      const roomy = await start(withGadgets, { maxMegabytes: 6_000 / 2 ** 20 })
      await roomy.cache.start()
      await roomy.cache.obtain(gadgets('first'))
      await roomy.cache.obtain(gadgets('second'))
      await roomy.cache.obtain(gadgets('third'))
      expect(roomy.cache.stores().map(({ served }) => served.kind.plural)).to.not.include('first')
    })
  })
})
