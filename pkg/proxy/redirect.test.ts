import { expect } from 'chai'
import { rejectRedirect } from './redirect.ts'

const overTls = { headers: { host: 'front:9443' }, socket: { encrypted: true } }

describe('rejectRedirect (CVE-2022-3172)', () => {
  const away = [
    'https://evil.example.org/',
    '//evil.example.org/',
    '\\\\evil.example.org/',
    '/\\evil.example.org/',
    '/\t/evil.example.org/',
    'https://front:9443@evil.example.org/',
    'https://front/',
    'http://front:9443/',
    'javascript:alert(1)',
    'https://',
  ]
  for (const location of away) {
    it(`rejects ${JSON.stringify(location)}`, () => {
      for (const code of [300, 301, 302, 303, 307, 308, 399]) {
        const status = rejectRedirect('the component a', overTls)(code, ['X-A', 'b', 'LOCATION', location])
        expect(status).to.include({
          code: 502,
          message: 'the component a redirects to another host, which is not permitted',
        })
      }
    })
  }

  const here = ['/', '/kapis/a/v1', '../b', '?page=2', '', '#x', 'https://front:9443/kapis/a']
  for (const location of here) {
    it(`passes on ${JSON.stringify(location)}`, () => {
      expect(rejectRedirect('it', overTls)(302, ['Location', location])).to.equal(undefined)
    })
  }

  it('checks redirects only', () => {
    const respond = rejectRedirect('it', overTls)
    expect(respond(201, ['Location', 'https://elsewhere/'])).to.equal(undefined)
    expect(respond(304, ['ETag', 'x'])).to.equal(undefined)
  })

  it('rejects all absolute redirects if the host name of kapis-apiserver is not configured', () => {
    const respond = rejectRedirect('it', { headers: {}, socket: {} })
    expect(respond(302, ['Location', 'http://front/'])).to.include({ code: 502 })
  })
})
