import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { unavailable } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { isOneOf } from '../../logs/filter/expression.ts'
import { createMemoryStore, record } from '../../logs/fixtures.ts'
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import type { LogStore } from '../../logs/store.ts'
import { freeScans, unlimitedConcurrency } from './fixtures.ts'
import { createLogApi, type LogApiOptions, type ScanOptions } from './serve.ts'

const second = 1_000_000_000n
const at = (seconds: number) => BigInt(seconds) * second
const base = 1_589_644_800
const records = [
  record({ timeNs: at(base), log: 'one\n' }),
  record({ timeNs: at(base) + 608_962_452n, log: 'two \u001b[31mred\u001b[0m\n', pod: 'web-1' }),
  record({ timeNs: at(base + 900), log: 'three, "quoted"', namespace: 'bank', container: 'till' }),
  record({ timeNs: at(base + 1800), log: 'four\n', namespace: '', pod: '', container: '', dockerId: 'host' }),
]
const [one, two, three, four] = [
  { log: 'one\n', time: '2020-05-16T16:00:00Z', namespace: 'shop', pod: 'web-0', container: 'web' },
  {
    log: 'two \u001b[31mred\u001b[0m\n',
    time: '2020-05-16T16:00:00.608962452Z',
    namespace: 'shop',
    pod: 'web-1',
    container: 'web',
  },
  {
    log: 'three, "quoted"',
    time: '2020-05-16T16:15:00Z',
    namespace: 'bank',
    pod: 'web-0',
    container: 'till',
  },
  { log: 'four\n', time: '2020-05-16T16:30:00Z' },
]

describe('createLogApi', () => {
  let loopback: Loopback | undefined
  let closing = new AbortController()
  beforeEach(() => {
    closing = new AbortController()
  })
  afterEach(() => loopback?.close())

  async function start(readable: ReadableNamespaces, given: Partial<LogApiOptions & ScanOptions> = {}) {
    const api = createLogApi({
      store: createMemoryStore(records),
      ...freeScans,
      concurrency: unlimitedConcurrency,
      readable: async () => readable,
      created: () =>
        new Map([
          ['shop', base - 1000],
          ['bank', base + 1000],
          ['new', base],
        ]),
      limits: () => ({ queryTimeoutSeconds: 1, exportLimit: 5000 }),
      closing: closing.signal,
      ...given,
    })
    await loopback?.close()
    loopback = await startLoopback(async (req, res) => {
      try {
        const place = req.url?.startsWith('/container') ? isOneOf('container', ['till']) : undefined
        await api(toExchange(req, res), place)
      } catch (error) {
        renderKube(res, error)
      }
    })
    return loopback
  }
  const send = async (
    query: string,
    readable: ReadableNamespaces = 'everywhere',
    given?: Partial<LogApiOptions>,
  ) => (await start(readable, given)).get(`/logs?${query.replaceAll(' ', '+')}`)

  const responses: Readonly<Record<string, object>> = {
    '': { query: { total: 4, records: [four, three, two, one] } },
    'operation=&size=&from=&sort=&namespaces=&log_query=&q=&cursor=': {
      query: { total: 4, records: [four, three, two, one] },
    },
    'size=1&from=1': { query: { total: 4, records: [three] } },
    'size=0': { query: { total: 4 } },
    'sort=asc&size=2': { query: { total: 4, records: [one, two] } },
    'log_query=thr,ONE': { query: { total: 2, records: [three, one] } },
    'q=o AND NOT one': { query: { total: 0 } },
    'namespaces=shop,none': { query: { total: 2, records: [two, one] } },
    'namespace_query=an': { query: { total: 1, records: [three] } },
    'namespace_query=AN': { query: { total: 0 } },
    'workloads=web': { query: { total: 3, records: [three, two, one] } },
    'pods=web-1': { query: { total: 1, records: [two] } },
    'pod_query=web': { query: { total: 3, records: [three, two, one] } },
    'containers=till': { query: { total: 1, records: [three] } },
    'container_query=ti': { query: { total: 1, records: [three] } },
    [`start_time=${base + 900}&end_time=${base + 1800}`]: { query: { total: 2, records: [four, three] } },
    'operation=statistics': { statistics: { containers: 4, logs: 4 } },
    'operation=statistics&pods=none': { statistics: { containers: 0, logs: 0 } },
    'operation=histogram': {
      histogram: {
        total: 4,
        histograms: [
          { time: base * 1000, count: 2 },
          { time: (base + 900) * 1000, count: 1 },
          { time: (base + 1800) * 1000, count: 1 },
        ],
      },
    },
    'operation=histogram&interval=1h': {
      histogram: { total: 4, histograms: [{ time: base * 1000, count: 4 }] },
    },
    'operation=histogram&pods=none': { histogram: { total: 0, histograms: null } },
    'with_cursor=true&size=1': { query: { total: 4, records: [{ ...four, cursor: 'c3' }] } },
    'cursor=c2&size=1': { query: { total: 4, records: [two] } },
    'operation=patterns&q=one': { patterns: [{ pattern: 'one', count: 1 }] },
    'operation=patterns&containers=till': { patterns: [{ pattern: 'three, "quoted"', count: 1 }] },
    'operation=patterns&size=0': { patterns: [] },
    'operation=patterns&pods=none': { patterns: [] },
    'operation=context&cursor=c0&namespaces=shop&pods=web-0&containers=web': {
      context: { before: [], after: [] },
    },
  }
  for (const [query, response] of Object.entries(responses)) {
    it(`returns the result of ${query || 'no parameters'}`, async () => {
      const { code, headers, text } = await send(query)
      expect(JSON.parse(text)).to.deep.equal(response)
      expect([code, headers['content-type']]).to.deep.equal([200, 'application/json'])
    })
  }

  it('rejects a page that would end before it is full, and reports how many records fit', async () => {
    const store: LogStore = createMemoryStore(records)
    const cut: LogStore = {
      ...store,
      query: async (query, limits) => {
        const any = { ...query, filter: { scope: 'everything' as const }, start: { from: 0 } }
        const { total, hits } = await store.query(any, limits)
        return { total, hits: hits.slice(0, 2), isCut: query.size > 2 }
      },
    }
    const why = 'the records are long, and a response is limited to 16 MiB'
    for (const [query, code, message] of [
      ['', 400, `size must be at most 2: ${why}`],
      ['follow=true', 400, `size must be at most 2: ${why}`],
      ['operation=context&cursor=c3', 400, `before must be at most 2: ${why}`],
      ['size=2', 200, undefined],
    ] as const) {
      const { code: actual, text } = await send(query, 'everywhere', { store: cut })
      expect([query, actual, JSON.parse(text).message]).to.deep.equal([query, code, message])
    }
  })

  describe('the visible log', () => {
    it('begins with the creation of the namespace', async () => {
      const { text } = await send('sort=asc', ['bank', 'shop'])
      expect(JSON.parse(text)).to.deep.equal({ query: { total: 2, records: [one, two] } })
    })

    it('contains only the requested lines', async () => {
      const { text } = await send('namespaces=bank,shop&namespace_query=sho&pods=web-1', ['bank', 'shop'])
      expect(JSON.parse(text)).to.deep.equal({ query: { total: 1, records: [two] } })
    })

    it('does not include a deleted namespace', async () => {
      const { text } = await send('', ['gone'])
      expect(JSON.parse(text)).to.deep.equal({ query: { total: 0 } })
    })

    const nothing: Readonly<Record<string, string>> = {
      '': '{"query":{"total":0}}\n',
      'operation=statistics': '{"statistics":{"containers":0,"logs":0}}\n',
      'operation=histogram': '{"histogram":{"total":0,"histograms":null}}\n',
      'operation=export': '',
      'operation=export&format=jsonl': '',
      'operation=context&cursor=c0': '{"context":{"before":[],"after":[]}}\n',
    }
    for (const [query, text] of Object.entries(nothing)) {
      it(`is empty: ${query || 'query'}`, async () => {
        const response = await send(query, [])
        expect([response.code, response.text]).to.deep.equal([200, text])
        expect((await send(`${query}&namespaces=shop`, ['new'])).text).to.equal(text)
      })
    }
  })

  describe('export', () => {
    const exports: Readonly<Record<string, string>> = {
      '': 'four\nthree, "quoted"\ntwo red\none\n',
      'sort=asc&namespaces=shop': 'one\ntwo red\n',
      'with_time=true&containers=till': '2020-05-16T16:15:00Z three, "quoted"\n',
      'with_pod=true&containers=till': 'bank/web-0/till three, "quoted"\n',
      'with_time=true&with_pod=true&pods=web-1': '2020-05-16T16:00:00.608962452Z shop/web-1/web two red\n',
      'format=csv&sort=asc&q=one OR three':
        'time,namespace,pod,container,log\r\n2020-05-16T16:00:00Z,shop,web-0,web,"one\n"\r\n2020-05-16T16:15:00Z,bank,web-0,till,"three, ""quoted"""\r\n',
      'format=csv&with_time=false&containers=till':
        'namespace,pod,container,log\r\nbank,web-0,till,"three, ""quoted"""\r\n',
      'format=jsonl&containers=till': `${JSON.stringify(three)}\n`,
      'format=jsonl&with_pod=false&with_time=false&pods=web-1': `${JSON.stringify({ log: two.log })}\n`,
    }
    for (const [query, text] of Object.entries(exports)) {
      it(query || 'plain', async () => {
        const response = await send(`operation=export&${query}`)
        expect(response.text).to.equal(text)
        expect(response.headers['content-disposition']).to.equal('attachment')
      })
    }

    it('declares its content type and file name', async () => {
      const types: Readonly<Record<string, string>> = {
        text: 'text/plain; charset=utf-8',
        jsonl: 'application/x-ndjson',
        csv: 'text/csv; charset=utf-8; header=present',
      }
      for (const [format, type] of Object.entries(types)) {
        const { headers } = await send(`operation=export&format=${format}`)
        expect(headers['content-type']).to.equal(type)
        await loopback?.close()
      }
    })

    it('continues page by page to the last line, in the requested order, or is rejected', async () => {
      const many = Array.from({ length: 2500 }, (_, i) => record({ timeNs: at(base + i), log: `${i}\n` }))
      const store = createMemoryStore(many)
      const ofLimit = (exportLimit: number, given: LogStore = store) => {
        const limits = () => ({ queryTimeoutSeconds: 1, exportLimit })
        return send('operation=export&sort=asc', 'everywhere', { store: given, limits })
      }
      for (const limit of [0, 2500]) {
        expect((await ofLimit(limit)).text).to.equal(many.map(({ log }) => log).join(''))
        await loopback?.close()
      }
      const refused = await ofLimit(2499)
      expect([refused.code, JSON.parse(refused.text).message]).to.deep.equal([
        400,
        'the export has 2500 lines or more, the limit is 2499 (logs.exportLimit): restrict the query, for example with start_time and end_time',
      ])
      await loopback?.close()
      // Reports a smaller total, as if most lines arrived during the export.
      const growing: LogStore = {
        ...store,
        query: async (...question) => ({ ...(await store.query(...question)), total: 1000 }),
      }
      const broken = await ofLimit(2000, growing).catch(error => error)
      expect(broken).to.be.instanceOf(Error).with.property('code', 'ECONNRESET')
    })

    for (const operation of ['export', 'patterns']) {
      it(`of ${operation} ends with an error when the permission is revoked, but not when another is granted`, async () => {
        const many = Array.from({ length: 3000 }, (_, i) => record({ timeNs: at(base + i), log: `${i}\n` }))
        const readWith = async (now: ReadableNamespaces) => {
          let requestCount = 0
          const readable = async () => (requestCount++ === 0 ? ['shop'] : now)
          const given = { store: createMemoryStore(many), readable, permissionEveryMs: 0 }
          return send(`operation=${operation}&size=1`, [], given).then(
            ({ code }) => code,
            error => error.code,
          )
        }
        expect(await readWith(['new', 'shop'])).to.equal(200)
        expect(await readWith('everywhere')).to.equal(200)
        expect(await readWith(['new'])).to.be.oneOf([403, 'ECONNRESET'])
        expect(await readWith([])).to.be.oneOf([403, 'ECONNRESET'])
      })
    }

    it('is aborted when the permission is revoked while a slow client reads', async () => {
      const many = Array.from({ length: 900 }, (_, i) =>
        record({ timeNs: at(base + i), log: 'x'.repeat(20_000) }),
      )
      let now: ReadableNamespaces = ['shop']
      const given = { store: createMemoryStore(many), readable: async () => now, permissionEveryMs: 20 }
      const { open } = await start('everywhere', given)
      const res = await open('/logs?operation=export')
      now = []
      await sleep(100)
      let received = 0
      const ended = (async () => {
        for await (const chunk of res) received += chunk.length
      })()
      expect(await ended.catch(error => error.code)).to.equal('ECONNRESET')
      expect(received).to.be.below(900 * 20_000)
    })

    it('is an error response if the store fails immediately, and is aborted if it fails later', async () => {
      const many = Array.from({ length: 1001 }, (_, i) => record({ log: `${i}\n` }))
      const memory = createMemoryStore(many)
      const failing = (after: number): LogStore => {
        let requestCount = 0
        return {
          ...memory,
          query: async (...question) => {
            if (requestCount++ >= after) throw unavailable('the log store is not responding')
            return memory.query(...question)
          },
        }
      }
      const { code, text } = await send('operation=export', 'everywhere', { store: failing(0) })
      expect([code, JSON.parse(text).reason]).to.deep.equal([503, 'ServiceUnavailable'])
      await loopback?.close()
      const broken = await send('operation=export', 'everywhere', { store: failing(1) }).catch(error => error)
      expect(broken).to.be.instanceOf(Error).with.property('code', 'ECONNRESET')
    })
  })

  describe('follow', () => {
    it('sends the newest lines and then new ones, until the program stops', async () => {
      const store = createMemoryStore(records)
      const { open } = await start('everywhere', { store })
      const res = await open('/logs?follow=true&size=1&q=four+OR+five+OR+six')
      expect(res.headers['content-type']).to.equal('application/x-ndjson')
      const lines: string[] = []
      for await (const chunk of res.setEncoding('utf8')) {
        lines.push(...String(chunk).trim().split('\n'))
        if (lines.length === 1)
          await store.append({ records: [record({ log: 'five' }), record({ log: 'else' })] })
        if (lines.length === 2) await store.append({ records: [record({ log: 'six' })] })
        if (lines.length === 3) closing.abort()
      }
      expect(lines.map(line => JSON.parse(line).log)).to.deep.equal(['four\n', 'five', 'six'])
    })

    it('sends server-sent events to clients that accept them', async () => {
      const { open } = await start('everywhere')
      const res = await open('/logs?follow=true&size=1', { headers: { accept: 'text/event-stream' } })
      expect(res.headers['content-type']).to.equal('text/event-stream; charset=utf-8')
      for await (const chunk of res.setEncoding('utf8')) {
        expect(chunk).to.equal(`data: ${JSON.stringify(four)}\n\n`)
        closing.abort()
      }
    })

    it('sends complete headers immediately, and leaves the connection usable for the next request', async () => {
      const { port } = await start('everywhere')
      const socket = connect(port, '127.0.0.1')
      const toText = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
      socket.write(toText('HEAD', '/logs?follow=true') + toText('GET', '/logs?size=0'))
      let text = ''
      for await (const chunk of socket) {
        text += String(chunk)
        if (text.includes('{"query":{"total":4}}')) break
      }
      expect(text).to.match(/^HTTP\/1\.1 200 OK\r\ncontent-type: application\/x-ndjson\r\n/)
    })

    it('sends nothing to a caller without access', async () => {
      const store = createMemoryStore(records)
      const { open } = await start([], { store })
      const res = await open('/logs?follow=true')
      await store.append({ records: [record()] })
      setTimeout(() => closing.abort(), 20)
      expect(await res.toArray()).to.deep.equal([])
    })
  })

  it('cancels the query of a disconnected client, which is not logged as a failure', async () => {
    const asked = Promise.withResolvers<AbortSignal | undefined>()
    const memory = createMemoryStore(records)
    const store: LogStore = {
      ...memory,
      query: (_, { signal }) => {
        asked.resolve(signal)
        return new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        )
      },
    }
    const ended = Promise.withResolvers<unknown>()
    const api = createLogApi({
      store,
      ...freeScans,
      concurrency: unlimitedConcurrency,
      readable: async () => 'everywhere',
      created: () => new Map(),
      limits: () => ({ queryTimeoutSeconds: 1, exportLimit: 1 }),
      closing: closing.signal,
    })
    loopback = await startLoopback((req, res) => api(toExchange(req, res)).then(ended.resolve, ended.reject))
    const client = request({ host: '127.0.0.1', port: loopback.port, path: '/logs' }).on(
      'error',
      () => undefined,
    )
    client.end()
    const signal = await asked.promise
    client.destroy()
    await ended.promise
    expect(signal?.aborted).to.equal(true)
  })

  it('can be restricted by the path', async () => {
    const { get } = await start('everywhere')
    const { text } = await get('/container?namespaces=bank,shop')
    expect(JSON.parse(text)).to.deep.equal({ query: { total: 1, records: [three] } })
  })

  it('accepts only reads', async () => {
    const { get } = await start('everywhere')
    const { code, headers } = await get('/logs', { method: 'POST' })
    expect([code, headers.allow]).to.deep.equal([405, 'GET, HEAD'])
  })
})
