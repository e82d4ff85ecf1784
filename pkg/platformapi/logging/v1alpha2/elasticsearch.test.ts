import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, errors } from '@elastic/elasticsearch'
import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../../apirequest/fixtures.ts'
import { openTestStore, readAll } from '../../../logs/embedded/fixtures.ts'
import { createMemoryStore, type MemoryStore } from '../../../logs/fixtures.ts'
import { defaultLimits } from '../../../logs/ingest/limits.ts'
import { freeSlot } from './fixtures.ts'
import { createIngest } from './ingest.ts'

const base = '/kapis/logging.kapis.io/v1alpha2/ingest'
const time = '2020-05-16T16:00:42Z'
const options = {
  limits: defaultLimits,
  authorize: () => undefined,
  observe: () => undefined,
  enter: freeSlot,
}

describe('Elasticsearch clients', () => {
  let loopback: Loopback
  let store: MemoryStore
  let ingest: ReturnType<typeof createIngest>
  before(async () => {
    loopback = await startLoopback(async (req, res) => {
      try {
        await ingest(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    store = createMemoryStore()
    ingest = createIngest({ ...options, store })
  })

  describe('the official client of Node.js', () => {
    let client: Client
    beforeEach(() => {
      client = new Client({ node: `http://127.0.0.1:${loopback.port}${base}`, maxRetries: 0 })
    })
    afterEach(() => client.close())

    it('sends the items of its bulk helper once, and receives the rejected ones', async () => {
      const documents = Array.from({ length: 500 }, (_, i) => ({
        '@timestamp': time,
        message: `line ${i}`,
        i,
      }))
      const dropped: unknown[] = []
      const { total, successful, failed, retry } = await client.helpers.bulk<object>({
        datasource: [...documents, { message: 'without a time', i: 500 }, []],
        onDocument: () => ({ create: { _index: 'logs' } }),
        onDrop: ({ status, error }) => void dropped.push([status, error?.type]),
        ...{ flushBytes: 5_000, concurrency: 3, refreshOnCompletion: true },
      })
      expect({ total, successful, failed, retry }).to.deep.equal({
        total: 502,
        successful: 501,
        failed: 1,
        retry: 0,
      })
      expect(dropped).to.deep.equal([[400, 'document_parsing_exception']])
      const numbers = store.records.map(({ fields }) => Number(fields?.i)).sort((a, b) => a - b)
      expect(numbers).to.deep.equal([...documents.keys(), 500])
    })

    it('receives responses to its setup requests', async () => {
      expect((await client.info()).tagline).to.equal('You Know, for Search')
      expect(await client.ping()).to.equal(true)
      expect((await client.cluster.health()).status).to.equal('green')
      expect((await client.license.get()).license.status).to.equal('active')
      expect((await client.nodes.info({ metric: 'http' })).nodes).to.deep.equal({})
      const acknowledged = { acknowledged: true }
      const policy = { phases: {} }
      expect(await client.ilm.putLifecycle({ name: 'a', policy })).to.deep.equal(acknowledged)
      expect(await client.indices.putIndexTemplate({ name: 'a' })).to.deep.equal(acknowledged)
      expect(await client.cluster.putComponentTemplate({ name: 'a', template: {} })).to.deep.equal(
        acknowledged,
      )
      expect(await client.ingest.putPipeline({ id: 'a', processors: [] })).to.deep.equal(acknowledged)
      expect(await client.indices.existsIndexTemplate({ name: 'a' })).to.equal(true)
      expect((await client.indices.create({ index: 'logs' })).index).to.equal('logs')
    })

    it('stores single documents, and treats only those with the same ID and content as repetitions', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'kapis-documents-'))
      const embedded = await openTestStore(folder, { now: Date.now })
      try {
        ingest = createIngest({ ...options, store: embedded })
        const document = { message: 'tick' }
        const first = await client.index({ index: 'logs', document, refresh: true, routing: 'a' })
        const second = await client.index({ index: 'logs', document })
        expect([first._index, first.result, first._id === second._id]).to.deep.equal([
          'logs',
          'created',
          false,
        ])
        const named = [
          await client.index({ index: 'logs', id: 'a:1', document }),
          await client.create({ index: 'logs', id: 'a:2', document }),
          await client.create({ index: 'logs', id: 'a:2', document }),
          await client.index({ index: 'logs', id: 'a:2', document: { message: 'tock' } }),
        ]
        expect(named.map(({ _id }) => _id)).to.deep.equal(['a:1', 'a:2', 'a:2', 'a:2'])
        expect(await readAll(embedded)).to.deep.equal(['tick', 'tick', 'tick', 'tick', 'tock'])
      } finally {
        await embedded.close()
        await rm(folder, { recursive: true })
      }
    })

    it('receives the error of a document as Elasticsearch reports it', async () => {
      const error = await client.index({ index: 'logs', document: [] }).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(errors.ResponseError)
      expect(error instanceof errors.ResponseError && [error.statusCode, error.body]).to.deep.equal([
        400,
        {
          error: {
            root_cause: [{ type: 'document_parsing_exception', reason: 'not a JSON object' }],
            ...{ type: 'document_parsing_exception', reason: 'not a JSON object' },
          },
          status: 400,
        },
      ])
    })

    it('receives the fields that filter_path names', async () => {
      const operations = [{ create: {} }, { '@timestamp': time, message: 'x' }, { create: {} }, []]
      const bulk = (filter_path: string) => client.bulk({ index: 'logs', operations, filter_path })
      const error = { type: 'document_parsing_exception' }
      expect(await bulk('errors,items.*.error.type')).to.deep.equal({
        errors: true,
        items: [{ create: { error } }],
      })
      expect(await bulk('items.*.status')).to.deep.equal({
        items: [{ create: { status: 201 } }, { create: { status: 400 } }],
      })
      expect(await bulk('items.*.nothing')).to.deep.equal({})
      expect(Object.keys(await bulk('-items'))).to.deep.equal(['took', 'errors'])
      expect(await client.info({ filter_path: 'version.number' })).to.deep.equal({
        version: { number: '8.19.0' },
      })
    })
  })

  const paths: readonly (readonly [method: string, path: string, code: number])[] = [
    ...[
      '',
      '/',
      '/_license',
      '/_xpack',
      '/_nodes',
      '/_nodes/_all/http',
      '/_cluster/health',
      '/_cluster/health/a',
    ].flatMap(path => [
      ['GET', path, 200] as const,
      ['HEAD', path, 200] as const,
      ['DELETE', path, 405] as const,
    ]),
    ...[
      '/_ilm/policy/a',
      '/_index_template/a',
      '/_template/a',
      '/_component_template/a',
      '/_ingest/pipeline/a',
      '/_alias/a',
    ].flatMap(path => ['GET', 'HEAD', 'PUT', 'DELETE'].map(method => [method, path, 200] as const)),
    ...['/a', '/a/_alias/b', '/_data_stream/a'].map(path => ['PUT', path, 200] as const),
    ['POST', '/a/_refresh', 200],
    ['GET', '/_bulk', 405],
    ['GET', '/a/_doc/1', 405],
    ['POST', '/a', 405],
    ['POST', '/jsonline', 405],
    ...[
      '/_search',
      '/a/_search',
      '/a/_create',
      '/_doc',
      '/_doc/1',
      '/a/_doc/1/2',
      '/_a/_doc/1',
      '/a/_update/1',
      '/_security/user',
      '/a/_license',
    ].map(path => ['POST', path, 404] as const),
  ]
  for (const [method, path, code] of paths) {
    it(`${method} ${path || '/'} is ${code} with the product header that they require`, async () => {
      const { headers, ...response } = await loopback.get(base + path, { method })
      expect([response.code, headers['x-elastic-product']]).to.deep.equal([code, 'Elasticsearch'])
    })
  }

  for (const version of [8, 9]) {
    it(`receive their media type for version ${version}`, async () => {
      const accept = `application/vnd.elasticsearch+json; compatible-with=${version}`
      const { headers } = await loopback.get(base, { headers: { accept } })
      expect(headers['content-type']).to.equal(
        `application/vnd.elasticsearch+json;compatible-with=${version}`,
      )
    })
  }

  it('receive responses only if they may ingest', async () => {
    ingest = createIngest({
      ...{ store, limits: defaultLimits, observe: () => undefined, enter: freeSlot },
      authorize: () => {
        throw new Error('no')
      },
    })
    expect((await loopback.get(base)).code).to.equal(500)
  })
})
