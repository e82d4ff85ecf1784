import { expect } from 'chai'
import { createAnswerReader } from './answer-reader.ts'

/** What is told of an answer that comes in these pieces. */
function read(pieces: readonly string[], { method = 'GET', isClosed = false } = {}) {
  const told: string[] = []
  let body = ''
  const reader = createAnswerReader(1_000, {
    head: ({ code }) => void told.push(`head ${code}`),
    data(bytes) {
      body += bytes
    },
    end: (trailers, isClean) => void told.push(`end ${isClean ? 'clean' : 'unclean'}`, ...trailers),
  })
  reader.expect(method)
  // One buffer for all, as a connection has it: what is told must not change with it afterwards.
  const inbox = Buffer.alloc(4_096)
  for (const piece of pieces) {
    reader.take(inbox.subarray(0, inbox.write(piece, 'latin1')))
    inbox.fill('!')
  }
  if (isClosed) reader.close()
  return { told, body, reader }
}

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`

describe('createAnswerReader', () => {
  const whole: readonly (readonly [
    what: string,
    text: string,
    body: string,
    trailers?: readonly string[],
  ])[] = [
    ['with a length', `${ok}Content-Length: 5\r\n\r\nh\r\n\r\n`, 'h\r\n\r\n'],
    ['without a body', `${ok}Content-Length: 0\r\n\r\n`, ''],
    ['in chunks', `${chunked}3\r\nabc\r\n00A;x="y"\r\n0123456789\r\n0\r\n\r\n`, 'abc0123456789'],
    ['in no chunks', `${chunked}0\r\n\r\n`, ''],
    [
      'with trailers',
      `${chunked}1\r\na\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n`,
      'a',
      ['X-Sum', '1', 'X-More', '2'],
    ],
    [
      'behind others that only inform',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
      'a',
    ],
  ]
  for (const [what, text, body, trailers = []] of whole) {
    it(`reads an answer ${what}, however it is cut`, () => {
      const expected = ['head 200', 'end clean', ...trailers]
      expect(read([text])).to.deep.include({ told: expected, body })
      expect(read([...text])).to.deep.include({ told: expected, body })
      for (let at = 1; at < text.length; at++) {
        const found = read([text.slice(0, at), text.slice(at)])
        expect(found, `cut at ${at}`).to.deep.include({ told: expected, body })
      }
    })
  }

  it('reads to the end of the connection what says no other end', () => {
    const { told, body } = read([`${ok}\r\nab`, 'cd'], { isClosed: true })
    expect([told, body]).to.deep.equal([['head 200', 'end clean'], 'abcd'])
  })

  it('does not take the end of the connection for the end of an answer that says another', () => {
    for (const text of [
      'HTTP/1.1 2',
      `${ok}Content-Length: 3\r\n\r\nab`,
      `${chunked}3\r\nabc\r\n`,
      `${chunked}0\r\nX: 1\r\n`,
    ])
      expect(read([text], { isClosed: true }).told.filter(line => line.startsWith('end'))).to.deep.equal([])
  })

  it('has no body to wait for after HEAD, 204 and 304', () => {
    const told = ['head 200', 'end clean']
    expect(read([`${ok}Content-Length: 9\r\n\r\n`], { method: 'HEAD' }).told).to.deep.equal(told)
    for (const code of [204, 304])
      expect(read([`HTTP/1.1 ${code} x\r\n\r\n`]).told).to.deep.equal([`head ${code}`, 'end clean'])
  })

  it('says when there is more than the answer', () => {
    const { told, body } = read([`${ok}Content-Length: 1\r\n\r\na${ok}Content-Length: 1\r\n\r\nb`])
    expect([told, body]).to.deep.equal([['head 200', 'end unclean'], 'a'])
  })

  it('tells nothing any more once it is stopped', () => {
    const { told, reader } = read([`${ok}Content-Length: 2\r\n\r\na`])
    reader.stop()
    reader.close()
    expect(told).to.deep.equal(['head 200'])
  })

  const refused: readonly (readonly [what: string, text: string])[] = [
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2'],
    ['a change of the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['a length and chunks', `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a chunk without a size', `${chunked}\r\nabc`],
    ['a size that is no number', `${chunked}xyz\r\n`],
    ['a signed size', `${chunked}+3\r\nabc`],
    ['a size in 0x', `${chunked}0x3\r\nabc`],
    ['a blank before the size', `${chunked} 3\r\nabc`],
    ['a blank behind the size', `${chunked}3 \r\nabc`],
    ['a size beyond counting', `${chunked}${'f'.repeat(14)}\r\n`],
    ['a line feed in an extension', `${chunked}3;a\nb\r\nabc`],
    ['a chunk that is longer than its size', `${chunked}3\r\nabcd\r\n`],
    ['a chunk that ends in a bare line feed', `${chunked}3\r\nabc\n0\r\n\r\n`],
    ['a chunk that ends in a bare carriage return', `${chunked}3\r\nabc\rx`],
    ['a trailer that is no header', `${chunked}0\r\nX\r\n\r\n`],
    ['a folded trailer', `${chunked}0\r\nX: a\r\n b\r\n\r\n`],
  ]
  for (const [what, text] of refused) {
    it(`refuses ${what}, however it is cut`, () => {
      expect(() => read([text]))
        .to.throw()
        .with.property('code', 'UPSTREAM_PROTOCOL')
      expect(() => read([...text]))
        .to.throw()
        .with.property('code', 'UPSTREAM_PROTOCOL')
    })
  }

  for (const [what, pieces] of [
    ['a head', [`${ok}X: ${'x'.repeat(1_000)}\r\n\r\n`]],
    ['a head without an end', [ok, ...Array<string>(11).fill('X: '.padEnd(100, 'x'))]],
    ['the size of a chunk', [chunked, `1;${'x'.repeat(4_000)}`, 'x'.repeat(1_000)]],
    ['trailers', [`${chunked}0\r\n`, ...Array<string>(11).fill('X: '.padEnd(100, 'x'))]],
  ] as const) {
    it(`does not hold ${what} beyond its limit`, () => {
      expect(() => read(pieces))
        .to.throw()
        .with.property('code', 'UPSTREAM_HEAD_TOO_LARGE')
    })
  }

  it('refuses an answer that nobody asked for', () => {
    const { reader } = read([`${ok}Content-Length: 0\r\n\r\n`])
    expect(() => reader.take(Buffer.from(ok)))
      .to.throw()
      .with.property('code', 'UPSTREAM_PROTOCOL')
  })
})
