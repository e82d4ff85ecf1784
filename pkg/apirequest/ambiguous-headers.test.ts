import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { rejectAmbiguousHead, rejectOverrides } from './ambiguous-headers.ts'

describe('rejectAmbiguousHead', () => {
  const head = (rawHeaders: string[], httpVersion = '1.1') => ({ rawHeaders, httpVersion })

  it('accepts one Host header, and headers with similar names', () => {
    for (const rawHeaders of [
      [],
      ['Host', ''],
      ['Host', 'kapis.kapis-system.svc:443'],
      ['Host', '[fd00::1]:9443'],
      ['Host', 'xn--bcher-kva.example_x'],
      ['host', 'a', 'Hosts', 'b', 'X-Host', 'c d', 'Accept', 'host'],
      ['Host', 'a', 'Transfer-Encoding', 'chunked'],
      ['Host', 'a', 'transfer-encoding', 'Chunked'],
    ])
      expect(() => rejectAmbiguousHead(head(rawHeaders))).to.not.throw()
    expect(() => rejectAmbiguousHead(head([], '1.0'))).to.not.throw()
  })

  it('rejects a second Host header, equal or not', () => {
    for (const rawHeaders of [
      ['Host', 'a', 'Host', 'b'],
      ['Host', 'a', 'Accept', '*/*', 'hOsT', 'a'],
    ])
      expect(() => rejectAmbiguousHead(head(rawHeaders)))
        .to.throw(Status, 'the Host header is given more than once')
        .with.property('code', 400)
  })

  for (const host of [
    'a b',
    'a/b',
    'user@a',
    'a?b',
    'a#b',
    'a\\b',
    'a|b',
    '\u00e9',
    'a"b',
    '<a>',
    '{a}',
    'a^b',
  ])
    it(`rejects the host ${JSON.stringify(host)}`, () => {
      expect(() => rejectAmbiguousHead(head(['Host', host])))
        .to.throw(Status, 'the Host header is not a host and port')
        .with.property('code', 400)
    })

  for (const coding of ['gzip, chunked', 'chunked, chunked', 'identity', 'x', ''])
    it(`rejects the transfer coding ${JSON.stringify(coding)}`, () => {
      expect(() => rejectAmbiguousHead(head(['Host', 'a', 'Transfer-Encoding', coding])))
        .to.throw(Status, `unsupported Transfer-Encoding ${JSON.stringify(coding)}; supported: chunked`)
        .with.property('code', 501)
    })

  for (const version of ['0.9', '2.0'])
    it(`rejects HTTP/${version}`, () => {
      expect(() => rejectAmbiguousHead(head(['Host', 'a'], version)))
        .to.throw(Status, `unsupported version HTTP/${version}; supported: HTTP/1.1, HTTP/1.0`)
        .with.property('code', 505)
    })
})

describe('rejectOverrides', () => {
  const given = (name: string, value: string) => ({ method: 'GET', url: '/a?b', headers: { [name]: value } })

  for (const name of [
    'x-http-method-override',
    'x_http_method_override',
    'x-http_method-override',
    'x-http-method',
    'x_http_method',
    'x-method-override',
    'x_method_override',
    'x-original-method',
  ]) {
    it(`rejects a method override in ${name}`, () => {
      expect(() => rejectOverrides(given(name, 'DELETE')))
        .to.throw(Status, `the header ${name} names another method than that of the request`)
        .with.property('code', 400)
      expect(() => rejectOverrides(given(name, 'get'))).to.not.throw()
    })
  }

  for (const name of [
    'x-original-url',
    'x_original_url',
    'x-rewrite-url',
    'x_rewrite_url',
    'x-original-uri',
  ]) {
    it(`rejects a path override in ${name}`, () => {
      expect(() => rejectOverrides(given(name, '/a')))
        .to.throw(Status, `the header ${name} names another path than that of the request`)
        .with.property('code', 400)
      expect(() => rejectOverrides(given(name, '/a?b'))).to.not.throw()
    })
  }

  it('accepts other headers', () => {
    for (const name of ['x-request-id', 'x-original-host', 'method', 'accept'])
      expect(() => rejectOverrides(given(name, 'DELETE'))).to.not.throw()
  })
})
