import { expect } from 'chai'
import { readReturnTo, toLoginPath } from './return-to.ts'

describe('readReturnTo', () => {
  for (const path of [
    '/oauth/authorize',
    '/oauth/authorize?client_id=a&redirect_uri=https%3A%2F%2Fapp.test%2Fcb?x',
    '/oauth/device?user_code=BCDF-GHJK',
    '/oauth/session',
  ])
    it(`accepts ${path}`, () => expect(readReturnTo(path)).to.equal(path))

  for (const given of [
    undefined,
    '',
    'https://evil.test/',
    '//evil.test/oauth/authorize',
    '/\\evil.test',
    '/oauth\\@evil.test',
    '/oauth/authorize\\..\\..\\evil',
    '/oauth/../evil',
    '/oauth/authorize/../../evil',
    '/oauth/%2e%2e/evil',
    '/oauth/login',
    '/oauth/token',
    '/oauth/authorizeevil',
    '/oauth/authorize#x',
    '/oauth/authorize?x\r\nSet-Cookie: a=b',
    '/oauth/authorize?\tx',
    ' /oauth/authorize',
    'javascript:alert(1)',
    'oauth/authorize',
    `/oauth/authorize?${'x'.repeat(9000)}`,
  ])
    it(`rejects ${JSON.stringify(given)?.slice(0, 60)}`, () =>
      expect(readReturnTo(given)).to.equal('/oauth/session'))

  it('is preserved by the login page', () => {
    const path = '/oauth/authorize?a=b&c=%26d'
    const link = new URL(toLoginPath(path, { login_hint: 'a&b' }), 'https://kapis.test')
    expect(readReturnTo(link.searchParams.get('return_to') ?? '')).to.equal(path)
    expect(link.searchParams.get('login_hint')).to.equal('a&b')
  })
})
