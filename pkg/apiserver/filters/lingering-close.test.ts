import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { PassThrough, pipeline } from 'node:stream'
import { expect } from 'chai'
import { startLoopback } from '../../apirequest/fixtures.ts'
import { readText } from '../../httpserver/request/body.ts'
import { withLingeringClose } from './lingering-close.ts'

/** Returns the data that was received before the connection was closed or reset. */
async function responseOf(socket: Socket): Promise<string> {
  let response = ''
  socket.on('data', chunk => {
    response += chunk
  })
  // Not `once` of node:events, which would throw after a reset.
  await new Promise(resolve => socket.once('close', resolve))
  return response
}

describe('withLingeringClose', () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'

  it('lets the client read the response, and ends a body that continues', async () => {
    const server = await startLoopback((req, res) => {
      withLingeringClose(req, res, 200)
      res.writeHead(401).end('who are you?')
    })
    const socket = connect(server.port, '127.0.0.1')
    const drip = setInterval(() => socket.writable && socket.write('x'), 20)
    socket.on('error', () => undefined)
    socket.write(head)
    const response = await responseOf(socket)
    clearInterval(drip)
    expect(response).to.include('401').and.include('who are you?')
    await server.close()
  })

  it('closes a connection whose body continues after the handler has responded and stopped reading', async () => {
    const server = await startLoopback((req, res) => {
      withLingeringClose(req, res, 200)
      const upstream = new PassThrough()
      pipeline(req, upstream, () => res.writeHead(408).end('too slow'))
      setTimeout(() => upstream.destroy(), 50)
    })
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`${head}grant_type=pass`)
    const response = await responseOf(socket)
    expect(response).to.include('408').and.include('too slow')
    await server.close()
  })

  it('keeps the connection if the body ends in time', async () => {
    const server = await startLoopback((req, res) => {
      withLingeringClose(req, res, 200)
      res.writeHead(401).end()
    })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(head)
    await once(socket, 'data')
    socket.write('x'.repeat(1000))
    await new Promise(resolve => setTimeout(resolve, 400))
    socket.write(head)
    const [second] = await once(socket, 'data')
    expect(String(second)).to.include('401')
    socket.destroy()
    await server.close()
  })

  const stoppedReading: readonly [what: string, read: (req: IncomingMessage) => Promise<unknown>][] = [
    ['reading a body up to a limit', req => readText(req, 100)],
    [
      'a pipe that its reader has closed',
      async req => {
        const upstream = req.pipe(new PassThrough())
        await once(upstream, 'data')
        upstream.destroy()
      },
    ],
  ]
  for (const [what, read] of stoppedReading)
    it(`keeps a connection whose body ends after ${what}`, async () => {
      const size = 4 * 1024 * 1024
      const server = await startLoopback(async (req, res) => {
        withLingeringClose(req, res, 5_000)
        if (req.method === 'POST') await read(req).catch(() => undefined)
        res.writeHead(req.method === 'POST' ? 413 : 204).end()
      })
      const socket = connect(server.port, '127.0.0.1')
      let responses = ''
      socket.on('data', chunk => {
        responses += chunk
      })
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
      socket.write('x'.repeat(size))
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      for (let i = 0; i < 200 && !responses.includes('204'); i++)
        await new Promise(done => setTimeout(done, 10))
      expect(responses).to.include('413').and.include('204')
      socket.destroy()
      await server.close()
    })

  it('leaves no listener on a connection whose bodies end in time', async () => {
    const seen = new Set<Socket>()
    const listeners: number[] = []
    const server = await startLoopback((req, res) => {
      seen.add(req.socket)
      listeners.push(req.socket.listenerCount('close'))
      withLingeringClose(req, res, 60_000)
      res.writeHead(401).end()
    })
    const socket = connect(server.port, '127.0.0.1')
    for (let i = 0; i < 5; i++) {
      socket.write(head)
      await once(socket, 'data')
      socket.write('x'.repeat(1000))
    }
    expect([seen.size, listeners.length, new Set(listeners).size]).to.deep.equal([1, 5, 1])
    socket.destroy()
    await server.close()
  })
})
