import { expect } from 'chai'
import { toHeaderBlock, toRequestHead } from './request-head.ts'

const get = { method: 'GET', path: '/a?b=%20c', headers: ['X-Two', 'a', 'X-Two', 'b'], hasBody: false }
const start = (method: string) => `${method} /a?b=%20c HTTP/1.1\r\nHost: up:1\r\nConnection: keep-alive\r\n`
const two = 'X-Two: a\r\nX-Two: b\r\n'

describe('toRequestHead', () => {
  for (const [what, request, text, length] of [
    ['a GET', {}, `${start('GET')}${two}\r\n`, 0],
    ['a DELETE without a body', { method: 'DELETE' }, `${start('DELETE')}${two}\r\n`, 0],
    ['a POST without a body', { method: 'POST' }, `${start('POST')}${two}Content-Length: 0\r\n\r\n`, 0],
    [
      'a body of a known length',
      { method: 'PUT', hasBody: true, headers: ['content-length', '12', 'X', 'y'] },
      `${start('PUT')}X: y\r\nContent-Length: 12\r\n\r\n`,
      12,
    ],
    [
      'a body of an unknown length',
      { method: 'PATCH', hasBody: true, headers: ['X', 'y'] },
      `${start('PATCH')}X: y\r\nTransfer-Encoding: chunked\r\n\r\n`,
      undefined,
    ],
    [
      'no body, as its length says',
      { method: 'POST', headers: ['Content-Length', '0'] },
      `${start('POST')}Content-Length: 0\r\n\r\n`,
      0,
    ],
  ] as const) {
    it(`writes ${what}`, () => {
      expect(toRequestHead({ ...get, ...request }, 'up:1')).to.deep.equal({ text, length })
    })
  }

  for (const [what, request] of [
    ['a method that is no token', { method: 'GET /x' }],
    ['no method', { method: '' }],
    ['a blank in the path', { path: '/a HTTP/1.1' }],
    ['a line feed in the path', { path: '/a\r\nX: y' }],
    ['a path beyond latin1', { path: '/\u{1f600}' }],
    ['no path', { path: '' }],
    [
      'a header that begins another',
      { headers: ['Impersonate-User', 'a\r\nImpersonate-Group: system:masters'] },
    ],
    ['a bare line feed in a value', { headers: ['X', 'a\nY: b'] }],
    ['a NUL in a value', { headers: ['X', '\0'] }],
    ['a value beyond latin1', { headers: ['X', '\u{1f600}'] }],
    ['a colon in a name', { headers: ['X: y\r\nZ', 'a'] }],
    ['no name', { headers: ['', 'a'] }],
    ['two lengths', { hasBody: true, headers: ['Content-Length', '1', 'content-length', '1'] }],
    ['a length that is no number', { hasBody: true, headers: ['Content-Length', '1, 1'] }],
    ['a length without a body', { headers: ['Content-Length', '1'] }],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => toRequestHead({ ...get, ...request }, 'up:1'))
        .to.throw()
        .with.property('code', 'REQUEST_INVALID')
    })
  }
})

describe('toHeaderBlock', () => {
  it('is written behind the headers of a request as it stands', () => {
    const block = toHeaderBlock(['Impersonate-User', 'a', 'Impersonate-Group', 'b', 'Impersonate-Group', 'c'])
    const text = 'Impersonate-User: a\r\nImpersonate-Group: b\r\nImpersonate-Group: c\r\n'
    expect(toRequestHead({ ...get, block }, 'up:1')).to.deep.equal({
      text: `${start('GET')}${two}${text}\r\n`,
      length: 0,
    })
    expect(toRequestHead({ ...get, method: 'POST', block }, 'up:1').text).to.equal(
      `${start('POST')}${two}${text}Content-Length: 0\r\n\r\n`,
    )
  })

  for (const [what, headers] of [
    ['a header that begins another', ['Impersonate-User', 'a\r\nImpersonate-Group: system:masters']],
    ['a colon in a name', ['X: y\r\nZ', 'a']],
    ['no name', ['', 'a']],
    ['a value beyond latin1', ['X', '\u{1f600}']],
    ['a length', ['content-Length', '0']],
    ['a coding', ['Transfer-Encoding', 'chunked']],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => toHeaderBlock(headers))
        .to.throw()
        .with.property('code', 'REQUEST_INVALID')
    })
  }
})
