import { expect } from 'chai'
import fc from 'fast-check'
import { createAnswerReader } from '../../pkg/proxy/answer-reader.ts'
import { bounds, propertyTimeoutMs } from './bounds.ts'

// Pieces of which answers are made, and what breaks them.
const piece = fc.oneof(
  fc.constantFrom(
    ...['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 204 \r\n', 'HTTP/1.0 200 OK\r\n'],
    ...['Content-Length: 3\r\n', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n', 'X: y\r\n'],
    ...['\r\n', '\r', '\n', ' ', ':', '3\r\nabc\r\n', 'a;x\r\n', '0\r\n', '0\r\n\r\n', 'abc'],
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
)
const answer = fc.array(piece, { maxLength: 12 }).map(parts => `HTTP/1.1 200 OK\r\n${parts.join('')}`)

/** All that is told of an answer that comes in these pieces; the last is how it ended. */
function read(pieces: readonly Buffer[]): readonly string[] {
  const told: string[] = []
  let body = ''
  let isOver = false
  const reader = createAnswerReader(500, {
    head: ({ code, lines, framing }) => void told.push(`${code} ${framing} ${lines.join('|')}`),
    data(bytes) {
      body += bytes
    },
    end(trailers) {
      isOver = true
      told.push(...trailers)
    },
  })
  reader.expect('GET')
  try {
    for (const bytes of pieces) if (!isOver) reader.take(bytes)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    expect(code).to.be.oneOf(['UPSTREAM_PROTOCOL', 'UPSTREAM_HEAD_TOO_LARGE'])
    return [...told, 'refused']
  }
  return [...told, body, isOver ? 'whole' : 'more']
}

describe('answers of upstreams', function () {
  this.timeout(propertyTimeoutMs)

  it('are read alike, or refused, however they are cut', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(40), { maxLength: 8 }), (text, lengths) => {
        const bytes = Buffer.from(text, 'latin1')
        const pieces: Buffer[] = []
        let at = 0
        for (const length of lengths) {
          if (length > 0 && at < bytes.length) pieces.push(bytes.subarray(at, at + length))
          at += length
        }
        if (at < bytes.length) pieces.push(bytes.subarray(at))
        expect(read(pieces)).to.deep.equal(read([bytes]))
      }),
      bounds(1_000),
    )
  })
})
