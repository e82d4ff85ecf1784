import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { createSlowClients } from './slow-clients.ts'

describe('createSlowClients', () => {
  const observed: boolean[] = []
  let serve: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>
  let isClosed = false
  let loopback: Loopback
  let client: Socket
  const pace = createSlowClients(() => 200, 20)

  before(async () => {
    loopback = await startLoopback((req, res) => {
      const paced = pace.follow(req, res)
      paced.seat = {
        leave: () => undefined,
        longRunning: () => undefined,
        idle: now => void observed.push(now),
      }
      res.once('close', () => {
        isClosed = true
        paced.stop()
      })
      void serve(req, res)
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    observed.length = 0
    isClosed = false
    client = connect(loopback.port, '127.0.0.1')
    client.on('error', () => undefined)
  })
  afterEach(() => client.destroy())

  const large = Buffer.alloc(32 * 1024 * 1024)
  const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  const post = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab'

  it('releases the seat of a response that is not read, and closes it after a while', async () => {
    serve = (_req, res) => void res.end(large)
    client.pause().write(get)
    await sleep(150)
    expect(observed.at(-1)).to.equal(true)
    expect(isClosed).to.equal(false)
    await sleep(300)
    expect(isClosed).to.equal(true)
  })

  it('keeps a slow response as long as the client reads', async () => {
    serve = (_req, res) => {
      const timer = setInterval(() => res.write(large.subarray(0, 1_000)), 50)
      res.once('close', () => clearInterval(timer))
    }
    client.resume().write(get)
    await sleep(500)
    expect(isClosed).to.equal(false)
    expect(observed).to.not.include(true)
  })

  it('releases the seat of a request while its body does not arrive, and takes it again afterwards', async () => {
    serve = async (req, res) => {
      await req.toArray()
      setTimeout(() => res.end('done'), 100)
    }
    client.write(post)
    await sleep(150)
    expect(observed.at(-1)).to.equal(true)
    client.write('cd')
    await sleep(70)
    expect(observed.at(-1)).to.equal(false)
    await sleep(500)
    // Before the response headers are sent, only the deadline closes the connection.
    expect(isClosed).to.equal(true)
  })

  it('keeps the seat of a slow request whose client is not slow', async () => {
    serve = (_req, res) => void setTimeout(() => res.end('done'), 400)
    client.resume().write(get)
    await sleep(300)
    expect(observed).to.not.include(true)
    expect(isClosed).to.equal(false)
  })
})
