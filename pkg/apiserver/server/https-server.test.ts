import { once } from 'node:events'
import { get as httpGet, type RequestOptions } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { closeServer, type HttpResponse, readResponse } from '../../apirequest/fixtures.ts'
import { createCa, issueCertificate, type KeyPair } from '../../certs/issue.ts'
import { until } from '../../kubeclient/fixtures.ts'
import {
  createHttpListener,
  createHttpsListener,
  listen,
  type RequestListener,
  type TlsMaterial,
  toUpgradeListener,
  updateTls,
} from './https-server.ts'

const ca = createCa({ commonName: 'server CA', validityDays: 1 })
const clients = createCa({ commonName: 'client CA', validityDays: 1 })
const strangers = createCa({ commonName: 'client CA', validityDays: 1 })
const serve = (commonName: string) =>
  issueCertificate(ca, { commonName, dnsNames: ['localhost'], usages: ['server'], validityDays: 1 })
const client = (of: KeyPair) =>
  issueCertificate(of, { commonName: 'jane', usages: ['client'], validityDays: 1 })
const material = (pair: KeyPair): TlsMaterial => ({ ...pair, clientCaPems: [clients.certPem] })

const limits = { headersSeconds: 60, headerKilobytes: 1_024 }
const impatient = { ...limits, headersSeconds: 1 }

describe('createHttpsListener', () => {
  let stop: (() => Promise<void>) | undefined
  afterEach(() => stop?.())

  async function start(listener: RequestListener = (_req, res) => res.end('ok'), within = limits) {
    const server = createHttpsListener(material(serve('first')), listener, within)
    stop = () => closeServer(server)
    const port = await listen(server, '127.0.0.1', 0)
    return { server, port, tls: { port, host: '127.0.0.1', servername: 'localhost', ca: ca.certPem } }
  }

  async function get(options: RequestOptions): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    httpGet({ agent: false, ...options }, res => resolve(readResponse(res))).on('error', reject)
    return promise
  }

  async function handshake(options: ConnectionOptions): Promise<TLSSocket> {
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
    const socket = connect(options, () => resolve(socket)).on('error', reject)
    return promise
  }

  const authorized: RequestListener = (req, res) => {
    const { socket } = req
    res.end(String('authorized' in socket && socket.authorized))
  }

  it('requests a client certificate but does not require one', async () => {
    const { tls } = await start(authorized)
    expect((await get(tls)).text).to.equal('false')
    const known = client(clients)
    expect((await get({ ...tls, cert: known.certPem, key: known.keyPem })).text).to.equal('true')
  })

  it('accepts a client with an unknown certificate, and marks it as unverified', async () => {
    const { tls } = await start(authorized)
    const stranger = client(strangers)
    expect((await get({ ...tls, cert: stranger.certPem, key: stranger.keyPem })).text).to.equal('false')
  })

  it('serves a complete request although invalid bytes follow it, and closes the connection', async () => {
    const requests: string[] = []
    const { tls } = await start((req, res) => {
      requests.push(`${req.method}`)
      setTimeout(() => res.writeHead(201).end('made'), 200)
    })
    const socket = await handshake(tls)
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}no request at all\r\n\r\n')
    const text = Buffer.concat(await socket.toArray()).toString()
    expect(requests).to.deep.equal(['POST'])
    expect(text).to.match(/^HTTP\/1\.1 201 Created\r\n[\s\S]*\r\nConnection: close\r\n[\s\S]*made/)
    expect(text).to.not.include('400')
  })

  const broken: readonly (readonly [string, RegExp])[] = [
    ['FROB /livez HTTP/1.1', /^HTTP\/1\.1 501 Not Implemented\r\n[\s\S]*"message":"unknown method"/],
    ['FR(B /livez HTTP/1.1', /^HTTP\/1\.1 400 Bad Request\r\n/],
    ['bytes that are not a request', /^HTTP\/1\.1 400 Bad Request\r\n/],
    ['CONNECT a:443 HTTP/1.1', /^HTTP\/1\.1 405 Method Not Allowed\r\n[\s\S]*"reason":"MethodNotAllowed"/],
    ['CONNECT /version HTTP/1.1', /^HTTP\/1\.1 405 Method Not Allowed\r\n/],
  ]
  for (const [line, expected] of broken) {
    it(`responds to ${line}`, async () => {
      const { tls } = await start()
      const socket = await handshake(tls)
      socket.write(`${line}\r\nHost: a\r\n\r\n`)
      expect(Buffer.concat(await socket.toArray()).toString()).to.match(expected)
    })
  }

  it('closes a connection with incomplete request headers', async () => {
    const { tls } = await start(undefined, impatient)
    const socket = await handshake(tls)
    socket.on('error', () => undefined)
    const drip = setInterval(() => socket.writable && socket.write('x'), 50)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-A: ')
    const text = Buffer.concat(await socket.toArray()).toString()
    clearInterval(drip)
    expect(text).to.match(/^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*timed out waiting for the request/)
  })

  it('returns 431 to headers that are too large, even while the client sends more', async () => {
    const { tls } = await start()
    const socket = await handshake(tls)
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(8 * 1024 * 1024)}\r\n\r\n`)
    const text = Buffer.concat(await socket.toArray()).toString()
    expect(text).to.match(
      /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[\s\S]*the request headers are too large/,
    )
  })

  it('closes a connection whose handshake does not end, even if the client keeps it open', async () => {
    const { server, port } = await start(undefined, impatient)
    const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    socket.resume()
    await once(socket, 'end')
    const { promise, resolve } = Promise.withResolvers<number>()
    setTimeout(() => server.getConnections((_error, count) => resolve(count)), 50)
    expect(await promise).to.equal(0)
    socket.destroy()
  })

  it('accepts a large body while the previous response is still being sent', async () => {
    const { tls } = await start((req, res) => {
      if (req.method === 'GET') res.end(Buffer.alloc(4 * 1024 * 1024))
      let length = 0
      req.on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      req.on('end', () => res.writableEnded || res.end(`got ${length}`))
    })
    const socket = await handshake(tls)
    const body = 'x'.repeat(1024 * 1024)
    const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n`
    for (let i = 0; i < 3; i++) socket.write(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${post}\r\n${body}`)
    socket.write(`${post}Connection: close\r\n\r\n${body}`)
    const text = Buffer.concat(await socket.toArray()).toString('latin1')
    expect(text.match(/HTTP\/1\.1 \d+|got \d+/g)).to.deep.equal([
      ...Array.from({ length: 3 }, () => ['HTTP/1.1 200', 'HTTP/1.1 200', `got ${body.length}`]).flat(),
      'HTTP/1.1 200',
      `got ${body.length}`,
    ])
  })

  it('reads further requests after one that arrived while the previous response was being sent', async () => {
    const { tls } = await start((req, res) => res.end(req.url === '/large' ? Buffer.alloc(8_000_000) : 'ok'))
    const socket = await handshake(tls)
    const send = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    const answered = (count: number) => until(() => text.split('HTTP/1.1 200 OK').length > count)
    for (let round = 1; round <= 3; round++) {
      socket.pause()
      send('/large')
      await new Promise(resolve => setTimeout(resolve, 100))
      send('/small')
      await new Promise(resolve => setTimeout(resolve, 100))
      socket.resume()
      await answered(3 * round - 1)
      send('/next')
      await answered(3 * round)
    }
    socket.destroy()
  })

  it('supports HTTP/1.1, and no version before TLS 1.2', async () => {
    const { tls } = await start()
    const socket = await handshake({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] })
    expect(socket.alpnProtocol).to.equal('http/1.1')
    expect(socket.getProtocol()).to.equal('TLSv1.3')
    socket.destroy()
    const old = await handshake({ ...tls, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }).then(
      () => 'connected',
      () => 'refused',
    )
    expect(old).to.equal('refused')
  })

  it('accepts a caller with hundreds of groups', async () => {
    const { port, tls } = await start((req, res) =>
      res.end(String(req.headersDistinct['x-remote-group']?.length)),
    )
    const socket = await handshake(tls)
    const groups = Array.from({ length: 3000 }, (_, i) => `X-Remote-Group: group-${i}-${'x'.repeat(100)}\r\n`)
    socket.end(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${groups.join('')}\r\n`)
    const response = Buffer.concat(await socket.toArray()).toString()
    expect(response).to.match(/^HTTP\/1\.1 200 OK\r\n/)
    expect(response).to.match(/\r\n3000(\r\n|$)/)
  })

  it('uses a new certificate for new connections, and keeps open ones', async () => {
    const { server, tls } = await start()
    const before = await handshake(tls)
    updateTls(server, material(serve('second')))
    const after = await handshake(tls)
    expect([before, after].map(socket => socket.getPeerCertificate().subject.CN)).to.deep.equal([
      'first',
      'second',
    ])
    before.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(Buffer.concat(await before.toArray()).toString()).to.match(/^HTTP\/1\.1 200 /)
    after.destroy()
  })

  it('stops trusting a client CA that was removed', async () => {
    const { server, tls } = await start(authorized)
    const known = client(clients)
    updateTls(server, { ...serve('second'), clientCaPems: [strangers.certPem] })
    expect((await get({ ...tls, cert: known.certPem, key: known.keyPem })).text).to.equal('false')
  })
})

describe('an upgrade to an unsupported protocol', () => {
  const bodiless = 'GET / HTTP/1.1\r\n'
  const heads: readonly (readonly [what: string, request: string, protocol: string, said: string])[] = [
    ['succeeds without a body', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n', 'foo', 'taken up: '],
    ['is ignored with a body with a length', 'POST / HTTP/1.1\r\nContent-Length: 2\r\n', 'foo', 'asked: {}'],
    [
      'is ignored with a chunked body',
      'DELETE / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n',
      'foo',
      'asked: {}',
    ],
    ...['websocket', 'SPDY/3.1', 'hello', 'tlsx'].map(
      protocol => [`of ${protocol} is taken up`, bodiless, protocol, 'taken up: '] as const,
    ),
    // With these protocols, further requests would follow on the connection without authorization.
    ...['h2c', 'H2C', 'h2', 'h2c-14', 'HTTP/2.0', 'http', 'https/1.1', 'TLS/1.2', 'h3', 'websocket, h2c'].map(
      protocol => [`of ${protocol} is ignored`, bodiless, protocol, 'asked: '] as const,
    ),
  ]
  for (const [what, head, protocol, said] of heads) {
    it(what, async () => {
      const server = createHttpListener(async (req, res) => {
        res.end(`asked: ${Buffer.concat(await req.toArray())}`)
      }, limits)
      server.on('upgrade', (_req, socket, early) => socket.end(`taken up: ${early}`))
      try {
        const socket = connectTcp(await listen(server, '127.0.0.1', 0), '127.0.0.1')
        socket.write(`${head}Host: a\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`)
        if (said.endsWith('{}')) socket.write(head.includes('chunked') ? '2\r\n{}\r\n0\r\n\r\n' : '{}')
        expect(Buffer.concat(await socket.toArray()).toString()).to.include(said)
      } finally {
        await closeServer(server)
      }
    })
  }
})

describe('a pipelined upgrade after a request in flight', () => {
  const earlier: readonly (readonly [what: string, head: string])[] = [
    ['a request', 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['several requests', 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3)],
    ['a request that Node.js itself rejects', 'GET / HTTP/1.1\r\n\r\n'],
    ['an expectation that Node.js itself rejects', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
  ]
  for (const [what, head] of earlier) {
    it(`closes the connection after ${what}, and the server keeps running`, async () => {
      const upgrades: unknown[] = []
      const server = createHttpListener((_req, res) => setTimeout(() => res.end('answered'), 100), limits)
      server.on(
        'upgrade',
        toUpgradeListener((req, res) => {
          upgrades.push(req.url)
          res.writeHead(200).end('upgraded')
        }),
      )
      try {
        const port = await listen(server, '127.0.0.1', 0)
        const upgrade = (path: string) =>
          `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n`
        const behind = connectTcp(port, '127.0.0.1')
        behind.write(`${head}${upgrade('/behind')}`)
        await once(behind.on('error', () => undefined).resume(), 'close')

        const after = connectTcp(port, '127.0.0.1')
        after.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
        await once(after, 'data')
        after.write(upgrade('/after'))
        expect(Buffer.concat(await after.toArray()).toString()).to.include('upgraded')
        expect(upgrades).to.deep.equal(['/after'])
      } finally {
        await closeServer(server)
      }
    })
  }
})

describe('listen', () => {
  it('reports the port that the system assigned, and fails for a port in use', async () => {
    const [a, b] = [createHttpListener(() => undefined, limits), createHttpListener(() => undefined, limits)]
    const port = await listen(a, '127.0.0.1', 0)
    expect(port).to.be.above(0)
    const failure = await listen(b, '127.0.0.1', port).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    )
    expect(failure).to.equal('EADDRINUSE')
    await closeServer(a)
  })
})

describe('createHttpListener', () => {
  it('keeps idle connections longer than its clients do', () => {
    const server = createHttpListener(() => undefined, limits)
    expect(server.keepAliveTimeout).to.be.above(90_000)
    expect(server.requestTimeout).to.equal(0)
    expect(server.maxHeadersCount).to.equal(0)
  })
})
