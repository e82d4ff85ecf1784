import { expect } from 'chai'
import { checkHeaders, checkRequest } from './validate-request.ts'

const get = { method: 'GET', path: '/a?b=%20c', headers: ['X-Two', 'a', 'X-Two', 'b'], hasBody: false }

describe('checkRequest', () => {
  for (const [what, request] of [
    ['a GET', {}],
    ['bytes above ASCII', { path: '/\xe9', headers: ['X', 'J\xf6rg'] }],
    [
      'a body of a known length',
      { method: 'PUT', hasBody: true, headers: ['content-length', '12', 'X', 'y'] },
    ],
    ['a body of an unknown length', { method: 'PATCH', hasBody: true }],
    ['no body, as its length says', { method: 'POST', headers: ['Content-Length', '0'] }],
  ] as const) {
    it(`accepts ${what}`, () => {
      expect(() => checkRequest({ ...get, ...request })).to.not.throw()
    })
  }

  for (const [what, request] of [
    ['a method that is not a token', { method: 'GET /x' }],
    ['no method', { method: '' }],
    ['a blank in the path', { path: '/a HTTP/1.1' }],
    ['a line feed in the path', { path: '/a\r\nX: y' }],
    ['a path beyond latin1', { path: '/\u{1f600}' }],
    ['no path', { path: '' }],
    ['a path that is none', { path: 'http://elsewhere/' }],
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
    ['a length that is not a number', { hasBody: true, headers: ['Content-Length', '1, 1'] }],
    ['a length without a body', { headers: ['Content-Length', '1'] }],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => checkRequest({ ...get, ...request }))
        .to.throw()
        .with.property('code', 'REQUEST_INVALID')
    })
  }
})

describe('checkHeaders', () => {
  it('accepts repeats and empty values', () => {
    expect(() => checkHeaders(['Impersonate-Group', 'b', 'Impersonate-Group', ''])).to.not.throw()
  })
})
