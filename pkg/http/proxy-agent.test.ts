import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Server } from 'node:net'
import { expect } from 'chai'
import { startCollector } from '../../test/peers/otlp-collector.ts'
import { portOf } from '../apirequest/fixtures.ts'
import { createCa, issueCertificate } from '../certs/issue.ts'
import { createUpstreamFetch } from '../iam/identityprovider/upstream-fetch.ts'
import { createConnect } from '../imageregistry/connect.ts'
import { createSearchClient } from '../logs/opensearch/client.ts'
import { createLogger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { createPipeline } from '../telemetry/tracing/pipeline.ts'
import { startProxy, startSocksProxy, type TestProxy } from './fixtures.ts'
import { createAgent } from './pool.ts'
import { type ProxyFor, readHttpProxy, readProxyEnvironment } from './proxy-environment.ts'

const caPair = createCa({ commonName: 'test', validityDays: 1 })
const serving = issueCertificate(caPair, {
  commonName: 'server',
  dnsNames: ['server.test'],
  ipAddresses: ['127.0.0.1'],
  usages: ['server'],
  validityDays: 1,
})
const ca = caPair.certPem
const times = { connections: 4, connectMs: 10_000, headMs: 10_000, bodyMs: 10_000, idleMs: 5_000 }

describe('outgoing connections of the servers', function () {
  this.timeout(30_000)
  let servers: Server[]
  let port: number
  let plainPort: number
  let proxy: TestProxy
  let proxyFor: ProxyFor

  beforeEach(async () => {
    const tls = { cert: serving.certPem, key: serving.keyPem }
    const handle = createTlsServer(tls, (req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([req.url]))
    })
    const plain = createServer((req, res) => res.end(req.url))
    servers = [handle, plain]
    for (const server of servers) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    }
    port = portOf(handle)
    plainPort = portOf(plain)
    proxy = await startProxy(name => (name === 'server.test' ? port : undefined))
    const env = { HTTPS_PROXY: proxy.url.href, HTTP_PROXY: proxy.url.href, NO_PROXY: 'direct.test' }
    proxyFor = readProxyEnvironment(env)
  })
  afterEach(async () => {
    await proxy.close()
    for (const server of servers) server.close()
  })

  it('use a CONNECT tunnel through the proxy for several requests, and no proxy for loopback addresses', async () => {
    const agent = createAgent({ ca }, { ...times, maxHeadBytes: 16_384 }, proxyFor)
    const get = async (origin: string) =>
      (await agent.request({ origin, path: '/a', method: 'GET' })).body.text()
    expect(await get('https://server.test')).to.equal('["/a"]')
    expect(await get('https://server.test')).to.equal('["/a"]')
    expect(await get(`https://127.0.0.1:${port}`)).to.equal('["/a"]')
    expect(new Set(proxy.requests)).to.deep.equal(new Set(['CONNECT server.test:443']))
    const refused = await get('https://unknown.test').catch((error: unknown) => error)
    expect(refused).to.be.an('error')
    expect(proxy.requests.at(-1)).to.equal('CONNECT unknown.test:443')
    const before = proxy.requests.length
    expect(await get('https://direct.test').catch((error: unknown) => error)).to.be.an('error')
    expect(proxy.requests).to.have.length(before)
    await agent.destroy()
  })

  it('verify the server behind the proxy', async () => {
    const agent = createAgent({}, { ...times, maxHeadBytes: 16_384 }, proxyFor)
    const request = agent.request({ origin: 'https://server.test', path: '/', method: 'GET' })
    expect(await request.catch(error => error.code)).to.match(/SELF_SIGNED|UNABLE_TO_VERIFY/)
    await agent.destroy()
  })

  it('to plain HTTP servers always use the proxy', async () => {
    const plain = await startProxy(() => plainPort)
    const agent = createAgent(
      {},
      { ...times, maxHeadBytes: 16_384 },
      readProxyEnvironment({ http_proxy: plain.url.href }),
    )
    const { body } = await agent.request({ origin: 'http://server.test', path: '/b?c', method: 'GET' })
    expect(await body.text()).to.equal('/b?c')
    expect(plain.requests).to.deep.equal(['GET http://server.test/b?c'])
    await agent.destroy()
    await plain.close()
  })

  it('reach identity providers through the proxy', async () => {
    const fetch = createUpstreamFetch({ ca, isVerified: true }, proxyFor)
    const response = await fetch('https://server.test/.well-known/openid-configuration', {})
    expect(await response.json()).to.deep.equal(['/.well-known/openid-configuration'])
    expect(proxy.requests).to.deep.equal(['CONNECT server.test:443'])
  })

  it('reach image registries through the proxy, except loopback and link-local addresses', async () => {
    const { connect, close } = createConnect({ ca: [ca], trustedHosts: ['[::1]:1'], proxyFor })
    const get = (url: string) => connect(new URL(url), {}, AbortSignal.timeout(10_000))
    expect((await get('https://server.test/v2/')).body.toString()).to.equal('["/v2/"]')
    expect(proxy.requests).to.deep.equal(['CONNECT server.test:443'])
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '169.254.169.254',
      '[::1]',
      '[fe80::1]',
      '[::ffff:169.254.169.254]',
      'localhost',
      'localhost.',
      'a.localhost',
    ]) {
      const error = await get(`https://${host}/v2/`).catch((thrown: unknown) => thrown)
      expect(error, host).to.include({ code: 400 })
    }
    expect(proxy.requests).to.have.length(1)
    close()
  })

  it('reach OpenSearch through the proxy', async () => {
    const engine = { url: 'https://server.test:9200', username: 'u', ca }
    const client = createSearchClient(engine, { password: 'p', apiKey: '' }, proxyFor)
    expect(await client.call({ method: 'GET', path: '/_x', timeoutMs: 10_000 })).to.deep.equal(['/_x'])
    expect(proxy.requests).to.deep.equal(['CONNECT server.test:9200'])
    await client.close()
  })

  it('reach the trace collector through the proxy', async () => {
    const collector = await startCollector()
    const near = await startProxy(() => Number(new URL(collector.url).port))
    const pipeline = createPipeline(
      {
        config: { endpoint: 'http://collector.test:4318', samplingRatePerMillion: 1_000_000, caFile: '' },
        program: 'test',
        version: '1',
        logger: createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } }),
        registry: createRegistry(),
        continues: 'everybody',
      },
      readProxyEnvironment({ HTTP_PROXY: near.url.href }),
    )
    pipeline.tracer.startSpan('a').end()
    await pipeline.stop()
    expect(collector.spans.map(({ name }) => name)).to.deep.equal(['a'])
    expect(near.requests).to.deep.equal(['POST http://collector.test:4318/v1/traces'])
    await near.close()
    await collector.stop()
  })

  it('reach servers through a SOCKS proxy, which resolves their names', async () => {
    const socks = await startSocksProxy(name => ({ 'server.test': port, 'plain.test': plainPort })[name])
    const get = async (url: string, proxyUrl: string) => {
      const env = { HTTPS_PROXY: proxyUrl, HTTP_PROXY: proxyUrl }
      const agent = createAgent({ ca }, { ...times, maxHeadBytes: 16_384 }, readProxyEnvironment(env))
      const { origin, pathname: path } = new URL(url)
      const response = await agent.request({ origin, path, method: 'GET' })
      const body = await response.body.text()
      await agent.destroy()
      return body
    }
    const { host } = socks.url
    expect(await get('https://server.test/a', `socks5://${host}`)).to.equal('["/a"]')
    expect(await get('https://server.test/a', `socks5h://us%40er:p%3aw@${host}`)).to.equal('["/a"]')
    expect(await get('http://plain.test/b', `socks5://${host}`)).to.equal('/b')
    expect(socks.requests).to.deep.equal(['server.test:443', 'us@er:p:w@server.test:443', 'plain.test:80'])
    const untrusted = createAgent({}, { ...times, maxHeadBytes: 16_384 }, () => socks.url)
    const request = untrusted.request({ origin: 'https://server.test', path: '/', method: 'GET' })
    expect(await request.catch(error => error.code)).to.match(/SELF_SIGNED|UNABLE_TO_VERIFY/)
    await untrusted.destroy()
    await socks.close()
  })

  it('fail for a SOCKS proxy if a library does not support it', () => {
    const socks = readProxyEnvironment({ HTTPS_PROXY: 'socks5://proxy.test:1080' })
    expect(() => readHttpProxy(new URL('https://server.test:9200'), socks)).to.throw(
      'SOCKS proxies are not supported for server.test:9200: set NO_PROXY',
    )
    expect(readHttpProxy(new URL('http://server.test'), socks)).to.equal(undefined)
  })
})
