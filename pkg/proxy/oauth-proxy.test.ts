import { expect } from 'chai'
import { isOAuthPath } from './oauth-proxy.ts'

describe('isOAuthPath', () => {
  const usual = 'https://kapis.test/oauth'
  const host = 'https://kapis.test'
  const rows: readonly [string, string, boolean][] = [
    ['/oauth', usual, true],
    ['/oauth/token', usual, true],
    ['/oauth/.well-known/openid-configuration', usual, true],
    ['/oauthx', usual, false],
    ['/.well-known/openid-configuration/oauth', usual, true],
    ['/.well-known/oauth-authorization-server', usual, true],
    ['/.well-known/oauth-authorization-server/oauth', usual, true],
    ['/.well-known/openid-configuration', usual, false],
    ['/.well-known/openid-configuration', host, true],
    ['/.well-known/openid-configuration', `${host}/`, true],
    ['/.well-known/openid-configuration/', host, false],
    ['/.well-known/other', host, false],
    ['/openid/v1/jwks', host, false],
  ]
  for (const [path, issuer, expected] of rows) {
    it(`${expected ? 'accepts' : 'rejects'} ${path} with the issuer ${issuer}`, () => {
      expect(isOAuthPath(path, issuer)).to.equal(expected)
    })
  }
})
