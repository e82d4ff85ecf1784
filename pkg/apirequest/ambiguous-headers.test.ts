import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { refuseAmbiguousHost, refuseOverrides } from './ambiguous-headers.ts'

describe('refuseAmbiguousHost', () => {
  it('lets one host through, and headers that only look like it', () => {
    for (const rawHeaders of [
      [],
      ['Host', 'a'],
      ['host', 'a', 'Hosts', 'b', 'X-Host', 'c', 'Accept', 'host'],
    ])
      expect(() => refuseAmbiguousHost({ rawHeaders })).to.not.throw()
  })

  it('refuses a second one, the same or not', () => {
    for (const rawHeaders of [
      ['Host', 'a', 'Host', 'b'],
      ['Host', 'a', 'Accept', '*/*', 'hOsT', 'a'],
    ])
      expect(() => refuseAmbiguousHost({ rawHeaders }))
        .to.throw(Status, 'the Host header is given more than once')
        .with.property('code', 400)
  })
})

describe('refuseOverrides', () => {
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
    it(`refuses another method in ${name}`, () => {
      expect(() => refuseOverrides(given(name, 'DELETE')))
        .to.throw(Status, `the header ${name} names another method than that of the request`)
        .with.property('code', 400)
      expect(() => refuseOverrides(given(name, 'get'))).to.not.throw()
    })
  }

  for (const name of [
    'x-original-url',
    'x_original_url',
    'x-rewrite-url',
    'x_rewrite_url',
    'x-original-uri',
  ]) {
    it(`refuses another path in ${name}`, () => {
      expect(() => refuseOverrides(given(name, '/a')))
        .to.throw(Status, `the header ${name} names another path than that of the request`)
        .with.property('code', 400)
      expect(() => refuseOverrides(given(name, '/a?b'))).to.not.throw()
    })
  }

  it('lets other headers through', () => {
    for (const name of ['x-request-id', 'x-original-host', 'method', 'accept'])
      expect(() => refuseOverrides(given(name, 'DELETE'))).to.not.throw()
  })
})
