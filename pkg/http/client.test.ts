import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createCa, issueCertificate } from '../certs/issue.ts'
import { HttpClient, type HttpSettings } from './client.ts'
import { describeFailure } from './describe-failure.ts'

const execute = promisify(execFile)
const caPair = createCa({ commonName: 'test', validityDays: 1 })
const serving = issueCertificate(caPair, {
  commonName: 'server',
  dnsNames: ['localhost', 'server.test', 'proxy.test'],
  usages: ['server'],
  validityDays: 1,
})
const tls = { cert: serving.certPem, key: serving.keyPem }
const ca = caPair.certPem

describe('HttpClient', function () {
  this.timeout(20_000)
  const servers: Server[] = []
  const requests: string[] = []
  let port = 0
  let plainPort = 0
  let proxy = ''
  let tlsProxyPort = 0

  async function listen(server: Server): Promise<number> {
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  function respond(req: IncomingMessage, res: ServerResponse) {
    if (req.url === '/silent') return
    if (req.url === '/slow') {
      const timer = setInterval(() => res.write('x'), 50)
      res.on('close', () => clearInterval(timer))
      return
    }
    if (req.url === '/large') return void res.end('x'.repeat(100_000))
    if (req.url === '/redirect') return void res.writeHead(302, { location: '/other' }).end()
    res.end(`${req.method} ${req.url} ${req.headers.authorization ?? ''}`)
  }
  /** A proxy that resolves every name to the server; the client itself cannot resolve them. */
  function tunnel(req: IncomingMessage, socket: Duplex) {
    requests.push(`CONNECT ${req.url} ${req.headers['proxy-authorization'] ?? ''}`)
    if (req.url?.startsWith('refused'))
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(target).pipe(socket)
    })
    for (const each of [socket, target]) each.on('error', () => each.destroy())
  }

  before(async () => {
    port = await listen(createTlsServer(tls, respond))
    plainPort = await listen(createHttpServer(respond))
    const server = createHttpServer((req, res) => {
      requests.push(`${req.method} ${req.url}`)
      res.end('by the proxy')
    })
    server.on('connect', tunnel)
    proxy = `http://127.0.0.1:${await listen(server)}`
    const tlsProxy = createTlsServer(tls)
    tlsProxy.on('connect', tunnel)
    tlsProxyPort = await listen(tlsProxy)
  })
  after(() => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })
  beforeEach(() => {
    requests.length = 0
  })

  async function get(url: string, settings: Partial<HttpSettings> = {}, signal?: AbortSignal) {
    const client = new HttpClient({ ca, env: {}, ...settings })
    try {
      return await client.send(new URL(url), signal ? { signal } : {})
    } finally {
      await client.close()
    }
  }
  const failure = (url: string, settings: Partial<HttpSettings> = {}, signal?: AbortSignal) =>
    get(url, settings, signal).then(() => undefined, describeFailure)

  it('connects to a server with the given CA', async () => {
    expect((await get(`https://localhost:${port}/a?b`)).text).to.equal('GET /a?b ')
    expect((await get(`http://127.0.0.1:${plainPort}/`, { ca: '' })).status).to.equal(200)
  })

  it('does not follow redirects', async () => {
    expect((await get(`https://localhost:${port}/redirect`)).status).to.equal(302)
  })

  it('tunnels through the HTTPS_PROXY with CONNECT, and verifies the server behind it', async () => {
    const env = { HTTPS_PROXY: proxy.replace('http://', 'http://us%40er:pa%3Ass@') }
    expect((await get('https://server.test/a', { env })).text).to.equal('GET /a ')
    const credentials = Buffer.from('us@er:pa:ss').toString('base64')
    expect(requests).to.deep.equal([`CONNECT server.test:443 Basic ${credentials}`])
    const other = await failure('https://other.test/', { env })
    expect(other?.kind).to.equal('host')
    expect((await failure('https://server.test/', { env, ca: '' }))?.kind).to.equal('certificate')
  })

  it('sends requests for plain http to the proxy itself', async () => {
    expect((await get('http://server.test/a?b', { env: { http_proxy: proxy } })).text).to.equal(
      'by the proxy',
    )
    expect(requests).to.deep.equal(['GET http://server.test/a?b'])
  })

  it('connects directly to hosts in NO_PROXY, and to loopback addresses', async () => {
    const env = { HTTPS_PROXY: proxy, NO_PROXY: '.invalid' }
    expect((await get(`https://localhost:${port}/`, { env })).status).to.equal(200)
    expect((await failure('https://server.invalid/', { env }))?.message).to.include('ENOTFOUND')
    expect(requests).to.deep.equal([])
  })

  it('reports the error of a proxy', async () => {
    const env = { HTTPS_PROXY: proxy }
    expect(await failure('https://refused.test/', { env })).to.deep.equal({
      kind: 'other',
      message: 'the proxy refused the connection with 407',
    })
    const gone = await failure('https://server.test/', { env: { HTTPS_PROXY: 'http://127.0.0.1:1' } })
    expect(gone?.message).to.include('ECONNREFUSED')
  })

  it('distinguishes an unknown CA and a wrong host name from other failures', async () => {
    expect(await failure(`https://localhost:${port}/`, { ca: '' })).to.deep.equal({
      kind: 'certificate',
      message: 'unable to verify the first certificate',
    })
    const another = createCa({ commonName: 'another', validityDays: 1 }).certPem
    expect((await failure(`https://localhost:${port}/`, { ca: another }))?.kind).to.equal('certificate')
    expect((await failure(`https://127.0.0.1:${port}/`))?.kind).to.equal('host')
    expect((await failure('https://localhost:1/'))?.kind).to.equal('other')
  })

  it('limits the time and the size of a response', async () => {
    for (const path of ['/silent', '/slow']) {
      const started = performance.now()
      const why = await failure(`https://localhost:${port}${path}`, { timeoutMs: 300 })
      expect(why).to.deep.equal({ kind: 'other', message: 'no response in time' })
      expect(performance.now() - started).to.be.below(5_000)
    }
    const large = await failure(`https://localhost:${port}/large`, { maxBytes: 1_000 })
    expect(large?.message).to.equal('the response is larger than 1000 bytes')
    const stop = new AbortController()
    const stopped = failure(`https://localhost:${port}/silent`, {}, stop.signal)
    stop.abort()
    expect(await stopped).to.not.equal(undefined)
  })

  it('trusts the CAs of the system without a custom CA, including SSL_CERT_FILE', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kapis-trust-'))
    const file = join(folder, 'ca.pem')
    writeFileSync(file, ca)
    const script = `
      import { HttpClient } from ${JSON.stringify(join(import.meta.dirname, 'client.ts'))}
      import { describeFailure } from ${JSON.stringify(join(import.meta.dirname, 'describe-failure.ts'))}
      const client = new HttpClient({ ca: '', env: process.env })
      for (const url of process.argv.slice(1))
        console.log(await client.send(new URL(url)).then(({ status }) => status, error => describeFailure(error).kind))`
    const send = async (env: Readonly<Record<string, string>>) => {
      const urls = [`https://localhost:${port}/`, 'https://server.test/']
      const options = { env: { PATH: process.env.PATH, SSL_CERT_DIR: join(folder, 'none'), ...env } }
      const args = ['--input-type=module', '-e', script, '--', ...urls]
      return (await execute(process.execPath, args, options)).stdout.trim().split('\n')
    }
    try {
      const HTTPS_PROXY = `https://localhost:${tlsProxyPort}`
      expect(await send({ HTTPS_PROXY })).to.deep.equal(['certificate', 'certificate'])
      // The certificate of the proxy itself is verified too.
      expect(await send({ HTTPS_PROXY, SSL_CERT_FILE: file })).to.deep.equal(['200', '200'])
      expect(requests).to.deep.equal(['CONNECT server.test:443 '])
      expect(await send({ HTTPS_PROXY, SSL_CERT_DIR: folder })).to.deep.equal(['200', '200'])
      expect(await send({ HTTPS_PROXY, NODE_EXTRA_CA_CERTS: file })).to.deep.equal(['200', '200'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
