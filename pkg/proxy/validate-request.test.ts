import { expect } from 'chai'
import { checkHeaders, checkRequest } from './validate-request.ts'

const get = { method: 'GET', path: '/a?b=%20c', headers: ['X-Two', 'a', 'X-Two', 'b'], hasBody: false }

describe('checkRequest', () => {
  for (const [what, request] of [
    ['a GET', {}],
    ['non-ASCII bytes', { path: '/\xe9', headers: ['X', 'J\xf6rg'] }],
    ['a body with a length', { method: 'PUT', hasBody: true, headers: ['content-length', '12', 'X', 'y'] }],
    ['a body without a length', { method: 'PATCH', hasBody: true }],
    ['a length of 0 without a body', { method: 'POST', headers: ['Content-Length', '0'] }],
  ] as const) {
    it(`accepts ${what}`, () => {
      expect(() => checkRequest({ ...get, ...request })).to.not.throw()
    })
  }

  for (const [what, request] of [
    ['a method that is not a token', { method: 'GET /x' }],
    ['an empty method', { method: '' }],
    ['a blank in the path', { path: '/a HTTP/1.1' }],
    ['a line feed in the path', { path: '/a\r\nX: y' }],
    ['a path with characters beyond Latin-1', { path: '/\u{1f600}' }],
    ['an empty path', { path: '' }],
    ['a path without a leading slash', { path: 'http://elsewhere/' }],
    [
      'a header value that contains another header',
      { headers: ['Impersonate-User', 'a\r\nImpersonate-Group: system:masters'] },
    ],
    ['a bare line feed in a value', { headers: ['X', 'a\nY: b'] }],
    ['a NUL in a value', { headers: ['X', '\0'] }],
    ['a header value with characters beyond Latin-1', { headers: ['X', '\u{1f600}'] }],
    ['a colon in a name', { headers: ['X: y\r\nZ', 'a'] }],
    ['an empty header name', { headers: ['', 'a'] }],
    ['two lengths', { hasBody: true, headers: ['Content-Length', '1', 'content-length', '1'] }],
    ['a length that is not a number', { hasBody: true, headers: ['Content-Length', '1, 1'] }],
    ['a length without a body', { headers: ['Content-Length', '1'] }],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(() => checkRequest({ ...get, ...request }))
        .to.throw()
        .with.property('code', 'REQUEST_INVALID')
    })
  }
})

describe('checkHeaders', () => {
  it('accepts duplicates and empty values', () => {
    expect(() => checkHeaders(['Impersonate-Group', 'b', 'Impersonate-Group', ''])).to.not.throw()
  })
})
