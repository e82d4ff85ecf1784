import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Server } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { closeServer } from '../../apirequest/fixtures.ts'
import { readPeerChain } from '../../authn/certificate-chain.ts'
import { createCa, issueCertificate } from '../../certs/issue.ts'
import { tlsSocketOf } from '../../httpserver/tls-socket.ts'
import { createHttp2Sessions, type Http2Sessions } from './http2-sessions.ts'
import { createHttpsListener, listen, type RequestListener } from './https-server.ts'

const serverName = 'kapis.kapis-system.svc'
const ca = createCa({ commonName: 'server CA', validityDays: 1 })
const serving = issueCertificate(ca, {
  commonName: 'kapis',
  dnsNames: [serverName, 'localhost'],
  usages: ['server'],
  validityDays: 1,
})
const client = issueCertificate(ca, { commonName: 'jane', usages: ['client'], validityDays: 1 })
const limits = { headersSeconds: 60, headerKilobytes: 1_024 }

type ReceivedResponse = { readonly headers: NodeJS.Dict<string | string[]>; readonly text: string }

describe('HTTP/2', () => {
  let server: Server
  let sessions: Http2Sessions
  let client2: ClientHttp2Session
  let listener: RequestListener
  let port = 0

  beforeEach(async () => {
    listener = (_req, res) => res.end('ok')
    const serve: RequestListener = (req, res) => listener(req, res)
    sessions = createHttp2Sessions(serve, limits)
    const material = { ...serving, clientCaPems: [ca.certPem] }
    server = createHttpsListener(material, serve, limits, { serverName, accept: sessions.accept })
    port = await listen(server, '127.0.0.1', 0)
    client2 = connect2()
  })
  afterEach(async () => {
    client2.destroy()
    sessions.destroy()
    await closeServer(server)
  })

  function connect2(): ClientHttp2Session {
    const session = connectHttp2(`https://${serverName}:${port}`, {
      ...{ host: '127.0.0.1', servername: serverName, ca: ca.certPem },
      ...{ cert: client.certPem, key: client.keyPem, strictFieldWhitespaceValidation: false },
      maxSessionMemory: 64,
    })
    session.on('error', () => undefined)
    return session
  }

  async function send(headers: OutgoingHttpHeaders, body?: Buffer): Promise<ReceivedResponse> {
    const stream = client2.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [response] = await once(stream, 'response')
    return { headers: response, text: Buffer.concat(await stream.toArray()).toString() }
  }

  it('is negotiated only with clients that use the DNS name of the Service', async () => {
    const agreed = async (servername: string, ALPNProtocols: string[]) => {
      const { promise, resolve } = Promise.withResolvers<TLSSocket['alpnProtocol']>()
      const socket = connect({ port, host: '127.0.0.1', servername, ca: ca.certPem, ALPNProtocols }, () =>
        resolve(socket.alpnProtocol),
      )
      socket.on('error', () => resolve(null))
      return promise.finally(() => socket.destroy())
    }
    expect(await agreed(serverName, ['h2', 'http/1.1'])).to.equal('h2')
    expect(await agreed(serverName, ['http/1.1'])).to.equal('http/1.1')
    expect(await agreed('localhost', ['h2', 'http/1.1'])).to.equal('http/1.1')
    expect(await agreed('localhost', ['h2'])).to.equal(null)
  })

  it('passes a request to the filters like one of HTTP/1.1, with the client certificate of the connection', async () => {
    listener = async (req, res) => {
      const { method, url, rawHeaders, socket } = req
      const subject = readPeerChain(req)[0]?.subject
      const body = Buffer.concat(await req.toArray()).toString()
      const received = { method, url, rawHeaders, subject, body, address: socket.remoteAddress }
      res.setHeader('set-cookie', ['a=1', 'b=2'])
      res.writeHead(201, { 'content-type': 'application/json' })
      res.end(
        JSON.stringify({
          ...received,
          protocol: tlsSocketOf(req)?.alpnProtocol,
          isTls: 'encrypted' in socket,
        }),
      )
    }
    const { headers, text } = await send(
      {
        ...{
          ':method': 'POST',
          ':path': '/a/b?c=d%20e',
          'content-type': 'text/plain',
          cookie: ['x=1', 'y=2'],
        },
        ...{ 'x-remote-group': ['b', Buffer.from('Jörg').toString('latin1'), 'a'] },
      },
      Buffer.from('hello'),
    )
    expect(headers).to.deep.include({
      ...{ ':status': 201, 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] },
    })
    expect(headers).to.not.have.any.keys('connection', 'transfer-encoding', 'keep-alive')
    const { rawHeaders, ...rest } = JSON.parse(text)
    expect(rest).to.deep.equal({
      ...{ method: 'POST', url: '/a/b?c=d%20e', subject: 'CN=jane', body: 'hello' },
      ...{ address: '127.0.0.1', protocol: 'h2', isTls: true },
    })
    const lines = []
    for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
    expect(lines).to.include.members([
      ...[`Host: ${serverName}:${port}`, 'Cookie: x=1; y=2', 'Transfer-Encoding: chunked'],
      ...[
        'x-remote-group: b',
        `x-remote-group: ${Buffer.from('Jörg').toString('latin1')}`,
        'x-remote-group: a',
      ],
    ])
  })

  for (const value of [' system:masters', 'system:masters ', '\tsystem:masters', ' ']) {
    it(`rejects a header that HTTP/1.1 would alter: ${JSON.stringify(value)}`, async () => {
      const requests: unknown[] = []
      listener = (req, res) => {
        requests.push(req.rawHeaders)
        res.end()
      }
      const { headers, text } = await send({ ':path': '/', 'x-remote-group': ['dev', value] })
      expect(headers[':status']).to.equal(400)
      expect(JSON.parse(text)).to.include({
        ...{ kind: 'Status', code: 400, reason: 'BadRequest' },
        message: 'the header x-remote-group begins or ends with a space or a tab',
      })
      expect(requests).to.deep.equal([])
    })
  }

  it('responds to CONNECT, which requests a tunnel', async () => {
    const { headers, text } = await send({ ':method': 'CONNECT', ':authority': 'a:443' })
    expect([headers[':status'], JSON.parse(text).reason]).to.deep.equal([405, 'MethodNotAllowed'])
    expect((await send({ ':path': '/' })).text).to.equal('ok')
  })

  for (const [method, code] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    it(`ends a response without a body: ${code} to ${method}`, async () => {
      listener = (_req, res) => res.writeHead(code).end()
      const { headers, text } = await send({ ':path': '/', ':method': method })
      expect([headers[':status'], text]).to.deep.equal([code, ''])
    })
  }

  it('transfers large bodies in both directions at the speed of the reader', async () => {
    listener = (req, res) => void req.pipe(res)
    const body = Buffer.alloc(20_000_000, 'a')
    expect((await send({ ':path': '/', ':method': 'POST' }, body)).text.length).to.equal(body.length)
  })

  it('counts the bytes that the client reads, which detects a client that reads nothing', async () => {
    let socket: { readonly bytesWritten: number } | undefined
    listener = (req, res) => {
      socket = req.socket
      res.end(Buffer.alloc(20_000_000, 'a'))
    }
    const stream = client2.request({ ':path': '/' })
    await once(stream, 'response')
    const settled = async () => {
      for (let before = -1; before !== socket?.bytesWritten; ) {
        before = socket?.bytesWritten ?? 0
        await new Promise(resolve => setTimeout(resolve, 300))
      }
      return socket.bytesWritten
    }
    expect(await settled()).to.be.below(5_000_000)
    stream.resume()
    await once(stream, 'end')
    expect(socket?.bytesWritten).to.be.above(20_000_000)
  })

  it('streams events of many watches concurrently, and ends them when the client disconnects', async () => {
    let open = 0
    listener = (_req, res) => {
      open++
      res.on('close', () => open--)
      res.write('event\n')
    }
    const streams = Array.from({ length: 200 }, () => client2.request({ ':path': '/' }))
    const first = await Promise.all(streams.map(stream => once(stream, 'data')))
    expect(first.map(([chunk]) => String(chunk))).to.deep.equal(streams.map(() => 'event\n'))
    expect(open).to.equal(200)
    for (const stream of streams) stream.close()
    while (open > 0) await new Promise(resolve => setTimeout(resolve, 10))
  })

  it('ends a stream when the connection to its upstream closes', async () => {
    listener = (req, res) => {
      res.write('event\n')
      setTimeout(() => req.socket.destroy(), 20)
    }
    const stream = client2.request({ ':path': '/' })
    stream.on('error', () => undefined)
    stream.resume()
    await new Promise(resolve => stream.on('close', resolve))
    expect(stream.rstCode).to.not.equal(0)
  })

  it('survives a flood of cancelled requests (CVE-2023-44487)', async () => {
    let open = 0
    let requestCount = 0
    listener = (_req, res) => {
      requestCount++
      open++
      res.on('close', () => open--)
      setTimeout(() => res.end('late'), 1_000)
    }
    const flood = connect2()
    for (let i = 0; i < 5_000 && !flood.destroyed; i++) {
      const stream = flood.request({ ':path': '/' })
      stream.on('error', () => undefined)
      stream.close(constants.NGHTTP2_CANCEL)
      if (i % 100 === 0) await new Promise(setImmediate)
    }
    listener = (_req, res) => res.end('ok')
    expect((await send({ ':path': '/' })).text).to.equal('ok')
    while (open > 0) await new Promise(resolve => setTimeout(resolve, 10))
    expect(requestCount).to.be.at.most(5_000)
    flood.destroy()
  })

  it('ends a connection after a 401, since a CA may be newer than its handshake', async () => {
    listener = (_req, res) => res.writeHead(401, { connection: 'close' }).end('no')
    const { headers, text } = await send({ ':path': '/' })
    expect([headers[':status'], text]).to.deep.equal([401, 'no'])
    if (!client2.closed) await once(client2, 'close')
  })

  it('sends GOAWAY, and completes started responses', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    listener = async (_req, res) => {
      res.write('begun ')
      await promise
      res.end('done')
    }
    const stream = client2.request({ ':path': '/' })
    await once(stream, 'response')
    const away = once(client2, 'goaway')
    sessions.close()
    const [code] = await away
    resolve()
    expect(code).to.equal(0)
    expect(Buffer.concat(await stream.toArray()).toString()).to.equal('begun done')
    await once(client2, 'close')
  })
})
