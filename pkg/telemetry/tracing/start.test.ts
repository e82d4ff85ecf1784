import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { type CollectedSpan, type Collector, startCollector } from '../../../test/peers/otlp-collector.ts'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { anonymous, type Identity } from '../../apirequest/identity/identity.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { parseRequestInfo } from '../../apirequest/request-info.ts'
import { type FakeKubeApiserver, startFakeKubeApiserver } from '../../kubeclient/fixtures.ts'
import { createLogger } from '../logger.ts'
import { createRegistry } from '../metrics.ts'
import { startTracing } from './start.ts'
import type { Tracing } from './tracing.ts'

const theirs = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = (flags: string) => `00-${theirs.traceId}-${theirs.spanId}-${flags}`
const inGroup = (group: string): Identity => ({ ...anonymous, username: 'jane', groups: [group] })

describe('tracing', function () {
  this.timeout(20_000)
  let collector: Collector
  let kubeApiserver: FakeKubeApiserver
  /** The traceparent header of each call that reached kube-apiserver. */
  const received: (string | undefined)[] = []
  const open: (() => Promise<void>)[] = []

  before(async () => {
    kubeApiserver = await startFakeKubeApiserver((req, res) => {
      received.push(String(req.headers.traceparent))
      res.writeHead(req.url?.startsWith('/api/v1/missing') ? 404 : 201).end('{}')
    })
  })
  after(() => kubeApiserver.close())
  beforeEach(async () => {
    collector = await startCollector()
    received.length = 0
  })
  afterEach(async () => {
    for (const close of open.splice(0)) await close()
    await collector.stop()
  })

  type Scene = {
    readonly rate?: number
    readonly caller?: Identity
    readonly continues?: 'privileged' | 'everybody'
    readonly response?: (tracing: Tracing, req: IncomingMessage, res: ServerResponse) => Promise<void>
  }

  /**
   * Starts a server that authenticates each request at kube-apiserver, then requests the resource.
   */
  async function start({ rate = 1_000_000, caller = anonymous, continues = 'privileged', response }: Scene) {
    const registry = createRegistry()
    const lines: string[] = []
    const tracing = await startTracing({
      config: { endpoint: collector.url, samplingRatePerMillion: rate, caFile: '' },
      program: 'kapis-test',
      version: '1.2.3',
      logger: createLogger({
        program: 'test',
        level: 'info',
        destination: { write: line => void lines.push(line) },
      }),
      registry,
      continues,
    })
    const client = tracing.client(kubeApiserver.client, {
      name: 'kube-apiserver',
      url: kubeApiserver.endpoint.url,
    })
    const authenticate = tracing.authenticate(async () => {
      await client.call({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: {} })
      return { identity: caller }
    })
    const kapis: Loopback = await startLoopback(
      tracing.listener(async (req: IncomingMessage, res: ServerResponse) => {
        res.setHeader('audit-id', 'a-1')
        if (continues === 'privileged') await authenticate(req)
        if (response) return response(tracing, req, res)
        await client.call({ path: `${req.url}` }).catch(() => res.writeHead(404))
        res.end('done')
      }),
    )
    open.push(() => kapis.close())
    return { kapis, tracing, registry, lines }
  }

  /** Returns the server spans, then the client spans by start time. */
  async function spansOf(tracing: Tracing): Promise<readonly CollectedSpan[]> {
    await tracing.stop()
    const isServer = ({ kind }: CollectedSpan) => Number(kind === 'server')
    return collector.spans.toSorted((a, b) => isServer(b) - isServer(a) || a.startMs - b.startMs)
  }

  it('does nothing if disabled', async () => {
    const off = await startTracing({
      config: { endpoint: '', samplingRatePerMillion: 1_000_000, caFile: '' },
      program: 'kapis-test',
      version: '',
      logger: createLogger({ program: 'test', level: 'error' }),
      registry: createRegistry(),
      continues: 'privileged',
    })
    const listener = () => undefined
    const find = () => ({ identity: anonymous })
    const peer = { name: 'a', socket: '/a' }
    expect(off.listener(listener)).to.equal(listener)
    expect(off.upstream(peer, listener)).to.equal(listener)
    expect(off.authenticate(find)).to.equal(find)
    expect(off.client(kubeApiserver.client, peer)).to.equal(kubeApiserver.client)
    await off.stop()
  })

  it('creates a span for the request and one for each upstream call, also before authentication', async () => {
    const { kapis, tracing } = await start({})
    await kapis.get('/api/v1/namespaces/shop/pods/web-0?token=s3cret', {
      headers: { authorization: 'Bearer s3cret', cookie: 's3cret', 'user-agent': 'curl/8' },
    })
    const [server, review, read, ...rest] = await spansOf(tracing)
    expect(rest).to.deep.equal([])
    const route = '/api/v1/namespaces/{namespace}/pods/{name}'
    expect(server).to.deep.include({ name: `GET ${route}`, kind: 'server', parentId: '', isError: false })
    expect(server?.attributes).to.deep.equal({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': route,
      'url.path': '/api/v1/namespaces/shop/pods/web-0',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'user_agent.original': 'curl/8',
      'audit-id': 'a-1',
    })
    const at = { 'server.address': '127.0.0.1', 'server.port': Number(kubeApiserver.endpoint.url.port) }
    const peer = { 'peer.service': 'kube-apiserver', ...at, 'http.response.status_code': 201 }
    const child = { kind: 'client', parentId: server?.spanId, traceId: server?.traceId, isError: false }
    expect(review).to.deep.include({ ...child, name: 'POST /apis/authentication.k8s.io/v1/tokenreviews' })
    expect(review?.attributes).to.deep.equal({ 'http.request.method': 'POST', ...peer })
    expect(read).to.deep.include({ ...child, name: `GET ${route}` })
    expect(read?.attributes).to.deep.equal({ 'http.request.method': 'GET', ...peer })
    expect(received).to.deep.equal(['undefined', `00-${read?.traceId}-${read?.spanId}-01`])
    expect(collector.bytes().includes('s3cret')).to.equal(false)
  })

  for (const group of ['system:masters', 'system:monitoring']) {
    it(`continues the trace of ${group}, with any sampling rate`, async () => {
      const { kapis, tracing } = await start({ rate: 0, caller: inGroup(group) })
      await kapis.get('/api/v1/nodes', { headers: { traceparent: traceparent('01') } })
      const [server] = await spansOf(tracing)
      expect(server).to.deep.include({ traceId: theirs.traceId, parentId: theirs.spanId, links: [] })
    })
  }

  it('does not sample if a privileged caller does not', async () => {
    const { kapis, tracing } = await start({ caller: inGroup('system:masters') })
    await kapis.get('/api/v1/nodes', { headers: { traceparent: traceparent('00') } })
    expect(await spansOf(tracing)).to.deep.equal([])
    expect(received[1]).to.match(new RegExp(`^00-${theirs.traceId}-[0-9a-f]{16}-00$`))
  })

  it('does not let other callers force sampling, or add to a trace', async () => {
    const { kapis, tracing } = await start({ rate: 0, caller: inGroup('system:authenticated') })
    await kapis.get('/api/v1/nodes', { headers: { traceparent: traceparent('01') } })
    expect(await spansOf(tracing)).to.deep.equal([])
    expect(received[1]).to.match(/-00$/).and.not.include(theirs.traceId)
  })

  it('links to the trace of other callers', async () => {
    const { kapis, tracing } = await start({ caller: inGroup('system:authenticated') })
    await kapis.get('/api/v1/nodes', { headers: { traceparent: traceparent('01') } })
    const [server] = await spansOf(tracing)
    expect(server).to.deep.include({ parentId: '', links: [theirs.traceId] })
    expect(server?.traceId).to.not.equal(theirs.traceId)
  })

  it('continues every trace in processes behind kapis-apiserver', async () => {
    const { kapis, tracing } = await start({ rate: 0, continues: 'everybody' })
    await kapis.get('/oauth/token', { headers: { traceparent: traceparent('01') } })
    expect((await spansOf(tracing))[0]).to.deep.include({ name: 'GET /oauth/token', parentId: theirs.spanId })
  })

  it('records no path that a caller has invented, and marks failures', async () => {
    const { kapis, tracing } = await start({})
    await kapis.get('/api/v1/missing-7')
    const spans = await spansOf(tracing)
    expect(
      spans.map(({ name, isError, attributes }) => [name, isError, attributes['error.type']]),
    ).to.deep.equal([
      ['GET', false, undefined],
      ['POST /apis/authentication.k8s.io/v1/tokenreviews', false, undefined],
      ['GET', true, '404'],
    ])
  })

  it('sends the trace context to upstream servers, in the forwarded headers', async () => {
    const observed: string[] = []
    const { kapis, tracing } = await start({
      async response(given, req, res) {
        const info = parseRequestInfo('GET', '/api/v1/nodes')
        const exchange: Exchange = {
          req,
          res,
          id: 'a-2',
          info,
          rawPath: '',
          rawQuery: '',
          query: new QueryParameters(''),
        }
        const peer = { name: 'kapis-oauth', socket: '/run/kapis/oauth.sock' }
        const forward = given.upstream(peer, ({ req: { rawHeaders, headers } }: Exchange) => {
          observed.push(
            ...rawHeaders.filter((_, i) => rawHeaders[i - 1] === 'traceparent'),
            `${headers.traceparent}`,
          )
          res.end()
        })
        await forward(exchange)
      },
    })
    await kapis.get('/api/v1/nodes', { headers: { traceparent: traceparent('01') } })
    const spans = await spansOf(tracing)
    // Taken from the exchange, not from the response: Node.js does not keep headers that are
    // written as a flat list.
    expect(spans[0]?.attributes).to.include({ 'audit-id': 'a-2' })
    const sent = spans.find(({ attributes }) => attributes['peer.service'] === 'kapis-oauth')
    expect(sent).to.include({ kind: 'client', name: 'GET /api/v1/nodes' })
    const header = `00-${sent?.traceId}-${sent?.spanId}-01`
    expect(observed).to.deep.equal([header, header])
  })

  it('omits calls after the end of the response', async () => {
    let later: Promise<unknown> | undefined
    const { kapis, tracing } = await start({
      async response(given, _req, res) {
        const client = given.client(kubeApiserver.client, { name: 'late', url: kubeApiserver.endpoint.url })
        later = new Promise(resolve => res.once('close', () => setImmediate(resolve))).then(() =>
          client.call({ path: '/api/v1/nodes' }),
        )
        res.end()
      },
    })
    await kapis.get('/api/v1/nodes')
    await later
    expect((await spansOf(tracing)).map(({ attributes }) => attributes['peer.service'])).to.not.include(
      'late',
    )
  })

  it('omits probes', async () => {
    const { kapis, tracing } = await start({})
    for (const path of ['/readyz', '/livez?verbose', '/healthz/users', '/metrics']) await kapis.get(path)
    expect(await spansOf(tracing)).to.deep.equal([])
  })

  it('does not affect responses when the collector fails, counts lost spans, and logs it once', async () => {
    collector.respond(400)
    const { kapis, tracing, registry, lines } = await start({})
    for (let i = 0; i < 3; i++) expect((await kapis.get('/api/v1/nodes')).code).to.equal(200)
    await tracing.stop()
    expect(await registry.metrics()).to.match(/kapis_tracing_spans_total\{result="failed"\} 9\n/)
    expect(lines.filter(line => line.includes('failed to export spans'))).to.have.length(1)
  })
})
