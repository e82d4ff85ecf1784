import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { createSlowClients } from './slow-clients.ts'

describe('createPace', () => {
  const seen: boolean[] = []
  let serve: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>
  let isClosed = false
  let loopback: Loopback
  let client: Socket
  const pace = createSlowClients(() => 200, 20)

  before(async () => {
    loopback = await startLoopback((req, res) => {
      const paced = pace.follow(req, res)
      paced.seat = { leave: () => undefined, longRunning: () => undefined, idle: now => void seen.push(now) }
      res.once('close', () => {
        isClosed = true
        paced.stop()
      })
      void serve(req, res)
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    seen.length = 0
    isClosed = false
    client = connect(loopback.port, '127.0.0.1')
    client.on('error', () => undefined)
  })
  afterEach(() => client.destroy())

  const large = Buffer.alloc(32 * 1024 * 1024)
  const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  const post = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab'

  it('gives the place of an answer that is not read to others, and closes it after a while', async () => {
    serve = (_req, res) => void res.end(large)
    client.pause().write(get)
    await sleep(150)
    expect(seen.at(-1)).to.equal(true)
    expect(isClosed).to.equal(false)
    await sleep(300)
    expect(isClosed).to.equal(true)
  })

  it('leaves one alone that is read slowly, as long as it is read', async () => {
    serve = (_req, res) => {
      const timer = setInterval(() => res.write(large.subarray(0, 1_000)), 50)
      res.once('close', () => clearInterval(timer))
    }
    client.resume().write(get)
    await sleep(500)
    expect(isClosed).to.equal(false)
    expect(seen).to.not.include(true)
  })

  it('gives the place of a body that does not come to others, and takes it back when it does', async () => {
    serve = async (req, res) => {
      await req.toArray()
      setTimeout(() => res.end('done'), 100)
    }
    client.write(post)
    await sleep(150)
    expect(seen.at(-1)).to.equal(true)
    client.write('cd')
    await sleep(70)
    expect(seen.at(-1)).to.equal(false)
    await sleep(500)
    // Before the response headers are sent, only the deadline closes the connection.
    expect(isClosed).to.equal(true)
  })

  it('a request that takes long by itself keeps its place', async () => {
    serve = (_req, res) => void setTimeout(() => res.end('done'), 400)
    client.resume().write(get)
    await sleep(300)
    expect(seen).to.not.include(true)
    expect(isClosed).to.equal(false)
  })
})
