import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { Status } from '../../../apierrors/status.ts'
import {
  type GetOptions,
  type HttpResponse,
  jane,
  type Loopback,
  startLoopback,
  toExchange,
} from '../../../apirequest/fixtures.ts'
import type { RequestInfo } from '../../../apirequest/request-info.ts'
import {
  changingVisibility,
  event,
  node,
  replaceAll,
  servedNodes,
  storeOf,
} from '../../../resourcecache/fixtures.ts'
import type { ObjectVisibility } from '../../../resourcecache/list/object-visibility.ts'
import { PageCache } from '../../../resourcecache/list/page-cache.ts'
import { ObjectStore, type Scope } from '../../../resourcecache/store/store.ts'
import { WatchBroadcaster } from '../../../resourcecache/watch/watch-broadcaster.ts'
import { createUserTimeSlices } from '../../../scheduling/time-slices.ts'
import { unusedOwners } from '../../subrequests/fixtures.ts'
import { type ReadOptions, serveResources } from './read.ts'

const g = '/kapis/resources.kapis.io/v1alpha3'
const managedFields = [{ manager: 'kubelet' }]
const items = [
  node('a', { created: '2031-01-01T00:00:00Z', annotations: { own: 'kept' }, meta: { managedFields } }),
  node('b', { created: '2031-01-02T00:00:00Z', spec: { unschedulable: true } }),
  node('c', { created: '2031-01-03T00:00:00Z' }),
]
const decorate = () => ({ annotations: { 'node.kapis.io/cpu-requests': '650m' }, cells: [] })

function platform(name: string, isManaged = false) {
  const found = items.find(item => item.metadata.name === name)
  const { managedFields: managed, ...metadata } = found?.metadata ?? {}
  return {
    ...found,
    metadata: {
      ...metadata,
      ...(isManaged && managed !== undefined ? { managedFields: managed } : {}),
      selfLink: `/api/v1/nodes/${name}`,
      annotations: { ...found?.metadata.annotations, 'node.kapis.io/cpu-requests': '650m' },
    },
  }
}

/** A stub for tools that a list of nodes does not use. */
const elsewhere = (): Promise<never> => Promise.reject(new Error('not asked for here'))

describe('serveResources', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function start(
    store: ObjectStore = storeOf(items, { decorate }),
    pods: {
      readonly store?: ObjectStore
      readonly requirePermission?: ReadOptions['requirePermission']
    } = {},
    visibility?: ObjectVisibility,
  ) {
    const pages = new PageCache()
    const options = {
      groupDomain: 'kapis.io',
      pages,
      broadcaster: new WatchBroadcaster(),
      timeSlices: createUserTimeSlices(),
      components: {
        groupDomain: 'kapis.io',
        namespace: 'kapis-system',
        storeOf: async () => store,
      },
      registries: {
        client: { call: elsewhere, stream: elsewhere, close: () => undefined },
        registry: { verify: elsewhere, config: elsewhere, tags: elsewhere },
        requirePermission: elsewhere,
      },
      visible: async () => undefined,
      storeOf: (plural: string) => (plural === 'nodes' ? store : plural === 'pods' ? pods.store : undefined),
      nativeCollectionOf: () => undefined,
      services: elsewhere,
      requirePermission: pods.requirePermission ?? elsewhere,
      isConsistent: ({ prefix }: RequestInfo) => prefix !== 'kapis',
      owners: unusedOwners,
      printerColumns: async () => undefined,
      narrowed: () => visibility,
    }
    loopback = await startLoopback(async (req, res) => {
      try {
        await serveResources(options, toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    return loopback
  }
  const send = async (path: string, options?: GetOptions) => (await start()).get(path, options)
  const json = ({ text }: HttpResponse) => JSON.parse(text)

  it('returns what the caller may see after a change of permissions while the request waits', async () => {
    for (const [path, code] of [
      ['/nodes', 200],
      ['/nodes?sortBy=name&limit=2', 200],
      ['/nodes?fields=metadata.name', 200],
      ['/nodes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1', 200],
      ['/nodes/b', 404],
    ] as const) {
      const visibility = changingVisibility('a', 'b')
      const store = storeOf(items, { decorate, confirm: () => async () => visibility.give('a') })
      const { get } = await start(store, {}, visibility.visible)
      const response = await get(`/kapi/resources.kapis.io/v1alpha3${path}`)
      expect(response.code, path).to.equal(code)
      if (code === 200) expect(response.text).to.contain('"a"').and.not.contain('"b"')
      if (path === '/nodes') expect(json(response).totalItems).to.equal(1)
      await loopback?.close()
    }
  })

  it('lists everything, newest first, with selfLink and computed annotations', async () => {
    const response = await send(`${g}/nodes`)
    expect(response.code).to.equal(200)
    expect(response.headers).to.include({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      vary: 'Accept-Encoding',
    })
    expect(json(response)).to.deep.equal({
      items: ['c', 'b', 'a'].map(name => platform(name)),
      totalItems: 3,
    })
  })

  it('returns one object', async () => {
    expect(json(await send(`${g}/nodes/a`))).to.deep.equal(platform('a'))
  })

  it('includes managedFields on request', async () => {
    const { get } = await start()
    expect(json(await get(`${g}/nodes/a?managedFields=true`))).to.deep.equal(platform('a', true))
    const { items: listed } = json(await get(`${g}/nodes?managedFields=true&name=a`))
    expect(listed).to.deep.equal([platform('a', true)])
    expect(json(await get(`${g}/nodes/a`))).to.deep.equal(platform('a'))
  })

  const pages: readonly [string, readonly string[], number][] = [
    ['?sortBy=name&ascending=true', ['a', 'b', 'c'], 3],
    ['?limit=2', ['c', 'b'], 3],
    ['?limit=2&page=2', ['a'], 3],
    ['?limit=2&page=3', [], 3],
    ['?limit=0', [], 3],
    ['?status=unschedulable', ['b'], 1],
    ['?name=zz', [], 0],
    ['?names=a,c&limit=1', ['c'], 2],
    ['?pretty=true', ['c', 'b', 'a'], 3],
  ]
  for (const [query, names, totalItems] of pages) {
    it(`${query} returns ${names.join(', ') || 'nothing'} of ${totalItems}`, async () => {
      const list = json(await send(`${g}/nodes${query}`))
      expect(list).to.deep.equal({ items: names.map(name => platform(name)), totalItems })
    })
  }

  it('hides the pods of a Service from callers who may not get that Service', async () => {
    const requests: unknown[] = []
    const requirePermission: ReadOptions['requirePermission'] = async (identity, permission) => {
      requests.push([identity, permission])
      throw new Status(403, 'Forbidden', 'services "shop" is forbidden')
    }
    const kind = { ...servedNodes.kind, plural: 'pods', namespaced: true }
    const { get } = await start(undefined, {
      store: new ObjectStore({ ...servedNodes, kind }),
      requirePermission,
    })
    const paths = [`${g}/namespaces/ns/pods`, `${g}/pods`]
    for (const path of paths)
      for (const more of ['', '&watch=true'])
        expect(await get(`${path}?serviceName=shop${more}`)).to.include({ code: 403 })
    expect(requests).to.deep.equal(
      ['ns', 'ns', '', ''].map(namespace => [
        jane,
        { verb: 'get', group: '', resource: 'services', namespace, name: 'shop' },
      ]),
    )
  })

  it('returns the current state of a page that is requested again', async () => {
    const store = storeOf(items, { decorate })
    const { get } = await start(store)
    const query = `${g}/nodes?limit=2&sortBy=name&ascending=true`
    expect(
      json(await get(query)).items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ).to.deep.equal(['a', 'b'])
    store.apply([event('DELETED', node('a', { version: 11 }))])
    const after = json(await get(query))
    expect(after).to.deep.equal({ items: [platform('b'), platform('c')], totalItems: 2 })
  })

  it('compresses a large list, and streams a larger one', async () => {
    const big = Array.from({ length: 500 }, (_, i) =>
      node(`n${1000 + i}`, { spec: { text: 'x'.repeat(2000) } }),
    )
    const { get } = await start(storeOf(big))
    const plain = await get(`${g}/nodes`)
    const zipped = await get(`${g}/nodes`, { headers: { 'accept-encoding': 'gzip, br' } })
    expect(zipped.headers['content-encoding']).to.equal('gzip')
    expect(gunzipSync(zipped.body).equals(plain.body)).to.equal(true)
    expect(json(plain)).to.have.property('totalItems', 500)
    expect(json(plain).items).to.have.length(500)
  })

  describe('a read without a resource version', () => {
    async function startCounting() {
      const scopes: Scope[] = []
      const confirm = () => async (scope: Scope) => void scopes.push(scope)
      const { get } = await start(storeOf(items, { confirm }))
      return { get, scopes }
    }
    const reads = [
      '/nodes',
      '/nodes/a',
      '/nodes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1',
    ]

    for (const read of reads) {
      it(`is consistent below /kapi: ${read}`, async () => {
        const { get, scopes } = await startCounting()
        expect((await get(`${g.replace('/kapis', '/kapi')}${read}`)).code).to.equal(200)
        expect(scopes).to.deep.equal([{ namespace: '', name: read === '/nodes/a' ? 'a' : '' }])
      })

      it(`is from the cache below /kapis, and with version 0: ${read}`, async () => {
        const { get, scopes } = await startCounting()
        const zero = `resourceVersion=0`
        const paths = [
          `${g}${read}`,
          `${g.replace('/kapis', '/kapi')}${read}${read.includes('?') ? '&' : '?'}${zero}`,
        ]
        for (const path of paths) expect((await get(path)).code).to.equal(200)
        expect(scopes).to.deep.equal([])
      })
    }
  })

  it('rejects a watch of a kind that kube-apiserver only lists', async () => {
    const kind = { ...servedNodes.kind, isListedOnly: true as const }
    const store = new ObjectStore({ ...servedNodes, kind })
    replaceAll(store, items, '10')
    const { get } = await start(store)
    expect(json(await get(`${g}/nodes`))).to.have.property('totalItems', 3)
    const { code, text } = await get(`${g}/nodes?watch=true`)
    expect(code).to.equal(405)
    expect(text).to.contain('watch is not supported for nodes: kube-apiserver only supports list')
  })

  it('responds to HEAD with only the headers', async () => {
    const { code, headers, text } = await send(`${g}/nodes/a`, { method: 'HEAD' })
    expect({ code, text }).to.deep.equal({ code: 200, text: '' })
    expect(Number(headers['content-length'])).to.be.above(100)
  })

  const refused: readonly [string, string, number, string, string][] = [
    ['GET', '/pods', 404, 'NotFound', 'resource "pods" is not supported'],
    ['GET', '/constructor', 404, 'NotFound', 'resource "constructor" is not supported'],
    ['GET', '/nodes/zz', 404, 'NotFound', 'nodes "zz" not found'],
    ['GET', '/nodes/a/status', 404, 'NotFound', 'the server could not find the requested resource'],
    ['GET', '/namespaces/x/nodes', 404, 'NotFound', 'resource "nodes" is not namespaced'],
    ['GET', '/namespaces/x/nodes/a', 404, 'NotFound', 'resource "nodes" is not namespaced'],
    [
      'DELETE',
      '/nodes/a',
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    ],
  ]
  for (const [method, path, code, reason, message] of refused) {
    it(`rejects ${method} ${path} with ${code}`, async () => {
      const response = await send(`${g}${path}`, { method })
      expect(response.code).to.equal(code)
      expect(json(response)).to.deep.include({ kind: 'Status', status: 'Failure', code, reason, message })
    })
  }

  const known = 'alias, annotation, label, name, names, namespace, ownerKind, ownerReference, q, status, uid'
  const keys =
    'name, namespace, createTime, creationTimestamp, updateTime, lastUpdateTimestamp, status, or a path such as .spec.nodeName'
  const ignored: readonly (readonly [string, string])[] = [
    ['page=0', 'invalid page "0": expected a whole number of at least 1; using 1'],
    ['color=red', `ignored unknown filter "color" of nodes; supported: ${known}`],
    ['__proto__=x', `ignored unknown filter "__proto__" of nodes; supported: ${known}`],
    ['a=1&b=2&c=3&d=4&e=5', `ignored unknown filters "a", "b", "c" and 2 more of nodes; supported: ${known}`],
    ['sortBy=startTime', `ignored unknown sort key "startTime" of nodes; supported: ${keys}`],
  ]
  for (const [query, warning] of ignored) {
    it(`ignores ?${query}, with a warning`, async () => {
      const [response, whole] = [await send(`${g}/nodes?${query}`), await send(`${g}/nodes`)]
      expect([response.code, response.text]).to.deep.equal([200, whole.text])
      expect(response.headers.warning).to.equal(`299 - "${warning.replaceAll('"', '\\"')}"`)
      expect(whole.headers).to.not.have.property('warning')
    })
  }

  it('warns about an invalid parameter of an object, too', async () => {
    const { code, headers } = await send(`${g}/nodes/a?managedFields=x`)
    expect([code, headers.warning]).to.deep.equal([
      200,
      '299 - "invalid managedFields \\"x\\": expected true or false; using false"',
    ])
  })

  it('rejects a watch that could never send an event', async () => {
    const response = await send(`${g}/nodes?watch=true`, { method: 'HEAD' })
    expect([response.code, response.headers.allow]).to.deep.equal([405, 'GET'])
  })

  it('lists the allowed methods', async () => {
    expect((await send(`${g}/nodes`, { method: 'POST' })).headers.allow).to.equal('GET, HEAD')
  })

  // A request that was authorized with another verb must not be served as a get or a list.
  for (const path of ['/proxy/nodes/a', '/proxy/nodes', '/proxy/nodes/a?watch=true']) {
    it(`does not answer ${path}`, async () => {
      expect((await send(`${g}${path}`)).code).to.be.within(400, 499)
    })
  }
})
