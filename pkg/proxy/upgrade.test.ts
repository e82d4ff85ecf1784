import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type ServerResponse as Response,
  request,
  type Server,
  ServerResponse,
} from 'node:http'
import { createServer as listen, connect as openSocket, type Socket } from 'node:net'
import { Duplex, PassThrough, Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { renderKube } from '../apierrors/render-kube.ts'
import { unavailable } from '../apierrors/status.ts'
import { closeServer, portOf } from '../apirequest/fixtures.ts'
import { toUpgradeListener } from '../apiserver/server/https-server.ts'
import { createPool, type Dispatcher } from '../http/pool.ts'
import { createReadAhead } from '../recording/read-ahead.ts'
import { createErrorByBody } from './kube-apiserver-proxy.ts'
import { forwardUpgrade, joinConnections, type OpenTaps } from './upgrade.ts'

describe('forwardUpgrade', function () {
  this.timeout(20_000)
  let respond: (req: IncomingMessage, res: Response) => unknown
  let accept: (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown
  let pool: Dispatcher
  let settled: Promise<unknown>
  let isClosed = false
  let openTaps: OpenTaps | undefined
  const sockets = new Set<Duplex>()
  const server = createServer((req, res) => void respond(req, res))
  server.on('upgrade', (req, socket, head) => {
    sockets.add(socket.on('error', () => undefined))
    accept(req, socket, head)
  })
  const proxy: Server = createServer()
  const forward = toUpgradeListener((req, res, upgrade) => {
    isClosed = false
    res.once('close', () => {
      isClosed = true
    })
    const target = {
      ...{ connections: pool, path: '/exec', headers: ['X-Sent', '1'], upstream: 'it' },
      errorByBody: createErrorByBody({
        endpoint: { credentialRejected: () => undefined },
        account: 'the Kapis service account',
      }),
      openTaps,
    }
    settled = forwardUpgrade(target, { req, res, upgrade }).catch(error => renderKube(res, error))
  })
  proxy.on('upgrade', forward)

  before(async () => {
    for (const each of [server, proxy]) await once(each.listen(0, '127.0.0.1'), 'listening')
    const times = { connectMs: 5_000, headMs: 5_000, bodyMs: 0, idleMs: 30_000, maxHeadBytes: 16_384 }
    pool = createPool(new URL(`http://127.0.0.1:${portOf(server)}`), {}, { ...times, connections: 2 })
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await pool.destroy()
    await closeServer(proxy)
    await closeServer(server)
  })
  beforeEach(() => {
    respond = (_req, res) => res.end()
    accept = (_req, socket) => socket.destroy()
  })

  async function open(method = 'GET') {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    const port = portOf(proxy)
    const asked = request({ host: '127.0.0.1', port, path: '/', method, headers, agent: false }).end()
    const { promise, resolve, reject } = Promise.withResolvers<{ res: IncomingMessage; socket?: Duplex }>()
    asked.once('error', reject)
    asked.once('response', res => resolve({ res }))
    asked.once('upgrade', (res, socket, head) => {
      socket.unshift(head)
      socket.on('error', () => undefined)
      resolve({ res, socket })
    })
    return promise
  }

  async function get() {
    const { res } = await open()
    const text = Buffer.concat(await res.toArray()).toString('utf8')
    return { code: res.statusCode, headers: res.headers, text }
  }
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'

  it('forwards the handshake and connects both sockets', async () => {
    const received: unknown[] = []
    accept = (req, socket) => {
      received.push(req.method, req.url, req.headers.upgrade, req.headers['x-sent'])
      socket.write(`${switching}Sec-WebSocket-Accept: x\r\n\r\nearly `)
      socket.on('data', chunk => socket.end(chunk))
    }
    const { res, socket } = await open('POST')
    expect([res.statusCode, res.headers['sec-websocket-accept']]).to.deep.equal([101, 'x'])
    socket?.write('sent')
    expect(String(Buffer.concat((await socket?.toArray()) ?? []))).to.equal('early sent')
    expect(received).to.deep.equal(['POST', '/exec', 'websocket', '1'])
    await settled
    expect(isClosed).to.equal(true)
  })

  it('delivers all bytes before the end to a slow client that still sends', async () => {
    const sent = Buffer.alloc(8 * 1024 * 1024, 'x')
    accept = (_req, socket) => {
      socket.resume()
      socket.write(`${switching}\r\n`)
      socket.end(sent)
    }
    const { socket } = await open()
    socket?.pause()
    for (let i = 0; i < 20; i++) {
      socket?.write('more')
      await sleep(20)
    }
    const read = Buffer.concat((await socket?.toArray()) ?? [])
    expect(read.length).to.equal(sent.length)
    await settled
  })

  it('ends when the client disconnects, and aborts when the upstream connection does', async () => {
    const { promise, resolve } = Promise.withResolvers<Duplex>()
    accept = (_req, socket) => {
      socket.write(`${switching}\r\n`)
      socket.resume().once('end', () => socket.end())
      resolve(socket)
    }
    const first = await open()
    const closed = once(await promise, 'close')
    first.socket?.destroy()
    await closed
    await settled
    accept = (_req, socket) => {
      socket.write(`${switching}\r\nhalf`, () => (socket as Socket).resetAndDestroy())
    }
    const second = await open()
    await once(second.socket?.resume() ?? second.res, 'close')
    await settled
  })

  describe('with inspected streams', () => {
    const upper = () =>
      new Transform({ transform: (chunk, _encoding, done) => done(null, String(chunk).toUpperCase()) })
    const failing = () => new Transform({ transform: (_chunk, _encoding, done) => done(new Error('full')) })
    const echo = (_req: IncomingMessage, socket: Duplex) => {
      socket.write(`${switching}\r\n`)
      socket.once('data', chunk => socket.end(`got ${chunk}`))
    }
    let closed = 0
    const tap = (fromServer: () => Transform) => {
      closed = 0
      openTaps = async () => ({
        ...{
          fromClient: upper(),
          fromServer: fromServer(),
          ahead: new PassThrough(),
          greeting: Buffer.from('hello '),
        },
        closed: () => closed++,
      })
    }
    afterEach(() => {
      openTaps = undefined
    })

    it('passes both directions, after a notice', async () => {
      accept = echo
      tap(upper)
      const { socket } = await open()
      socket?.write('sent')
      expect(String(Buffer.concat((await socket?.toArray()) ?? []))).to.equal('hello GOT SENT')
      await settled
      expect(closed).to.equal(1)
    })

    it('delivers all bytes to a slow client that still sends, and ends with it', async () => {
      const sent = Buffer.alloc(4 * 1024 * 1024, 'x')
      accept = (_req, socket) => {
        socket.resume()
        socket.write(`${switching}\r\n`)
        socket.end(sent)
      }
      tap(() => new PassThrough())
      const { socket } = await open()
      socket?.pause()
      const part = Buffer.alloc(64 * 1024, 'y')
      for (let i = 0; i < 20; i++) {
        socket?.write(part)
        await sleep(20)
      }
      const began = performance.now()
      const read = Buffer.concat((await socket?.toArray()) ?? [])
      expect(read.length).to.equal('hello '.length + sent.length)
      socket?.end()
      await settled
      expect(performance.now() - began).to.be.below(10_000)
    })

    it('closes both connections when one fails', async () => {
      accept = echo
      tap(failing)
      const { socket } = await open()
      socket?.write('sent')
      const read = await socket?.toArray().catch(() => [])
      expect(String(Buffer.concat(read ?? [])).startsWith('hello GOT')).to.equal(false)
      await settled
      expect(closed).to.equal(1)
    })

    it('fails when the streams cannot be opened', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      accept = (_req, socket) => {
        socket.write(`${switching}\r\n`)
        socket.resume().once('end', resolve)
      }
      openTaps = () => Promise.reject(unavailable('no store'))
      expect((await get()).code).to.equal(503)
      await promise
    })
  })

  it('supports more upgrades than pooled connections', async () => {
    accept = (_req, socket) => socket.write(`${switching}\r\n`)
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => open()))
    expect(all.map(({ res }) => res.statusCode)).to.deep.equal([101, 101, 101, 101, 101])
    for (const { socket } of all) socket?.destroy()
  })

  it('does not treat a response in another protocol as a handshake', async () => {
    accept = (_req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n')
    expect((await get()).code).to.equal(502)
  })

  describe('with a 403 response to an upgrade', () => {
    const refuse = (respond: (res: Response) => void) => {
      accept = (req, socket) => {
        const res = new ServerResponse(req)
        res.assignSocket(req.socket)
        res.once('finish', () => socket.end())
        respond(res)
      }
    }

    it('returns 503 if Kapis itself was rejected, without the name of its account', async () => {
      const message =
        'users is forbidden: User \\"system:serviceaccount:kapis-system:kapis\\" cannot impersonate resource'
      refuse(res => res.writeHead(403).end(`{"kind":"Status","message":"${message}","code":403}`))
      const { code, headers, text } = await get()
      expect([code, headers['retry-after']]).to.deep.equal([503, '1'])
      expect(JSON.parse(text).message).to.equal(
        'the Kapis service account is not allowed to impersonate the caller',
      )
      expect(text).to.not.include('kapis-system')
    })

    for (const [what, body] of [
      [
        'for the caller',
        '{"message":"pods is forbidden: User \\"jane\\" cannot create resource \\"pods/exec\\""}',
      ],
      ['without a body', ''],
      ['that is longer than any Status', 'x'.repeat(300_000)],
    ] as const) {
      it(`passes on unchanged a 403 ${what}`, async () => {
        refuse(res => res.writeHead(403, { 'x-own': 'kept' }).end(body))
        const { code, headers, text } = await get()
        expect([code, headers['x-own'], text === body]).to.deep.equal([403, 'kept', true])
      })
    }

    it('returns 502 to a truncated 403', async () => {
      refuse(res => {
        res.writeHead(403, { 'content-length': 1_000 })
        res.write('{"kind":', () => res.destroy())
      })
      expect((await get()).code).to.equal(502)
    })
  })
})

describe('joinConnections', () => {
  /** A connection on which each write takes 20 ms. */
  function connect() {
    const written: string[] = []
    const stream = new Duplex({
      read: () => undefined,
      write(chunk, _encoding, done) {
        setTimeout(() => {
          written.push(String(chunk))
          done()
        }, 20)
      },
    })
    return { stream, written }
  }

  it('writes what it received before a connection closed', async () => {
    const [client, server] = [connect(), connect()]
    const joined = joinConnections(client.stream, server.stream)
    for (const frame of ['output', 'exit code', 'close']) server.stream.push(frame)
    server.stream.push(null)
    await once(server.stream.end(), 'close')
    client.stream.push('late')
    await once(client.stream, 'finish')
    expect(client.written).to.deep.equal(['output', 'exit code', 'close'])
    client.stream.push(null)
    await joined
  })

  for (const [what, taps] of [
    ['directly', () => undefined],
    [
      'through inspected streams',
      () => ({
        fromClient: new PassThrough(),
        fromServer: new PassThrough(),
        ahead: createReadAhead(1_000).createStream(),
      }),
    ],
  ] as const)
    it(`delivers the output of a server that ends while the client still sends, ${what}`, async () => {
      const listener = listen(socket => socket.resume().end('output'))
      await once(listener.listen(0, '127.0.0.1'), 'listening')
      const server = openSocket(portOf(listener), '127.0.0.1')
      const client = connect()
      // After the end of the server, and before its socket in Kapis has ended too.
      server.once('end', () => process.nextTick(() => process.nextTick(() => client.stream.push('late'))))
      const joined = joinConnections(client.stream, server, taps())
      await once(client.stream, 'finish')
      expect(client.written).to.deep.equal(['output'])
      expect(client.stream.errored).to.equal(null)
      client.stream.push(null)
      await joined
      await once(listener.close(), 'close')
    })

  it('aborts one connection when the other fails', async () => {
    const [client, server] = [connect(), connect()]
    const joined = joinConnections(client.stream, server.stream)
    server.stream.push('half')
    server.stream.destroy(new Error('reset'))
    await joined
    expect(client.stream.destroyed).to.equal(true)
  })
})
