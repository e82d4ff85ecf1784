import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { closeServer, type Loopback, startLoopback, toExchange } from '../../../apirequest/fixtures.ts'
import { createOAuthForward } from '../../../proxy/oauth-proxy.ts'
import { createLogger } from '../../../telemetry/logger.ts'
import { createOAuthMetricsProxy } from './oauth-metrics-proxy.ts'

describe('createOAuthMetricsProxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-listener-metrics-'))
  const socket = join(folder, 'oauth.sock')
  let listener: Server | undefined
  let proxy: Loopback | undefined
  let requests: IncomingMessage[] = []

  beforeEach(() => {
    requests = []
  })
  afterEach(async () => {
    await proxy?.close()
    if (listener) await closeServer(listener)
    listener = undefined
  })
  after(() => rmSync(folder, { recursive: true }))

  function listen(response: string): Promise<void> {
    const server = createServer((req, res) => {
      requests.push(req)
      res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(response)
    })
    listener = server
    return new Promise(resolve => server.listen(socket, resolve))
  }

  async function startFront(): Promise<Loopback> {
    const forward = createOAuthForward({
      socket,
      clientAddress: () => '192.0.2.1',
      logger: createLogger({ program: 'test', level: 'error' }),
      path: '/metrics',
      errors: 'status',
    })
    const api = createOAuthMetricsProxy(forward)
    proxy = await startLoopback(async (req, res) => {
      try {
        await api.handle(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    return proxy
  }

  it('requests the metrics of kapis-oauth without headers of the caller', async () => {
    const text = '# TYPE kapis_logins_total counter\nkapis_logins_total 3\n'
    await listen(text)
    const response = await (await startFront()).get('/metrics/oauth?path=/oauth/keys')
    expect([response.code, response.text]).to.deep.equal([200, text])
    expect(response.headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(requests.map(({ method, url }) => [method, url])).to.deep.equal([['GET', '/metrics']])
  })

  it('returns 503 if kapis-oauth is not running', async () => {
    const { code, text, headers } = await (await startFront()).get('/metrics/oauth')
    expect([code, headers['content-type'], headers['retry-after']]).to.deep.equal([
      503,
      'application/json',
      '1',
    ])
    expect(JSON.parse(text)).to.deep.equal({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'kapis-oauth is not responding',
      reason: 'ServiceUnavailable',
      details: { retryAfterSeconds: 1 },
      code: 503,
    })
  })

  for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
    it(`rejects ${method} without a request to kapis-oauth`, async () => {
      await listen('')
      const { code, headers } = await (await startFront()).get('/metrics/oauth', { method })
      expect([code, headers.allow]).to.deep.equal([405, 'GET'])
      expect(requests).to.deep.equal([])
    })
  }

  for (const path of ['/metrics', '/metrics/', '/metrics/oauth/', '/metrics/oauth/x', '/oauth/metrics'])
    it(`ignores ${path}`, () => {
      const { handles } = createOAuthMetricsProxy(() => undefined)
      expect([handles(path), handles('/metrics/oauth')]).to.deep.equal([false, true])
    })
})
