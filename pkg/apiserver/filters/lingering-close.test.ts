import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { PassThrough, pipeline } from 'node:stream'
import { expect } from 'chai'
import { startLoopback } from '../../apirequest/fixtures.ts'
import { withLingeringClose } from './lingering-close.ts'

/** Returns the data that was received before the connection was closed or reset. */
async function answerOf(socket: Socket): Promise<string> {
  let answer = ''
  socket.on('data', chunk => {
    answer += chunk
  })
  // Not `once` of node:events, which would throw after a reset.
  await new Promise(resolve => socket.once('close', resolve))
  return answer
}

describe('limitRest', () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'

  it('lets the client read the response, and ends a body that continues', async () => {
    const front = await startLoopback((req, res) => {
      withLingeringClose(req, res, 200)
      res.writeHead(401).end('who are you?')
    })
    const socket = connect(front.port, '127.0.0.1')
    const drip = setInterval(() => socket.writable && socket.write('x'), 20)
    socket.on('error', () => undefined)
    socket.write(head)
    const answer = await answerOf(socket)
    clearInterval(drip)
    expect(answer).to.include('401').and.include('who are you?')
    await front.close()
  })

  it('closes a connection whose body continues after the handler has responded and stopped reading', async () => {
    const front = await startLoopback((req, res) => {
      withLingeringClose(req, res, 200)
      const upstream = new PassThrough()
      pipeline(req, upstream, () => res.writeHead(408).end('too slow'))
      setTimeout(() => upstream.destroy(), 50)
    })
    const socket = connect(front.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`${head}grant_type=pass`)
    const answer = await answerOf(socket)
    expect(answer).to.include('408').and.include('too slow')
    await front.close()
  })

  it('keeps the connection if the body ends in time', async () => {
    const front = await startLoopback((req, res) => {
      withLingeringClose(req, res, 200)
      res.writeHead(401).end()
    })
    const socket = connect(front.port, '127.0.0.1')
    socket.write(head)
    await once(socket, 'data')
    socket.write('x'.repeat(1000))
    await new Promise(resolve => setTimeout(resolve, 400))
    socket.write(head)
    const [second] = await once(socket, 'data')
    expect(String(second)).to.include('401')
    socket.destroy()
    await front.close()
  })

  it('leaves no listener on a connection whose bodies end in time', async () => {
    const seen = new Set<Socket>()
    const listeners: number[] = []
    const front = await startLoopback((req, res) => {
      seen.add(req.socket)
      listeners.push(req.socket.listenerCount('close'))
      withLingeringClose(req, res, 60_000)
      res.writeHead(401).end()
    })
    const socket = connect(front.port, '127.0.0.1')
    for (let i = 0; i < 5; i++) {
      socket.write(head)
      await once(socket, 'data')
      socket.write('x'.repeat(1000))
    }
    expect([seen.size, listeners.length, new Set(listeners).size]).to.deep.equal([1, 5, 1])
    socket.destroy()
    await front.close()
  })
})
