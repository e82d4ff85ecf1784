import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { compressSync as compressSnappy } from 'snappy'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { insufficientStorage, tooManyRequests } from '../../../apierrors/status.ts'
import {
  type HttpResponse,
  type Loopback,
  readResponse,
  startLoopback,
  toExchange,
} from '../../../apirequest/fixtures.ts'
import { createFairQueue } from '../../../apiserver/filters/fair-queue.ts'
import { createMemoryStore, type MemoryStore } from '../../../logs/fixtures.ts'
import { createIngestRecords } from '../../../logs/ingest/ingest-records.ts'
import { defaultLimits } from '../../../logs/ingest/limits.ts'
import type { LogStore } from '../../../logs/store.ts'
import { createTimeSlices } from '../../../scheduling/time-slices.ts'
import { forbidden403, freeSlot, tooMany } from './fixtures.ts'
import { createIngest } from './ingest.ts'

const base = '/kapis/logging.kapis.io/v1alpha2/ingest'
const document = (log: string) => JSON.stringify({ time: '2020-05-16T16:00:42Z', log })
const fixtures = join(import.meta.dirname, '../../../../test/fixtures')
const ndjson = { 'content-type': 'application/x-ndjson' }

const storeOf = (append: LogStore['append']) => ({ ingest: createIngestRecords(append, createTimeSlices()) })

describe('createIngest', () => {
  let loopback: Loopback | undefined
  let store: MemoryStore = createMemoryStore()
  const observed: unknown[] = []
  beforeEach(() => {
    store = createMemoryStore()
    observed.length = 0
  })
  afterEach(() => loopback?.close())

  async function send(
    path: string,
    body: string | Buffer | null,
    given: { headers?: Record<string, string>; method?: string; ingest?: object } = {},
  ): Promise<HttpResponse> {
    const ingest = createIngest({
      store,
      limits: { ...defaultLimits, batchBytes: 10_000, batchLines: 50, lineBytes: 100 },
      authorize: () => undefined,
      enter: freeSlot,
      observe: (protocol, lines) => observed.push([protocol, lines]),
      ...given.ingest,
    })
    loopback ??= await startLoopback(async (req, res) => {
      try {
        await ingest(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const options = { host: '127.0.0.1', port: loopback.port, path: base + path, agent: false }
    const { method = 'POST', headers = ndjson } = given
    const client = request({ ...options, method, headers }, res => readResponse(res).then(resolve, reject))
    client.on('error', reject)
    if (body === null) client.flushHeaders()
    else client.end(body)
    return promise.finally(async () => {
      await loopback?.close()
      loopback = undefined
    })
  }
  const logs = () => store.records.map(({ log }) => log)
  const rejection = ({ code, text }: HttpResponse) => [code, JSON.parse(text).message]

  describe('with many concurrent senders', () => {
    let came = 0
    const started = async (given: Pick<LogStore, 'ingest'>, most: number, waitMs: number) => {
      const silent = { authorize: () => undefined, observe: () => undefined }
      const rejection = () => tooManyRequests('later', 1)
      const { take: enter } = createFairQueue({ seats: () => most, waitMs: () => waitMs, rejection })
      const ingest = createIngest({ store: given, limits: defaultLimits, enter, ...silent })
      came = 0
      loopback = await startLoopback(async (req, res) => {
        try {
          came++
          await ingest(toExchange(req, res))
        } catch (error) {
          renderKube(res, error)
        }
      })
    }
    const begin = (headers: Record<string, string | number>) => {
      const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
      const options = { host: '127.0.0.1', port: loopback?.port, path: `${base}/jsonlines`, agent: false }
      const client = request({ ...options, method: 'POST', headers: { ...ndjson, ...headers } }, res =>
        readResponse(res).then(resolve, reject),
      ).on('error', reject)
      promise.catch(() => undefined)
      return { client, response: promise }
    }
    const sendOne = () => {
      const { client, response } = begin({})
      client.end(document('a'))
      return response
    }
    const sendSlowly = () => {
      const { client } = begin({ 'content-length': 8_000_000 })
      client.write('{')
      return client
    }
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise(resolve => setTimeout(resolve, 5))
    }
    afterEach(async () => {
      await loopback?.close()
      loopback = undefined
    })

    it('queues a request behind its user’s slow uploads, and rejects it after a while', async () => {
      // Each user may use a quarter of the slots.
      await started(store, 8, 200)
      const slow = [sendSlowly(), sendSlowly()]
      await until(() => came === 2)
      const refused = await sendOne()
      expect([refused.code, refused.headers['retry-after']]).to.deep.equal([429, '1'])
      const waiting = sendOne()
      await until(() => came === 4)
      slow[0]?.destroy()
      expect((await waiting).code).to.equal(200)
      for (const client of slow) client.destroy()
    })

    it('stores eight batches concurrently, and the others afterwards', async () => {
      const storing = Promise.withResolvers<void>()
      const stored: number[] = []
      let now = 0
      const ingest: LogStore['ingest'] = async batch => {
        stored.push(++now)
        await storing.promise
        now--
        return store.ingest(batch)
      }
      await started({ ingest }, 4 * 40, 30_000)
      const responses = Array.from({ length: 60 }, sendOne)
      await until(() => came === 60)
      storing.resolve()
      const codes = (await Promise.all(responses)).map(({ code }) => code)
      expect(codes).to.deep.equal(Array(60).fill(200))
      expect(Math.max(...stored)).to.equal(8)
    })
  })

  describe('_bulk', () => {
    for (const path of ['/logs-2020/_bulk', '/logs-2020/_doc/_bulk'])
      it(`returns a result for each item of ${path}, in order`, async () => {
        const body = `{"create":{"_id":"7"}}\n${document('a')}\n{"index":{"_index":"x"}}\n["b"]\n`
        const { code, text } = await send(path, body)
        const { took, ...response } = JSON.parse(text)
        const generated = response.items[1].index._id
        expect([code, typeof took, generated]).to.deep.equal([200, 'number', generated])
        expect(response).to.deep.equal({
          errors: true,
          items: [
            { create: { _index: 'logs-2020', _id: '7', _version: 1, result: 'created', status: 201 } },
            {
              index: {
                _index: 'x',
                _id: generated,
                status: 400,
                error: {
                  type: 'document_parsing_exception',
                  reason: 'not a JSON object',
                },
              },
            },
          ],
        })
        expect(logs()).to.deep.equal(['a'])
        expect(observed).to.deep.equal([['bulk', { stored: 1, rejected: 1, changed: {} }]])
      })

    it('accepts the content type of Elasticsearch 8 clients', async () => {
      const headers = { 'content-type': 'application/vnd.elasticsearch+json; compatible-with=8' }
      expect((await send('/_bulk', `{"create":{}}\n${document('a')}\n`, { headers })).code).to.equal(200)
    })

    it('stores nothing if the body is invalid', async () => {
      const response = await send(
        '/_bulk',
        `{"create":{}}\n${document('a')}\n{"creat":{}}\n${document('b')}\n`,
      )
      expect(rejection(response)).to.deep.equal([
        400,
        'line 3: not an action; expected an action such as {"create":{}}, and the document on the next line',
      ])
      expect(logs()).to.deep.equal([])
    })

    it('reports lines that the store rejects, by their index in the batch', async () => {
      const append = async () => ({ duplicate: false, rejected: [{ index: 1, reason: 'no' }] })
      const items = ['bad', document('a'), document('b')].map(text => `{"create":{}}\n${text}\n`)
      const { text } = await send('/_bulk', items.join(''), { ingest: { store: storeOf(append) } })
      const statuses = JSON.parse(text).items.map((item: { create: object }) =>
        Reflect.get(item.create, 'status'),
      )
      expect(statuses).to.deep.equal([400, 201, 400])
    })
  })

  describe('jsonlines', () => {
    it('stores the valid lines and lists the others, and what was truncated', async () => {
      const { code, text } = await send(
        '/jsonlines',
        `${document('a')}\n\nbad\n${document('x'.repeat(101))}\n`,
      )
      expect([code, JSON.parse(text)]).to.deep.equal([
        200,
        {
          accepted: 2,
          rejected: 1,
          errors: [{ line: 3, reason: 'not valid JSON' }],
          changed: [{ line: 4, reasons: ['line_shortened'] }],
        },
      ])
    })

    it('rejects a batch without a valid line', async () => {
      expect(rejection(await send('/jsonlines', 'bad\nworse\n'))).to.deep.equal([
        400,
        'none of 2 lines was accepted; line 1: not valid JSON',
      ])
    })

    it('accepts an empty batch', async () => {
      expect(JSON.parse((await send('/jsonlines', '')).text)).to.deep.equal({ accepted: 0, rejected: 0 })
    })

    const types = [
      '',
      'text/plain; charset=utf-8',
      'application/json',
      'application/stream+json',
      'application/x-www-form-urlencoded',
    ]
    for (const type of types) {
      it(`accepts ${type || 'no content type'}`, async () => {
        const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
        expect((await send('/jsonlines', document('a'), { headers })).code).to.equal(200)
      })
    }

    const snappy = (bytes: Buffer) => compressSnappy(bytes)
    const encodings = {
      ...{ gzip: gzipSync, deflate: deflateSync, zlib: deflateSync, zstd: zstdCompressSync },
      ...{ snappy, 'x-snappy-framed': snappy },
    }
    for (const [encoding, compress] of Object.entries(encodings)) {
      it(`decompresses ${encoding}`, async () => {
        const headers = { ...ndjson, 'content-encoding': encoding }
        await send('/jsonlines', compress(Buffer.from(document('packed'))), { headers })
        expect(logs()).to.deep.equal(['packed'])
      })
    }

    for (const encoding of ['identity', 'Identity, gzip', 'gzip, identity', ' GZIP ,']) {
      it(`reads the list of encodings ${JSON.stringify(encoding)}`, async () => {
        const body = Buffer.from(document('listed'))
        const headers = { ...ndjson, 'content-encoding': encoding }
        await send('/jsonlines', encoding === 'identity' ? body : gzipSync(body), { headers })
        expect(logs()).to.deep.equal(['listed'])
      })
    }

    for (const [encoding, compress] of Object.entries({ gzip: gzipSync, zstd: zstdCompressSync })) {
      it(`unpacks ${encoding} in several frames, as senders that flush each line write it`, async () => {
        const frames = ['a', 'b', 'c'].map(log => compress(Buffer.from(`${document(log)}\n`)))
        const headers = { ...ndjson, 'content-encoding': encoding }
        const { text } = await send('/jsonlines', Buffer.concat(frames), { headers })
        expect([JSON.parse(text).accepted, logs()]).to.deep.equal([3, ['a', 'b', 'c']])
      })
    }
  })

  describe('v1/logs', () => {
    const protobuf = { 'content-type': 'application/x-protobuf' }
    const json = { 'content-type': 'application/json' }

    it('accepts what exporters send, in either encoding', async () => {
      const first = await send('/v1/logs', readFileSync(join(fixtures, 'otlp-logs.bin')), {
        headers: protobuf,
      })
      expect([first.code, first.headers['content-type'], first.body.length]).to.deep.equal([
        200,
        'application/x-protobuf',
        0,
      ])
      const second = await send('/v1/logs', readFileSync(join(fixtures, 'otlp-logs.json')), { headers: json })
      expect([second.code, JSON.parse(second.text)]).to.deep.equal([200, {}])
      expect(store.records.slice(0, 3)).to.deep.equal(store.records.slice(3))
    })

    it('reports a partial success', async () => {
      const logRecords = ['a', { timeUnixNano: '1', body: { stringValue: 'b' } }]
      const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
      const { text } = await send('/v1/logs', body, { headers: json })
      expect(JSON.parse(text)).to.deep.equal({
        partialSuccess: {
          rejectedLogRecords: '1',
          errorMessage: 'record 1: must be an object',
        },
      })
      expect(logs()).to.deep.equal(['b'])
    })

    it('returns a retryable error if the store is full, or the body does not arrive in time', async () => {
      const full = async () => {
        throw insufficientStorage('full')
      }
      const body = readFileSync(join(fixtures, 'otlp-logs.bin'))
      const response = await send('/v1/logs', body, { headers: protobuf, ingest: { store: storeOf(full) } })
      expect([response.code, response.headers['retry-after']]).to.deep.equal([503, '5'])
      const lines = await send('/jsonlines', document('a'), { ingest: { store: storeOf(full) } })
      expect(rejection(lines)).to.deep.equal([507, 'full'])

      const headers = { ...protobuf, 'content-length': '100' }
      const late = await send('/v1/logs', null, { headers, ingest: { bodyWithinMs: 20 } })
      expect(rejection(late)).to.deep.equal([503, 'timed out reading the request body (0.02 s)'])
    })

    it('rejects anything but an export request', async () => {
      expect(rejection(await send('/v1/logs', 'x', { headers: protobuf }))).to.deep.equal([
        400,
        'the body is not a valid ExportLogsServiceRequest: a number is truncated',
      ])
      expect(rejection(await send('/v1/logs', '{}', { headers: ndjson }))).to.deep.equal([
        415,
        'Content-Type must be one of application/json, application/x-protobuf, not "application/x-ndjson"',
      ])
    })
  })

  describe('loki/api/v1/push', () => {
    const json = { 'content-type': 'application/json' }
    const push = (...times: readonly string[]) =>
      JSON.stringify({ streams: [{ stream: { pod: 'web-0' }, values: times.map(at => [at, `line ${at}`]) }] })

    it('accepts JSON, and protobuf in snappy with or without its content type', async () => {
      expect((await send('/loki/api/v1/push', push('1'), { headers: json })).code).to.equal(204)
      // The stream {pod="web-0"} with one entry, whose time is 1 ns after the Unix epoch.
      const protobuf = Buffer.from('0a1d0a0d7b706f643d227765622d30227d120c0a0210011206', 'hex')
      const body = compressSnappy(Buffer.concat([protobuf, Buffer.from('line 2')]))
      const type = { 'content-type': 'application/x-protobuf' }
      for (const headers of [{}, type, { ...type, 'content-encoding': 'snappy' }]) {
        const response = await send('/loki/api/v1/push', body, { headers })
        expect([response.code, response.text]).to.deep.equal([204, ''])
      }
      expect(logs()).to.deep.equal(['line 1', 'line 2', 'line 2', 'line 2'])
      expect(store.records.every(({ pod, timeNs }) => pod === 'web-0' && timeNs === 1n)).to.equal(true)
    })

    it('reports the rejected lines, and stores the others', async () => {
      const append = async () => ({ duplicate: false, rejected: [{ index: 1, reason: 'too old' }] })
      const response = await send('/loki/api/v1/push', push('2', '1'), {
        headers: json,
        ingest: { store: storeOf(append) },
      })
      expect(rejection(response)).to.deep.equal([400, '1 of 2 lines were rejected; line 2: too old'])
    })
  })

  describe('lines without a time', () => {
    const changed = ['time_of_arrival']

    it('are stored, and reported in each protocol that can', async () => {
      const bulk = await send('/_bulk', `{"create":{}}\n{"log":"a"}\n{"create":{}}\n${document('b')}\n`)
      const { errors, items } = JSON.parse(bulk.text)
      expect([errors, items[0].create.changed, items[1].create.changed]).to.deep.equal([
        false,
        changed,
        undefined,
      ])
      const lines = await send('/jsonlines', '{"log":"c"}')
      expect(JSON.parse(lines.text)).to.deep.equal({
        ...{ accepted: 1, rejected: 0 },
        changed: [{ line: 1, reasons: changed }],
      })
      const headers = { 'content-type': 'application/json' }
      const otlp = await send('/v1/logs', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}', {
        headers,
      })
      expect(JSON.parse(otlp.text)).to.deep.equal({
        partialSuccess: {
          rejectedLogRecords: '0',
          errorMessage: 'record 1 was stored with changes: time_of_arrival',
        },
      })
      const loki = await send('/loki/api/v1/push', '{"streams":[{"values":[["noon","d"]]}]}', { headers })
      expect(loki.code).to.equal(204)
      expect(logs()).to.deep.equal(['a', 'b', 'c', '', 'd'])
      expect(observed.map(one => (Array.isArray(one) ? one[1].changed : one))).to.deep.equal(
        Array(4).fill({ time_of_arrival: 1 }),
      )
    })
  })

  describe('a rejected request', () => {
    it('with a body over the limit, with or without a length', async () => {
      const large = Buffer.alloc(10_001, 'x')
      const message = 'Request entity is too large: limit is 10000'
      expect(rejection(await send('/jsonlines', large))).to.deep.equal([413, message])
      const chunked = { ...ndjson, 'transfer-encoding': 'chunked' }
      expect(rejection(await send('/jsonlines', large, { headers: chunked }))).to.deep.equal([413, message])
      const packed = gzipSync(Buffer.alloc(5_000_000, 'x'))
      const headers = { ...ndjson, 'content-encoding': 'gzip' }
      expect(rejection(await send('/jsonlines', packed, { headers }))).to.deep.equal([413, message])
    })

    it('with more lines than the limit', async () => {
      const body = Array.from({ length: 51 }, () => document('a')).join('\n')
      expect(rejection(await send('/jsonlines', body))).to.deep.equal([
        413,
        'the batch has too many lines, the limit is 50',
      ])
      expect(logs()).to.deep.equal([])
    })

    it('with a body that cannot be decompressed', async () => {
      const headers = { ...ndjson, 'content-encoding': 'gzip' }
      const response = await send('/jsonlines', document('a'), { headers })
      expect(rejection(response)).to.deep.equal([
        400,
        'the request body is truncated or does not match its Content-Encoding',
      ])
    })

    it('with an unknown encoding or type', async () => {
      const headers = { ...ndjson, 'content-encoding': 'br' }
      expect(rejection(await send('/jsonlines', 'x', { headers }))).to.deep.equal([
        415,
        'Content-Encoding must be gzip, deflate, zstd, snappy or identity, not "br"',
      ])
      const twice = { ...ndjson, 'content-encoding': 'gzip, gzip' }
      expect(rejection(await send('/jsonlines', 'x', { headers: twice }))[0]).to.equal(415)
      const [code] = rejection(await send('/_bulk', 'x', { headers: { 'content-type': 'text/html' } }))
      expect(code).to.equal(415)
    })

    it('with an unknown encoding leaves no timer that would close the connection', async () => {
      const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
      const headers = { ...ndjson, 'content-encoding': 'br' }
      const before = timers()
      for (let i = 0; i < 20; i++) await send('/jsonlines', 'x', { headers })
      expect(timers() - before).to.be.below(20)
    })

    it('with another method or path', async () => {
      const { code, headers } = await send('/jsonlines', '', { method: 'GET' })
      expect([code, headers.allow]).to.deep.equal([405, 'POST, PUT'])
      const put = await send('/a/_doc', '{}', { method: 'PUT' })
      expect([put.code, put.headers.allow]).to.deep.equal([405, 'POST'])
      for (const path of ['/v1/traces', '/a/b/c/_bulk', '/_bulk/x', '/_search', '/a/_search']) {
        expect((await send(path, '')).code, path).to.equal(404)
      }
    })

    it('of an unauthorized caller is answered before the body is read', async () => {
      const ingest = { authorize: forbidden403 }
      expect(rejection(await send('/jsonlines', document('a'), { ingest }))).to.deep.equal([403, 'no'])
      expect(rejection(await send('/_bulk', document('a'), { ingest }))).to.deep.equal([403, 'no'])
      expect(logs()).to.deep.equal([])
    })

    for (const path of ['/v1/logs', '/loki/api/v1/push']) {
      it(`of an unauthorized caller at ${path} is answered so that exporters retry`, async () => {
        const response = await send(path, null, { ingest: { authorize: forbidden403 } })
        expect(rejection(response)).to.deep.equal([429, 'no'])
        expect(response.headers['retry-after']).to.equal('5')
        expect(logs()).to.deep.equal([])
      })
    }

    it('for an overloaded store is rejected with Retry-After', async () => {
      const ingest = { store: storeOf(tooMany) }
      const response = await send('/jsonlines', document('a'), { ingest })
      expect([response.code, response.headers['retry-after']]).to.deep.equal([429, '7'])
    })
  })
})
