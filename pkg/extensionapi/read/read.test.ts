import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { parse } from 'yaml'
import { renderKube } from '../../apierrors/render-kube.ts'
import { unavailable } from '../../apierrors/status.ts'
import {
  type GetOptions,
  type HttpResponse,
  type Loopback,
  startLoopback,
  toExchange,
} from '../../apirequest/fixtures.ts'
import { bookmark, changingVisibility, event, node, storeOf } from '../../resourcecache/fixtures.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { ObjectStore, Scope } from '../../resourcecache/store/store.ts'
import { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { createUserTimeSlices } from '../../scheduling/time-slices.ts'
import { serveRead } from './read.ts'

const g = '/apis/resources.kapis.io/v1alpha3'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const items = [
  node('a', { version: 3, labels: { zone: 'x' }, spec: { podCIDR: '10.0.0.0/24' } }),
  node('b', { version: 4, labels: { zone: 'y' } }),
]
const shown = items.map(item => ({ ...item, apiVersion: 'resources.kapis.io/v1alpha3' }))
const listHead = {
  kind: 'NodeList',
  apiVersion: 'resources.kapis.io/v1alpha3',
  metadata: { resourceVersion: '10' },
}

describe('serveRead', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function start(store: ObjectStore = storeOf(items), visibility?: ObjectVisibility) {
    const broadcaster = new WatchBroadcaster()
    const pages = new PageCache()
    const collectionOfPlural = (plural: string) => {
      if (plural === 'broken')
        throw unavailable('the cache for broken is stale: the watch on kube-apiserver was lost; retry later')
      return plural === 'nodes' ? store : undefined
    }
    loopback = await startLoopback(async (req, res) => {
      try {
        const visible = async () => visibility
        await serveRead(
          {
            timeSlices: createUserTimeSlices(),
            storeOf: collectionOfPlural,
            broadcaster,
            pages,
            visible,
            narrowed: () => undefined,
          },
          toExchange(req, res),
        )
      } catch (error) {
        renderKube(res, error)
      }
    })
    return { ...loopback, store, broadcaster }
  }
  const send = async (path: string, options?: GetOptions) => (await start()).get(path, options)
  const json = ({ text }: HttpResponse) => JSON.parse(text)
  const accept = (value: string): GetOptions => ({ headers: { accept: value } })

  describe('for a caller whose permissions change while the request waits', () => {
    const hidden = Array.from({ length: 3 }, (_, i) => node(`hidden${i}`, { version: 5 + i }))
    /**
     * Starts a server on which the caller loses access to the hidden objects during the consistency
     * check.
     */
    async function startChanging() {
      const visibility = changingVisibility('a', 'hidden0', 'hidden1', 'hidden2')
      const confirm = () => async () => visibility.give('a')
      const { get, open, store } = await start(
        storeOf([...items, ...hidden], { confirm }),
        visibility.visible,
      )
      return { visibility, get, open, store }
    }

    for (const [path, as] of [
      ['/nodes', 'application/json'],
      ['/nodes', table],
      ['/nodes', partialList],
      ['/nodes?limit=2', 'application/json'],
      ['/nodes?resourceVersion=10', 'application/json'],
      ['/nodes?labelSelector=!none', 'application/json'],
    ] as const)
      it(`${path} as ${as} shows what the caller may see afterwards`, async () => {
        const { visibility, get } = await startChanging()
        if (path.endsWith('=10')) visibility.give('a')
        const { code, text } = await get(g + path, accept(as))
        expect(code).to.equal(200)
        expect(text).to.contain('"a"').and.not.contain('hidden')
      })

    it('an object is not found', async () => {
      const { get } = await startChanging()
      expect((await get(`${g}/nodes/hidden0`)).code).to.equal(404)
    })

    it('a watch starts with what the caller may see afterwards', async () => {
      const { open } = await startChanging()
      const res = await open(
        `${g}/nodes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      )
      let text = ''
      for await (const chunk of res) {
        text += chunk
        if (text.includes('BOOKMARK')) break
      }
      expect(text).to.contain('"name":"a"').and.not.contain('hidden')
    })

    const large = Array.from({ length: 200 }, (_, i) =>
      node(`n${i}`, { version: 10, annotations: { text: 'x'.repeat(100_000) } }),
    )
    const names = large.map(({ metadata }) => metadata.name)
    const changes: readonly (readonly [what: string, now: readonly string[], isCut: boolean])[] = [
      ['a long list is truncated while it is written', ['n0'], true],
      [
        'a long list is truncated for a caller who may see other objects instead',
        ['more', ...names.slice(1)],
        true,
      ],
      ['a long list is completed for a caller who may see more', [...names, 'more'], false],
    ]
    for (const [what, now, isCut] of changes) {
      it(what, async () => {
        const visibility = changingVisibility(...names)
        const { open } = await start(storeOf(large), visibility.visible)
        const res = await open(`${g}/nodes`)
        let length = 0
        const cut = await new Promise(resolve => {
          res.on('data', chunk => {
            if (length === 0) visibility.give(...now)
            length += chunk.length
          })
          res.on('end', () => resolve(false))
          res.on('error', () => resolve(true))
        })
        expect(cut).to.equal(isCut)
        expect(length < 15_000_000).to.equal(isCut)
      })
    }
  })

  describe('a read without a resource version', () => {
    async function startCounting() {
      const scopes: Scope[] = []
      const confirm = () => async (scope: Scope) => void scopes.push(scope)
      const { get } = await start(storeOf(items, { confirm }))
      return { get, scopes }
    }
    const match = 'resourceVersionMatch=NotOlderThan&timeoutSeconds=1'
    const consistent: readonly [string, string][] = [
      ['/nodes', ''],
      ['/nodes?limit=1', ''],
      ['/nodes?fieldSelector=metadata.name%3Da', 'a'],
      ['/nodes?fieldSelector=metadata.name!%3Da', ''],
      ['/nodes/a', 'a'],
      ['/nodes/zz', 'zz'],
      [`/nodes?watch=true&sendInitialEvents=true&${match}`, ''],
    ]
    for (const [path, name] of consistent) {
      it(`is consistent: ${path}`, async () => {
        const { get, scopes } = await startCounting()
        await get(g + path)
        expect(scopes).to.deep.equal([{ namespace: '', name }])
      })
    }

    const cached = [
      '/nodes?resourceVersion=0',
      '/nodes/a?resourceVersion=0',
      '/nodes?resourceVersion=10&resourceVersionMatch=NotOlderThan',
      '/nodes?watch=true&timeoutSeconds=1',
      `/nodes?watch=true&sendInitialEvents=true&resourceVersion=0&${match}`,
    ]
    for (const path of cached) {
      it(`may return any state, or that of the version: ${path}`, async () => {
        const { get, scopes } = await startCounting()
        expect((await get(g + path)).code).to.equal(200)
        expect(scopes).to.deep.equal([])
      })
    }
  })

  describe('get', () => {
    it('returns the object as it is stored', async () => {
      const response = await send(`${g}/nodes/a`)
      expect(response.code).to.equal(200)
      expect(response.headers).to.include({
        'content-type': 'application/json',
        'cache-control': 'no-cache, private',
      })
      expect(json(response)).to.deep.equal(shown[0])
    })

    it('returns a table of one row, and metadata only', async () => {
      const { get } = await start()
      const tabular = json(await get(`${g}/nodes/a`, accept(table)))
      expect(tabular).to.deep.include({ kind: 'Table', metadata: { resourceVersion: '3' } })
      expect(tabular.rows.map((row: { cells: unknown[] }) => row.cells[0])).to.deep.equal(['a'])
      expect(json(await get(`${g}/nodes/a`, accept(partial)))).to.deep.equal({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: items[0]?.metadata,
      })
    })

    it('returns YAML, and indented JSON for terminals', async () => {
      const { get } = await start()
      const yaml = await get(`${g}/nodes/a`, accept('application/yaml'))
      expect(yaml.headers['content-type']).to.equal('application/yaml')
      expect(parse(yaml.text)).to.deep.equal(shown[0])
      const pretty = await get(`${g}/nodes/a?pretty=true`)
      expect(pretty.text).to.equal(`${JSON.stringify(json(pretty), null, 2)}\n`)
      expect(json(pretty)).to.deep.equal(shown[0])
    })

    it('waits for the requested version', async () => {
      const { get, store } = await start()
      const waiting = get(`${g}/nodes/a?resourceVersion=12`)
      setTimeout(() => store.apply([bookmark(12)]), 10)
      expect((await waiting).code).to.equal(200)
    })
  })

  describe('list', () => {
    it('returns all objects with the version of the list', async () => {
      const response = await send(`${g}/nodes`)
      expect(response.headers).to.include({ 'content-type': 'application/json', vary: 'Accept-Encoding' })
      expect(json(response)).to.deep.equal({ ...listHead, items: shown })
    })

    it('returns an empty list in every representation', async () => {
      const { get } = await start(storeOf([]))
      expect(json(await get(`${g}/nodes`))).to.deep.equal({ ...listHead, items: [] })
      expect(json(await get(`${g}/nodes`, accept(table))).rows).to.deep.equal([])
      expect(json(await get(`${g}/nodes`, accept(partialList))).items).to.deep.equal([])
      expect(parse((await get(`${g}/nodes`, accept('application/yaml'))).text)).to.deep.equal({
        ...listHead,
        items: [],
      })
      expect(json(await get(`${g}/nodes?pretty=1`))).to.deep.equal({ ...listHead, items: [] })
    })

    it('returns the same objects as a table, as metadata, as YAML and indented', async () => {
      const { get } = await start()
      const tabular = json(await get(`${g}/nodes`, accept(table)))
      expect(tabular).to.deep.include({
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: '10' },
      })
      expect(tabular.rows.map((row: { cells: unknown[] }) => row.cells[0])).to.deep.equal(['a', 'b'])
      const metadata = json(await get(`${g}/nodes`, accept(partialList)))
      expect(metadata.kind).to.equal('PartialObjectMetadataList')
      expect(metadata.items.map((item: { metadata: unknown }) => item.metadata)).to.deep.equal(
        items.map(item => item.metadata),
      )
      expect(parse((await get(`${g}/nodes`, accept('application/yaml'))).text)).to.deep.equal({
        ...listHead,
        items: shown,
      })
      expect(json(await get(`${g}/nodes?pretty=1`))).to.deep.equal({ ...listHead, items: shown })
    })

    it('includes whole objects in table rows on request', async () => {
      const { get } = await start()
      const tabular = json(await get(`${g}/nodes?includeObject=Object`, accept(table)))
      expect(tabular.rows.map((row: { object: unknown }) => row.object)).to.deep.equal(shown)
    })

    it('applies selectors and limits', async () => {
      const { get } = await start()
      expect(json(await get(`${g}/nodes?labelSelector=zone%3Dy`)).items).to.deep.equal([shown[1]])
      expect(json(await get(`${g}/nodes?fieldSelector=metadata.name%3Da`)).items).to.deep.equal([shown[0]])
      const first = json(await get(`${g}/nodes?limit=1`))
      expect(first.items).to.deep.equal([shown[0]])
      expect(first.metadata.remainingItemCount).to.equal(1)
      const rest = json(await get(`${g}/nodes?limit=1&continue=${first.metadata.continue}`))
      expect(rest).to.deep.equal({ ...listHead, items: [shown[1]] })
    })

    it('compresses a large list for clients that accept it', async () => {
      const big = Array.from({ length: 100 }, (_, i) =>
        node(`n${1000 + i}`, { spec: { text: 'x'.repeat(2000) } }),
      )
      const { get } = await start(storeOf(big))
      const plain = await get(`${g}/nodes`)
      const zipped = await get(`${g}/nodes`, { headers: { 'accept-encoding': 'gzip' } })
      expect(plain.headers).to.not.have.property('content-encoding')
      expect(zipped.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
      expect(gunzipSync(zipped.body).equals(plain.body)).to.equal(true)
      expect(json(plain).items).to.have.length(100)
      const small = await get(`${g}/nodes?limit=2`, { headers: { 'accept-encoding': 'gzip' } })
      expect(small.headers).to.not.have.property('content-encoding')
    })

    it('returns changes since the previous request', async () => {
      const { get, store } = await start()
      const before = json(await get(`${g}/nodes`))
      store.apply([event('MODIFIED', node('a', { version: 11 }))])
      const after = json(await get(`${g}/nodes`))
      expect(
        [before, after].map(list => [list.metadata.resourceVersion, list.items[0].metadata.resourceVersion]),
      ).to.deep.equal([
        ['10', '3'],
        ['11', '11'],
      ])
    })
  })

  describe('watch', () => {
    for (const path of [
      `${g}/nodes?watch=true&resourceVersion=0&timeoutSeconds=1`,
      `${g}/watch/nodes?timeoutSeconds=1`,
    ]) {
      it(`streams ${path.slice(g.length)}`, async () => {
        const { headers, text } = await send(path, { headers: { 'accept-encoding': 'gzip' } })
        expect(headers).to.include({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
        expect(headers).to.not.have.property('content-encoding')
        const events = text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line))
        expect(events).to.deep.equal(shown.map(object => ({ type: 'ADDED', object })))
      })
    }

    it('is restricted to the object that the path names', async () => {
      const { text } = await send(`${g}/watch/nodes/b?timeoutSeconds=1`)
      expect(JSON.parse(text)).to.deep.equal({ type: 'ADDED', object: shown[1] })
    })

    it('streams tables', async () => {
      const { text } = await send(
        `${g}/nodes?watch=1&fieldSelector=metadata.name%3Da&timeoutSeconds=1`,
        accept(table),
      )
      const { type, object } = JSON.parse(text)
      expect(type).to.equal('ADDED')
      expect(object).to.deep.include({ kind: 'Table', metadata: { resourceVersion: '3' } })
      expect(object.rows[0].cells[0]).to.equal('a')
    })
  })

  const missing = 'the server could not find the requested resource'
  type Row = readonly [string, GetOptions, number, string, string]
  const refused: readonly Row[] = [
    [`${g}/nodes/zz`, {}, 404, 'NotFound', 'nodes.resources.kapis.io "zz" not found'],
    [`${g}/nodes/constructor`, {}, 404, 'NotFound', 'nodes.resources.kapis.io "constructor" not found'],
    [`${g}/pods`, {}, 404, 'NotFound', missing],
    [`${g}/nodes/a/status`, {}, 404, 'NotFound', missing],
    [`${g}/nodes/a/proxy/x`, {}, 404, 'NotFound', missing],
    [`${g}/namespaces/x/nodes`, {}, 404, 'NotFound', missing],
    [`${g}/namespaces/x/nodes/a`, {}, 404, 'NotFound', missing],
    [
      `${g}/broken`,
      {},
      503,
      'ServiceUnavailable',
      'the cache for broken is stale: the watch on kube-apiserver was lost; retry later',
    ],
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(
      (method): Row => [
        `${g}/nodes`,
        { method },
        405,
        'MethodNotAllowed',
        'the server does not allow this method on the requested resource',
      ],
    ),
    [
      `${g}/nodes`,
      accept('text/html'),
      406,
      'NotAcceptable',
      'only the following media types are accepted: application/json, application/yaml',
    ],
    [
      `${g}/nodes/a?export=true`,
      {},
      400,
      'BadRequest',
      'the export parameter, deprecated since v1.14, is no longer supported',
    ],
    [
      `${g}/nodes/a?resourceVersion=x`,
      {},
      400,
      'BadRequest',
      'Invalid value: "x": resourceVersion must be a decimal integer without leading zeros',
    ],
    [
      `${g}/nodes?includeObject=All`,
      accept(table),
      400,
      'BadRequest',
      'unrecognized includeObject value: "All": must be Metadata, Object or None',
    ],
    [
      `${g}/watch/nodes/a?fieldSelector=metadata.name%3Db`,
      {},
      400,
      'BadRequest',
      "fieldSelector metadata.name doesn't match requested name",
    ],
    [
      `${g}/nodes?resourceVersion=9&resourceVersionMatch=Exact`,
      {},
      410,
      'Expired',
      'The resourceVersion for the provided list is too old: 9',
    ],
  ]
  for (const [path, options, code, reason, message] of refused) {
    it(`rejects ${options.method ?? 'GET'} ${path.slice(g.length)} ${options.headers?.accept ?? ''} with ${code}`, async () => {
      const response = await send(path, options)
      expect(response.code).to.equal(code)
      expect(response.headers['content-type']).to.equal('application/json')
      expect(json(response)).to.deep.include({ kind: 'Status', status: 'Failure', code, reason, message })
    })
  }

  it('lists the allowed methods', async () => {
    expect((await send(`${g}/nodes`, { method: 'DELETE' })).headers.allow).to.equal('GET')
  })

  // A past bug: permission to `proxy` one node allowed listing all nodes.
  for (const path of [`${g}/proxy/nodes/a`, `${g}/proxy/nodes`]) {
    it(`rejects a list of ${path.slice(g.length)}, which was authorized as another verb`, async () => {
      expect((await send(path)).code).to.be.within(400, 499)
    })
  }
})
