import { connect } from 'node:net'
import { expect } from 'chai'
import { closeServer } from '../../apirequest/fixtures.ts'
import { createHttpListener, listen, type RequestListener } from './https-server.ts'

const head =
  'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n'

describe('100 Continue', () => {
  let stop: (() => Promise<void>) | undefined
  afterEach(() => stop?.())

  /**
   * Returns the data that is received by a client that sends its body only after 100 (Continue).
   */
  async function speak(listener: RequestListener): Promise<string> {
    const server = createHttpListener(listener, { headersSeconds: 60, headerKilobytes: 64 })
    stop = () => closeServer(server)
    const socket = connect(await listen(server, '127.0.0.1', 0), '127.0.0.1')
    socket.write(head)
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write('body')
    }
    return text
  }

  const readers: Readonly<Record<string, RequestListener>> = {
    'chunk by chunk': (req, res) => void req.toArray().then(chunks => res.end(Buffer.concat(chunks))),
    'by an event listener': (req, res) => void req.on('data', chunk => res.end(chunk)),
    'by a stream pipe': (req, res) => void req.pipe(res),
  }
  for (const [how, listener] of Object.entries(readers)) {
    it(`is sent when the body is read ${how}`, async () => {
      const text = await speak(listener)
      expect(text)
        .to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
        .and.include('body')
    })
  }

  it('is not sent for a rejected body', async () => {
    expect(await speak((_req, res) => void res.writeHead(413).end())).to.match(
      /^HTTP\/1\.1 413 Payload Too Large\r\n/,
    )
  })
})
