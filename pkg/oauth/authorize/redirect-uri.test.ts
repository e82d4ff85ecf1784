import { expect } from 'chai'
import { chooseRedirectUri } from './redirect-uri.ts'

const web = { public: false, redirectURIs: ['https://app.test/cb', 'https://app.test/other?x=1'] }
const native = {
  public: true,
  redirectURIs: ['http://127.0.0.1/cb', 'http://[::1]:80/cb', 'com.example.app:/cb', 'http://localhost/cb'],
}

describe('chooseRedirectUri', () => {
  const allowed: readonly (readonly [typeof web, string])[] = [
    [web, 'https://app.test/cb'],
    [web, 'https://app.test/other?x=1'],
    [native, 'http://127.0.0.1/cb'],
    [native, 'http://127.0.0.1:51004/cb'],
    [native, 'http://[::1]:51004/cb'],
    [native, 'http://[::1]/cb'],
    [native, 'http://localhost/cb'],
    [native, 'http://localhost:51004/cb'],
    [native, 'com.example.app:/cb'],
  ]
  for (const [client, uri] of allowed)
    it(`allows ${uri}`, () => expect(chooseRedirectUri(client, uri)).to.equal(uri))

  const refused: readonly (readonly [typeof web, string])[] = [
    [web, 'https://app.test/cb/'],
    [web, 'https://app.test/CB'],
    [web, 'HTTPS://app.test/cb'],
    [web, 'https://app.test:443/cb'],
    [web, 'https://app.test/cb?x'],
    [web, 'https://app.test/cb#'],
    [web, 'https://app.test/cb/../evil'],
    [web, 'https://app.test@evil.test/cb'],
    [web, 'https://evil.test/cb'],
    [web, 'https://app.test.evil.test/cb'],
    [web, '//app.test/cb'],
    [web, '*'],
    [web, 'javascript:alert(1)'],
    [native, 'http://127.0.0.1:51004/other'],
    [native, 'http://127.0.0.1:51004/cb?x=1'],
    [native, 'http://127.0.0.1:51004@evil.test/cb'],
    [native, 'http://127.0.0.1:51004\\@evil.test/cb'],
    [native, 'http://127.0.0.1:1.evil.test/cb'],
    [native, 'http://127.0.0.1:/cb'],
    [native, 'http://127.0.0.2:51004/cb'],
    [native, 'https://127.0.0.1:51004/cb'],
    // The host name localhost may resolve to another address (RFC 8252 section 8.3), so it must be
    // registered.
    [{ public: true, redirectURIs: ['http://127.0.0.1/cb'] }, 'http://localhost:51004/cb'],
    [{ public: true, redirectURIs: ['http://localhost/cb'] }, 'http://127.0.0.1:51004/cb'],
    [{ public: false, redirectURIs: ['http://localhost/cb'] }, 'http://localhost:51004/cb'],
    [native, 'http://localhost.evil.test:51004/cb'],
    [native, 'http://localhost:51004/other'],
    [native, 'http://127.0.0.1:65536/cb'],
    [native, 'com.example.app:/cb2'],
    [{ public: false, redirectURIs: ['http://127.0.0.1/cb'] }, 'http://127.0.0.1:51004/cb'],
    [{ public: false, redirectURIs: ['*'] }, 'https://evil.test/'],
  ]
  for (const [client, uri] of refused) {
    it(`rejects ${uri}`, () => {
      expect(() => chooseRedirectUri(client, uri))
        .to.throw('redirect URL is not allowed')
        .that.includes({ code: 400, reason: 'invalid_request' })
    })
  }

  it('returns the only registered URI without a parameter', () => {
    expect(chooseRedirectUri({ public: false, redirectURIs: ['https://a.test/'] }, undefined)).to.equal(
      'https://a.test/',
    )
    for (const client of [web, { public: false, redirectURIs: [] }])
      expect(() => chooseRedirectUri(client, undefined)).to.throw('the parameter redirect_uri is required')
  })
})
