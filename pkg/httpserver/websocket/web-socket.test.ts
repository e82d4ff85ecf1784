import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type Server } from 'node:http'
import type { Duplex, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { closeServer, portOf } from '../../apirequest/fixtures.ts'
import { http } from '../node-http.ts'
import { type EventStream, toEventStream } from '../response/event-stream.ts'

/**
 * A server whose watches send the lines passed to `tell`, and a client that gives access to the raw
 * bytes.
 */
describe('toEventStream: a WebSocket', () => {
  let server: Server
  let upgraded: Pick<EventStream, 'frame' | 'pieces'> & {
    socket: Duplex
    stream: Writable
    isClosed: () => boolean
  }
  beforeEach(async () => {
    server = http.createServer()
    server.on('upgrade', (req, socket: Duplex, upgrade: Buffer) => {
      socket.on('error', () => socket.destroy())
      const res = new http.ServerResponse(req)
      res.assignSocket(req.socket)
      res.setHeader('audit-id', 'id-1')
      let isClosed = false
      res.on('close', () => {
        isClosed = true
      })
      const { open, frame, pieces } = toEventStream({ req, res, upgrade }, 'application/json')
      upgraded = { socket, stream: open(), frame, pieces, isClosed: () => isClosed }
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => closeServer(server))

  async function connect() {
    const key = randomBytes(16).toString('base64')
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    const req = request({
      ...{ host: '127.0.0.1', port: portOf(server), agent: false },
      headers: { ...headers, 'sec-websocket-key': key, 'sec-websocket-protocol': 'a' },
    })
    req.end()
    const [res, socket, head] = await once(req, 'upgrade')
    const chunks: Buffer[] = [head]
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => undefined)
    return { res, socket, received: () => Buffer.concat(chunks).toString('latin1') }
  }

  it('accepts the handshake with the IDs of the response, and sends each event as a message', async () => {
    const { res, socket, received: heard } = await connect()
    expect(res.statusCode).to.equal(101)
    expect(res.headers).to.include({ 'sec-websocket-protocol': 'a', 'audit-id': 'id-1' })
    for (const event of ['one\n', 'two\n']) upgraded.stream.write(upgraded.frame(Buffer.from(event)))
    await until(() => heard() === '\x81\x04one\n\x81\x04two\n')
    socket.destroy()
    await until(upgraded.isClosed)
  })

  it('sends a large event in fragments, and answers a ping between them', async () => {
    const { socket, received: heard } = await connect()
    const payload = Buffer.alloc(1_000_000, 'x')
    const pieces = [...upgraded.pieces([Buffer.from('<'), payload, Buffer.from('>\n')])]
    expect(pieces.length).to.be.above(3)
    expect(Math.max(...pieces.map(({ length }) => length))).to.be.at.most(128 * 1024)
    const ping = Buffer.from([0x89, 0x81, 0, 0, 0, 0, 0x70])
    for (const [i, piece] of pieces.entries()) {
      upgraded.stream.write(piece)
      if (i === 1) {
        socket.write(ping)
        await until(() => heard().endsWith('\x8a\x01p'))
      }
    }
    upgraded.stream.write(upgraded.frame(Buffer.from('next\n')))
    await until(() => heard().endsWith('\x81\x05next\n'))
    expect(heard().startsWith('\x01\x01<\x00\x7f')).to.equal(true)
    expect(heard()).to.include('\x80\x02>\n')
    socket.destroy()
  })

  it('sends each line of a write as a message', async () => {
    const { socket, received: heard } = await connect()
    upgraded.stream.write(Buffer.from('one\ntwo\nth'))
    upgraded.stream.write(Buffer.from('ree\n'))
    await until(() => heard() === '\x81\x04one\n\x81\x04two\n\x01\x02th\x80\x04ree\n')
    socket.destroy()
  })

  it('closes without a close frame when it ends within a message', async () => {
    const { socket, received: heard } = await connect()
    const [first = Buffer.alloc(0)] = upgraded.pieces([Buffer.alloc(300_000, 'x')])
    upgraded.stream.write(first)
    upgraded.stream.end()
    await until(() => socket.destroyed || socket.readableEnded)
    expect(heard()).to.not.include('\x88\x02')
  })

  it('sends a close frame, and waits for that of the client', async () => {
    const { socket, received: heard } = await connect()
    upgraded.stream.end(upgraded.frame(Buffer.from('last\n')))
    await until(() => heard() === '\x81\x05last\n\x88\x02\x03\xe8')
    expect(upgraded.stream.writableEnded).to.equal(true)
    socket.end()
    await until(upgraded.isClosed)
  })

  it('does not wait for the close frame forever', async () => {
    const { socket } = await connect()
    socket.removeAllListeners('data')
    socket.pause()
    upgraded.stream.end()
    await until(upgraded.isClosed)
    socket.destroy()
  })

  for (const [what, frame, response] of [
    ['a ping', '\x89\x83\0\0\0\0hey', '\x8a\x03hey'],
    ['a message', '\x81\x83\0\0\0\0hey', ''],
    ['a close', '\x88\x82\0\0\0\0\x03\xe8', '\x88\x02\x03\xe8'],
    ['a frame that is not masked', '\x81\x03hey', '\x88\x02\x03\xea'],
    ['a message over its limit', '\x81\xff\0\0\0\0\0\x01\0\x01\0\0\0\0', '\x88\x02\x03\xf1'],
  ] as const) {
    it(`responds to ${what}`, async () => {
      const { socket, received: heard } = await connect()
      socket.write(Buffer.from(frame, 'latin1'))
      await until(() => heard() === response)
      if (what === 'a message') {
        await sleep(50)
        expect(heard()).to.equal('')
      }
      socket.end()
      await until(upgraded.isClosed)
    })
  }

  it('limits what it buffers for a client that sends pings and does not read', async () => {
    const { socket } = await connect()
    socket.pause()
    const ping = Buffer.concat([Buffer.from('\x89\xfd\0\0\0\0', 'latin1'), Buffer.alloc(125)])
    const pings = Buffer.concat(Array.from({ length: 8_000 }, () => ping))
    // 20 MB, more than the socket buffers of the kernel on both sides.
    for (let i = 0; i < 20; i++) await new Promise(resolve => socket.write(pings, resolve))
    expect(upgraded.socket.writableLength).to.be.within(1, 65 * 1024)
    expect(upgraded.stream.destroyed).to.equal(false)
    socket.destroy()
    await until(upgraded.isClosed)
  })
})

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen')
    await sleep(2)
  }
}

describe('toEventStream: messages of a WebSocket', () => {
  it('are handled in sequence, and not read in the meantime', async () => {
    const server = http.createServer()
    const received: string[] = []
    let next = Promise.withResolvers<void>()
    server.on('upgrade', (req, socket: Duplex, upgrade: Buffer) => {
      socket.on('error', () => socket.destroy())
      const res = new http.ServerResponse(req)
      res.assignSocket(req.socket)
      const receive = async (message: string) => {
        received.push(message.slice(0, 2))
        await next.promise
      }
      toEventStream({ req, res, upgrade }, 'application/json', receive).open()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const client = new WebSocket(`ws://127.0.0.1:${portOf(server)}/`)
    await once(client, 'open')
    const count = 2_000
    for (let i = 0; i < count; i++) client.send(`${i % 10} ${'x'.repeat(16_000)}`)
    await sleep(100)
    expect(received).to.deep.equal(['0 '])
    // Most of the 32 MB are still in buffers of the client or the kernel.
    expect(client.bufferedAmount).to.be.above(8_000_000)
    next.resolve()
    next = Promise.withResolvers<void>()
    next.resolve()
    await until(() => received.length === count)
    expect(received.slice(0, 12)).to.deep.equal(Array.from({ length: 12 }, (_, i) => `${i % 10} `))
    client.terminate()
    await closeServer(server)
  }).timeout(20_000)

  it('close the connection when they cannot be handled', async () => {
    const server = http.createServer()
    server.on('upgrade', (req, socket: Duplex, upgrade: Buffer) => {
      socket.on('error', () => socket.destroy())
      const res = new http.ServerResponse(req)
      res.assignSocket(req.socket)
      toEventStream({ req, res, upgrade }, 'application/json', () => Promise.reject(new Error('x'))).open()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const client = new WebSocket(`ws://127.0.0.1:${portOf(server)}/`)
    await once(client, 'open')
    client.send('a')
    const [code] = await once(client, 'close')
    expect(code).to.equal(1006)
    await closeServer(server)
  })
  it('are text: a binary one closes the connection with 1003', async () => {
    const server = http.createServer()
    const received: string[] = []
    server.on('upgrade', (req, socket: Duplex, upgrade: Buffer) => {
      socket.on('error', () => socket.destroy())
      const res = new http.ServerResponse(req)
      res.assignSocket(req.socket)
      const receive = async (message: string) => void received.push(message)
      toEventStream({ req, res, upgrade }, 'application/json', receive).open()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const client = new WebSocket(`ws://127.0.0.1:${portOf(server)}/`)
    await once(client, 'open')
    client.send('text')
    client.send(Buffer.from('binary'))
    const [code, reason] = await once(client, 'close')
    expect([code, String(reason), received]).to.deep.equal([1003, 'expected a text message', ['text']])
    await closeServer(server)
  })
})
