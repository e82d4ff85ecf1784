import { expect } from 'chai'
import { renderKube } from '../apierrors/render-kube.ts'
import { type Loopback, readResponse, startLoopback } from '../apirequest/fixtures.ts'
import { type RawUpstream, startRawUpstream, writePieces } from './raw-upstream-fixtures.ts'
import { relay } from './reverse-proxy.ts'

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const head = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`

describe('relay: upstream responses at the byte level', function () {
  this.timeout(30_000)
  let upstream: RawUpstream
  let server: Loopback

  async function start(options: Parameters<typeof startRawUpstream>[0] = {}): Promise<void> {
    upstream = await startRawUpstream(options)
    server = await startLoopback((req, res) => {
      const { pool: connections } = upstream
      const outgoing = { connections, path: req.url ?? '/', headers: [], isLive: false, upstream: 'it' }
      relay(outgoing, { req, res }).catch(error => renderKube(res, error))
    })
  }
  afterEach(async () => {
    await server.close()
    await upstream.close()
  })

  /**
   * Returns the response that a client receives if the upstream server sends these pieces; the text
   * is `undefined` for an aborted body.
   */
  async function read(pieces: readonly string[], { method = 'GET', isClosed = false } = {}) {
    upstream.respond = async (_text, socket) => {
      await writePieces(socket, pieces)
      if (isClosed) socket.end()
    }
    const res = await server.open('/', { method })
    try {
      const { code, headers, body } = await readResponse(res)
      const text = body.toString('latin1')
      return { code, body: text, trailers: res.rawTrailers, status: headers['proxy-status'], res }
    } catch {
      return { code: undefined, body: '', trailers: [], status: 'kapis; error=http_protocol_error', res }
    }
  }

  describe('passes on', () => {
    beforeEach(() => start())

    const whole: readonly (readonly [
      what: string,
      text: string,
      body: string,
      trailers?: readonly string[],
    ])[] = [
      ['with a length', `${ok}Content-Length: 5\r\n\r\nh\r\n\r\n`, 'h\r\n\r\n'],
      ['without a body', `${ok}Content-Length: 0\r\n\r\n`, ''],
      ['in chunks', `${chunked}3\r\nabc\r\n00A;x="y"\r\n0123456789\r\n0\r\n\r\n`, 'abc0123456789'],
      ['with an empty chunked body', `${chunked}0\r\n\r\n`, ''],
      [
        'with trailers',
        `${chunked}1\r\na\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n`,
        'a',
        ['X-Sum', '1', 'X-More', '2'],
      ],
      [
        'after informational responses',
        `HTTP/1.1 102 x\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
        'a',
      ],
    ]
    for (const [what, text, body, trailers = []] of whole) {
      it(`a response ${what}, whole and split at any byte`, async () => {
        const expected = { code: 200, body, trailers }
        expect(await read([text])).to.deep.include(expected)
        expect(await read([...text])).to.deep.include(expected)
        for (let at = 1; at < text.length; at += 3) {
          const found = await read([text.slice(0, at), text.slice(at)])
          expect(found, `cut at ${at}`).to.deep.include(expected)
        }
      })
    }

    it('names, values, order and duplicates of headers', async () => {
      const lines = ['X-Two: a', 'x-two:b', 'Empty:', 'X-Odd: \t \xa0J\xc3\xb6rg "x" \t', 'Content-Length: 3']
      const { res } = await read([`${head(['HTTP/1.1 418 Short And Stout', ...lines])}abc`])
      expect([res.statusCode, res.statusMessage]).to.deep.equal([418, 'Short And Stout'])
      expect(res.rawHeaders.slice(0, 10)).to.deep.equal([
        ...['X-Two', 'a', 'x-two', 'b', 'Empty', '', 'X-Odd', '\xa0J\xc3\xb6rg "x"', 'Content-Length', '3'],
      ])
    })

    it('responses without a reason phrase, and with a non-ASCII one', async () => {
      for (const line of ['HTTP/1.1 299', 'HTTP/1.1 299 ', 'HTTP/1.1 299 \xe9'])
        expect(await read([head([line, 'Content-Length: 0'])])).to.include({ code: 299 })
    })

    it('responses that end with the connection', async () => {
      expect(await read([`${ok}\r\nab`, 'cd'], { isClosed: true })).to.include({ code: 200, body: 'abcd' })
    })

    it('responses to HEAD, 204 and 304 without a body', async () => {
      expect(await read([`${ok}Content-Length: 9\r\n\r\n`], { method: 'HEAD' })).to.include({ code: 200 })
      for (const code of [204, 304])
        expect(await read([`HTTP/1.1 ${code} x\r\n\r\n`])).to.include({ code, body: '' })
    })
  })

  describe('truncates responses whose end is missing', () => {
    beforeEach(() => start())
    for (const text of [
      'HTTP/1.1 2',
      `${ok}Content-Length: 3\r\n\r\nab`,
      `${chunked}3\r\nabc\r\n`,
      `${chunked}0\r\nX: 1\r\n`,
    ]) {
      it(JSON.stringify(text), async () => {
        const { code } = await read([text], { isClosed: true })
        expect(code).to.be.oneOf([undefined, 502])
      })
    }
  })

  describe('rejects', () => {
    beforeEach(() => start())

    const invalid = 'kapis; error=http_protocol_error'
    const closed = 'kapis; error=connection_terminated'
    const refused: readonly (readonly [what: string, lines: readonly string[]])[] = [
      ['another protocol', ['SSH-2.0-OpenSSH']],
      ['a version with two digits', ['HTTP/1.10 200 OK']],
      ['a status with two digits', ['HTTP/1.1 20 OK']],
      ['a status below 100', ['HTTP/1.1 099 OK']],
      ['a switch of protocols', ['HTTP/1.1 101 Switching Protocols', 'Upgrade: x', 'Connection: Upgrade']],
      ['an incomplete switch of protocols', ['HTTP/1.1 101 Switching Protocols', 'Upgrade: x']],
      ['two blanks before the status', ['HTTP/1.1  200 OK']],
      ['a line feed in the reason phrase', ['HTTP/1.1 200 O\nK']],
      [
        'Content-Length before Transfer-Encoding',
        [ok.trim(), 'Content-Length: 3', 'Transfer-Encoding: chunked'],
      ],
      [
        'Transfer-Encoding before Content-Length',
        [ok.trim(), 'Transfer-Encoding: chunked', 'Content-Length: 3'],
      ],
      ['two different lengths', [ok.trim(), 'Content-Length: 3', 'content-length: 4']],
      ['the same length twice', [ok.trim(), 'Content-Length: 3', 'Content-Length: 3']],
      ['a list of lengths', [ok.trim(), 'Content-Length: 3, 3']],
      ['a signed length', [ok.trim(), 'Content-Length: +3']],
      ['a negative length', [ok.trim(), 'Content-Length: -3']],
      ['a length in hexadecimal', [ok.trim(), 'Content-Length: 0x3']],
      ['an empty length', [ok.trim(), 'Content-Length:']],
      ['a length that is not a safe integer', [ok.trim(), `Content-Length: ${'9'.repeat(16)}`]],
      ['transfer codings other than chunked', [ok.trim(), 'Transfer-Encoding: gzip, chunked']],
      ['an unknown transfer coding', [ok.trim(), 'Transfer-Encoding: xchunked']],
      ['two transfer codings', [ok.trim(), 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
      ['a blank before the colon', [ok.trim(), 'Content-Length : 3']],
      ['a folded header line', [ok.trim(), 'X: a', ' b']],
      ['a line without a colon', [ok.trim(), 'X']],
      ['a line without a name', [ok.trim(), ': x']],
      ['a name that is not a token', [ok.trim(), 'X(: x']],
      ['a bare line feed in a value', [ok.trim(), 'X: a\nY: b']],
      ['a bare carriage return in a value', [ok.trim(), 'X: a\rY: b']],
      ['a NUL in a value', [ok.trim(), 'X: a\0b']],
    ]
    for (const [what, lines] of refused) {
      it(what, async () => {
        for (const method of ['GET', 'HEAD']) {
          const text = `${head(lines)}abc`
          for (const pieces of [[text], [...text]]) {
            const { code, status } = await read(pieces, { method })
            // undici closes a connection that switches protocols without a request for it.
            expect([code, status]).to.deep.equal([502, what.startsWith('a switch') ? closed : invalid])
          }
        }
      })
    }

    for (const [what, text] of [
      ['a chunk without a size', `${chunked}\r\nabc`],
      ['a size that is not a number', `${chunked}xyz\r\n`],
      ['a signed size', `${chunked}+3\r\nabc`],
      ['a size in 0x', `${chunked}0x3\r\nabc`],
      ['a blank before the size', `${chunked} 3\r\nabc`],
      ['a blank after the size', `${chunked}3 \r\nabc`],
      ['a size that is not a safe integer', `${chunked}${'f'.repeat(17)}\r\n`],
      ['a line feed in an extension', `${chunked}3;a\nb\r\nabc`],
      ['a chunk that is longer than its size', `${chunked}3\r\nabcd\r\n`],
      ['a chunk that ends in a bare line feed', `${chunked}3\r\nabc\n0\r\n\r\n`],
      ['a chunk that ends in a bare carriage return', `${chunked}3\r\nabc\rx`],
      ['a trailer that is not a header', `${chunked}0\r\nX\r\n\r\n`],
      ['a folded trailer', `${chunked}0\r\nX: a\r\n b\r\n\r\n`],
    ] as const) {
      it(what, async () => {
        for (const pieces of [[text], [...text]]) {
          const { code } = await read(pieces)
          expect(code).to.be.oneOf([undefined, 502])
        }
      })
    }

    it('headers over the limit, and trailers', async () => {
      const long = Array<string>(20).fill('X: '.padEnd(1_000, 'x'))
      const { code, status } = await read([head([ok.trim(), ...long])])
      expect([code, status]).to.deep.equal([502, 'kapis; error=http_response_header_section_size'])
      expect((await read([`${chunked}0\r\n`, ...long])).code).to.be.oneOf([undefined, 502])
    })
  })

  describe('never answers another request', () => {
    const empty = `${ok}Content-Length: 0\r\n\r\n`
    const planted = 'HTTP/1.1 299 Planted\r\nContent-Length: 0\r\n\r\n'
    beforeEach(() => start({ connections: 1 }))

    it('with bytes that arrive after the response', async () => {
      upstream.respond = (_text, socket) => socket.write(`${empty}${planted}`)
      const both = await Promise.all([server.get('/'), server.get('/')])
      expect(both.map(({ code }) => code)).to.deep.equal([200, 200])
      expect(upstream.sockets.length).to.equal(2)
    })

    it('with bytes that arrive without a request', async () => {
      upstream.respond = (_text, socket) => socket.write(empty)
      await server.get('/')
      const [socket] = upstream.sockets
      const closed = new Promise(resolve => socket?.once('close', resolve))
      socket?.write(planted)
      await closed
      expect((await server.get('/')).code).to.equal(200)
      expect(upstream.sockets.length).to.equal(2)
    })

    for (const [what, first] of [
      ['that declares itself the last', `${ok}Content-Length: 0\r\nConnection: close\r\n\r\n`],
      ['whose keep-alive timeout is too short', `${ok}Content-Length: 0\r\nKeep-Alive: timeout=1\r\n\r\n`],
      ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ] as const) {
      it(`after a response ${what}`, async () => {
        upstream.respond = (_text, socket) => socket.write(first)
        for (let i = 0; i < 2; i++) await server.get('/')
        expect(upstream.sockets.length).to.equal(2)
      })
    }
  })

  describe('a request that cannot be forwarded', () => {
    it('returns 400, and blocks no connection', async () => {
      upstream = await startRawUpstream({ connections: 1 })
      upstream.respond = (_text, socket) => socket.write(`${ok}Content-Length: 0\r\n\r\n`)
      const { pool: connections } = upstream
      server = await startLoopback((req, res) => {
        const headers = req.url === '/bad' ? ['X', 'a\nY: b'] : []
        const outgoing = { connections, path: '/', headers, isLive: false, upstream: 'it' }
        relay(outgoing, { req, res }).catch(error => renderKube(res, error))
      })
      for (let i = 0; i < 3; i++) expect((await server.get('/bad')).code).to.equal(400)
      expect((await server.get('/')).code).to.equal(200)
    })
  })
})
