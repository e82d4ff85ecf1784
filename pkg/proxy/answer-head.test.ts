import { expect } from 'chai'
import { parseAnswerHead } from './answer-head.ts'

const parse = (lines: readonly string[], method = 'GET') => parseAnswerHead(lines.join('\r\n'), method)
const ok = 'HTTP/1.1 200 OK'

describe('parseAnswerHead', () => {
  it('keeps names, values, order and repeats as they came', () => {
    const head = parse([
      ok,
      'X-Two: a',
      'x-two:b',
      'Empty:',
      'X-Odd: \t \xa0J\xc3\xb6rg "x" \t',
      'Content-Length: 3',
    ])
    expect(head).to.deep.equal({
      code: 200,
      message: 'OK',
      lines: [
        ...['X-Two', 'a', 'x-two', 'b', 'Empty', '', 'X-Odd', '\xa0J\xc3\xb6rg "x"'],
        ...['Content-Length', '3'],
      ],
      framing: 3,
      idleMs: Number.POSITIVE_INFINITY,
    })
  })

  for (const [line, code, message] of [
    ['HTTP/1.1 418 Short And Stout', 418, 'Short And Stout'],
    ['HTTP/1.1 204 ', 204, ''],
    ['HTTP/1.1 204', 204, ''],
    ['HTTP/1.0 999 \xe9', 999, '\xe9'],
  ] as const) {
    it(`reads ${JSON.stringify(line)}`, () => {
      expect(parse([line])).to.deep.include({ code, message })
    })
  }

  const framings: readonly (readonly [
    what: string,
    lines: readonly string[],
    framing: unknown,
    method?: string,
  ])[] = [
    ['a length', [ok, 'content-length: 12'], 12],
    ['no bytes', [ok, 'Content-Length: 0'], 0],
    ['chunks', [ok, 'Transfer-Encoding: Chunked'], 'chunked'],
    ['neither', [ok], 'until close'],
    ['HEAD', [ok, 'Content-Length: 12'], 'none', 'HEAD'],
    ['HEAD in chunks', [ok, 'Transfer-Encoding: chunked'], 'none', 'HEAD'],
    ['204', ['HTTP/1.1 204 No Content'], 'none'],
    ['304', ['HTTP/1.1 304 Not Modified', 'Content-Length: 12'], 'none'],
    ['103', ['HTTP/1.1 103 Early Hints'], 'none'],
  ]
  for (const [what, lines, framing, method] of framings) {
    it(`knows the end of an answer: ${what}`, () => {
      expect(parse(lines, method).framing).to.equal(framing)
    })
  }

  for (const [what, lines, idleMs] of [
    ['nothing said', [], Number.POSITIVE_INFINITY],
    ['Connection: close', ['Connection: close'], 0],
    ['close among others', ['connection: x, Close'], 0],
    ['a word that only begins so', ['Connection: closed'], Number.POSITIVE_INFINITY],
    ['a time', ['Keep-Alive: timeout=5, max=100'], 3_000],
    ['a time that is as good as over', ['Keep-Alive: timeout=1'], 0],
  ] as const) {
    it(`says how long the connection may stand idle: ${what}`, () => {
      expect(parse([ok, 'Content-Length: 0', ...lines]).idleMs).to.equal(idleMs)
    })
  }

  it('does not use a connection again that the end of an answer needs, or that is of HTTP/1.0', () => {
    expect(parse([ok]).idleMs).to.equal(0)
    expect(parse(['HTTP/1.0 200 OK', 'Content-Length: 1']).idleMs).to.equal(0)
  })

  const refused: readonly (readonly [what: string, lines: readonly string[]])[] = [
    ['another protocol', ['SSH-2.0-OpenSSH']],
    ['another version', ['HTTP/2.0 200 OK']],
    ['a version of two digits', ['HTTP/1.10 200 OK']],
    ['a code of two digits', ['HTTP/1.1 20 OK']],
    ['a code below 100', ['HTTP/1.1 099 OK']],
    ['two blanks before the code', ['HTTP/1.1  200 OK']],
    ['a line feed in the reason', ['HTTP/1.1 200 O\nK']],
    ['an empty head', ['']],
    ['a length and chunks', [ok, 'Content-Length: 3', 'Transfer-Encoding: chunked']],
    ['chunks and a length', [ok, 'Transfer-Encoding: chunked', 'Content-Length: 3']],
    ['two lengths', [ok, 'Content-Length: 3', 'content-length: 4']],
    ['one length twice', [ok, 'Content-Length: 3', 'Content-Length: 3']],
    ['a list of lengths', [ok, 'Content-Length: 3, 3']],
    ['a signed length', [ok, 'Content-Length: +3']],
    ['a length below nothing', [ok, 'Content-Length: -3']],
    ['a length in hexadecimal', [ok, 'Content-Length: 0x3']],
    ['a length of nothing', [ok, 'Content-Length:']],
    ['a length beyond counting', [ok, `Content-Length: ${'9'.repeat(16)}`]],
    ['codings that are not only chunked', [ok, 'Transfer-Encoding: gzip, chunked']],
    ['an unknown coding', [ok, 'Transfer-Encoding: xchunked']],
    ['two codings', [ok, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['chunks in HTTP/1.0', ['HTTP/1.0 200 OK', 'Transfer-Encoding: chunked']],
    ['a blank before the colon', [ok, 'Content-Length : 3']],
    ['a folded line', [ok, 'X: a', ' b']],
    ['a line without a colon', [ok, 'X']],
    ['a line without a name', [ok, ': x']],
    ['a name that is no token', [ok, 'X(: x']],
    ['a bare line feed in a value', [ok, 'X: a\nY: b']],
    ['a bare carriage return in a value', [ok, 'X: a\rY: b']],
    ['a NUL in a value', [ok, 'X: a\0b']],
    ['an empty line', [ok, '', 'X: a']],
  ]
  for (const [what, lines] of refused) {
    it(`refuses ${what}`, () => {
      expect(() => parse(lines))
        .to.throw()
        .with.property('code', 'UPSTREAM_PROTOCOL')
      expect(() => parse(lines, 'HEAD'))
        .to.throw()
        .with.property('code', 'UPSTREAM_PROTOCOL')
    })
  }
})
