import { expect } from 'chai'
import fc from 'fast-check'
import { type RawUpstream, startRawUpstream, writePieces } from '../../pkg/proxy/raw-upstream-fixtures.ts'
import { readHead, readHeaders } from '../../pkg/proxy/response-head.ts'
import { bounds, propertyTimeoutMs } from './fuzz-parameters.ts'

// Fragments of responses, and bytes that make them invalid.
const piece = fc.oneof(
  fc.constantFrom(
    ...['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 102 x\r\n\r\n', 'HTTP/1.1 204 \r\n', 'HTTP/1.0 200 OK\r\n'],
    ...['Content-Length: 3\r\n', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n', 'X: y\r\n'],
    ...['\r\n', '\r', '\n', ' ', ':', '3\r\nabc\r\n', 'a;x\r\n', '0\r\n', '0\r\n\r\n', 'abc'],
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
)
const response = fc.array(piece, { maxLength: 12 }).map(parts => `HTTP/1.1 200 OK\r\n${parts.join('')}`)

/**
 * Returns headers, body and trailers of a response that is sent in these pieces, or that it was
 * rejected.
 */
function read(upstream: RawUpstream, pieces: readonly Buffer[]): Promise<string> {
  upstream.respond = async (_text, socket) => {
    await writePieces(socket, pieces)
    socket.end()
  }
  const { promise, resolve } = Promise.withResolvers<string>()
  let head = ''
  let body = ''
  upstream.pool.dispatch(
    // A new connection for each request: the upstream server closes connections, possibly during
    // the next request.
    { method: 'GET', path: '/', reset: true },
    {
      onRequestStart: () => undefined,
      onResponseStart(controller, code, _headers, message) {
        if (code >= 100 && code < 200 && code !== 101) return
        head = `${code} ${readHead(code, message ?? '', controller.rawHeaders).lines.join('|')}`
      },
      onResponseData(_controller, chunk) {
        body += chunk.toString('latin1')
      },
      onResponseEnd: ({ rawTrailers }) => resolve(JSON.stringify([head, body, readHeaders(rawTrailers)])),
      onResponseError: () => resolve('refused'),
    },
  )
  return promise
}

describe('upstream responses', function () {
  this.timeout(propertyTimeoutMs)
  let upstream: RawUpstream
  before(async () => {
    upstream = await startRawUpstream({ connections: 1, maxHeadBytes: 500 })
  })
  after(() => upstream.close())

  it('are parsed in the same way, or rejected, for any chunking', async () => {
    await fc.assert(
      fc.asyncProperty(response, fc.array(fc.nat(40), { maxLength: 8 }), async (text, lengths) => {
        const bytes = Buffer.from(text, 'latin1')
        const pieces: Buffer[] = []
        let at = 0
        for (const length of lengths) {
          if (length > 0 && at < bytes.length) pieces.push(bytes.subarray(at, at + length))
          at += length
        }
        if (at < bytes.length) pieces.push(bytes.subarray(at))
        expect(await read(upstream, pieces)).to.equal(await read(upstream, [bytes]))
      }),
      bounds(300),
    )
  })
})
