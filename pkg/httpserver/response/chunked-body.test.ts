import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import { closeServer, portOf } from '../../apirequest/fixtures.ts'
import { http } from '../node-http.ts'
import { toEventStream } from './event-stream.ts'

type SendFrames = (out: NodeJS.WritableStream, frame: (event: Buffer) => Buffer, res: ServerResponse) => void

describe('toEventStream: a response body', () => {
  let server: Server
  let say: SendFrames
  beforeEach(async () => {
    server = http.createServer((req, res) => {
      res.sendDate = false
      const { open, frame } = toEventStream({ req, res }, 'application/json')
      say(open(), frame, res)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => closeServer(server))

  /** Returns all bytes that the server sends until it closes the connection. */
  async function received(request: string): Promise<string> {
    const socket = connect(portOf(server), '127.0.0.1')
    socket.write(request)
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    await once(socket, 'close')
    return text
  }

  const common = 'Content-Type: application/json\r\ncache-control: no-cache, private\r\n'
  const close = 'Connection: close\r\n'
  const toHead = (version: string) => `GET / HTTP/${version}\r\nHost: a\r\n${close}\r\n`
  const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)

  it('is chunked, with one chunk per event and a last chunk', async () => {
    say = (out, frame) => {
      out.write(frame(Buffer.from('{"a":1}\n')))
      out.write(
        Buffer.concat([frame(Buffer.from('b'.repeat(17))), frame(Buffer.alloc(0)), frame(Buffer.from('c'))]),
      )
      out.end()
    }
    const text = await received(toHead('1.1'))
    expect(text.toLowerCase()).to.equal(
      `HTTP/1.1 200 OK\r\n${common}${close}Transfer-Encoding: chunked\r\n\r\n`.toLowerCase() +
        `8\r\n{"a":1}\n\r\n11\r\n${'b'.repeat(17)}\r\n1\r\nc\r\n0\r\n\r\n`,
    )
  })

  it('may end with an event', async () => {
    say = (out, frame) => out.end(frame(Buffer.from('last')))
    expect(bodyOf(await received(toHead('1.1')))).to.equal('4\r\nlast\r\n0\r\n\r\n')
  })

  it('has no last chunk when it is truncated', async () => {
    say = (out, frame, res) => {
      out.write(frame(Buffer.from('x')))
      setTimeout(() => res.destroy(), 50)
    }
    expect(bodyOf(await received(toHead('1.1')))).to.equal('1\r\nx\r\n')
  })

  it('leaves the connection usable for the next request', async () => {
    say = (out, frame) => out.end(frame(Buffer.from('e')))
    const text = await received(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${toHead('1.1')}`)
    expect(text.match(/HTTP\/1\.1 200 OK\r\n/g)).to.have.length(2)
    expect(text.match(/\r\n\r\n1\r\ne\r\n0\r\n\r\n/g)).to.have.length(2)
  })

  it('has no chunked encoding for HTTP/1.0, and ends with the connection', async () => {
    say = (out, frame) => {
      out.write(frame(Buffer.from('one\n')))
      out.end(frame(Buffer.from('two\n')))
    }
    const text = await received(toHead('1.0'))
    expect(text).not.to.match(/transfer-encoding/i)
    expect(bodyOf(text)).to.equal('one\ntwo\n')
  })
})
