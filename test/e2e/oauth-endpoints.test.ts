import { expect } from 'chai'
import { type HttpResponse, sendToKapis } from './cluster.ts'
import { credentials, form, parseResponse, token } from './oauth.ts'

/** The allowed methods of each endpoint of /oauth, and the response to other methods. */
describe('endpoints of /oauth', function () {
  this.timeout(60_000)
  const invalidRequest = (error_description: string) => ({ error: 'invalid_request', error_description })

  const methods: readonly [string, string, readonly string[]][] = [
    ['/oauth/token', 'POST', ['GET', 'PUT', 'DELETE']],
    ['/oauth/revoke', 'POST', ['GET', 'PUT']],
    ['/oauth/introspect', 'POST', ['GET', 'PUT']],
    ['/oauth/device_authorization', 'POST', ['GET', 'PUT']],
    ['/oauth/authenticate', 'POST', ['GET', 'PUT']],
    ['/oauth/consent', 'POST', ['GET', 'PUT']],
    ['/oauth/authorize', 'GET, HEAD, POST', ['PUT', 'DELETE']],
    ['/oauth/userinfo', 'GET, HEAD, POST', ['PUT', 'DELETE']],
    ['/oauth/login', 'GET, HEAD, POST', ['PUT', 'DELETE']],
    ['/oauth/device', 'GET, HEAD, POST', ['PUT', 'DELETE']],
    ['/oauth/logout', 'GET, POST', ['HEAD', 'PUT', 'DELETE']],
    ['/oauth/login/nonexistent', 'GET, POST', ['HEAD', 'PUT', 'DELETE']],
    ['/oauth/callback/nonexistent', 'GET', ['HEAD', 'POST', 'DELETE']],
    ['/oauth/keys', 'GET, HEAD', ['POST', 'PUT']],
    ['/oauth/.well-known/openid-configuration', 'GET, HEAD', ['POST', 'PUT']],
    ['/.well-known/openid-configuration/oauth', 'GET, HEAD', ['POST', 'PUT']],
    ['/.well-known/oauth-authorization-server', 'GET, HEAD', ['POST', 'PUT']],
  ]
  for (const [path, allow, others] of methods) {
    it(`accept ${allow} at ${path}, and list them`, async () => {
      for (const method of others) {
        const response = await sendToKapis(path, { method })
        const body = method === 'HEAD' ? '' : invalidRequest(`method not allowed; supported: ${allow}`)
        expect(parseResponse(response)).to.deep.equal([405, body])
        expect(response.headers).to.include({ allow, 'cache-control': 'no-store' })
      }
    })
  }

  const noProvider = invalidRequest('unknown identity provider')
  const password = { ...credentials, username: 'a', password: 'b' }
  const logout = (query: Readonly<Record<string, string>>) =>
    sendToKapis(`/oauth/logout?${new URLSearchParams(query)}`)
  const rows: readonly [string, () => Promise<HttpResponse>, number, object][] = [
    ['a login at an unknown provider', () => sendToKapis('/oauth/login/nonexistent'), 404, noProvider],
    ['a password for an unknown provider', () => form('/oauth/login/nonexistent', password), 404, noProvider],
    [
      'a password grant for an unknown provider',
      () => token({ ...password, grant_type: 'password', provider: 'nonexistent' }),
      400,
      noProvider,
    ],
    [
      'a password grant for an unknown provider without a client',
      () => form('/oauth/login/nonexistent', { username: 'a', password: 'b' }),
      401,
      { error: 'invalid_client', error_description: 'the OAuth client was not found' },
    ],
    [
      'a provider callback without a login',
      () => sendToKapis('/oauth/callback/nonexistent?code=x&state=y'),
      400,
      invalidRequest('the login was not started in this browser, or more than ten minutes ago; start again'),
    ],
    [
      'a logout with an invalid value of all',
      () => logout({ all: 'x' }),
      400,
      invalidRequest('the parameter all must be true or false'),
    ],
    [
      'a logout with an unregistered redirect URI',
      () => logout({ post_logout_redirect_uri: 'https://evil.test/' }),
      400,
      invalidRequest(
        'post_logout_redirect_uri requires id_token_hint, client_id or the access token of the login',
      ),
    ],
    [
      'a logout with an invalid hint',
      () => logout({ id_token_hint: 'garbage' }),
      400,
      invalidRequest('the parameter id_token_hint is not an ID token of this issuer'),
    ],
    [
      'a body of 300 KB',
      () => token({ ...password, padding: 'x'.repeat(300_000) }),
      413,
      invalidRequest('the body is larger than 256kb'),
    ],
    [
      'a body that is declared as gzip but is not',
      () => form('/oauth/token', password, { 'content-encoding': 'gzip' }),
      400,
      invalidRequest('failed to read the body'),
    ],
    [
      'a body of an unsupported encoding',
      () => form('/oauth/token', password, { 'content-encoding': 'compress' }),
      415,
      invalidRequest('the Content-Encoding must be gzip, deflate, br, zstd or identity'),
    ],
    [
      'an invalid percent-encoding',
      () =>
        sendToKapis('/oauth/token', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'password=%',
        }),
      400,
      invalidRequest('the body contains an invalid percent-encoding'),
    ],
  ]
  for (const [what, send, code, body] of rows) {
    it(`respond to ${what} with ${code}`, async () => {
      const response = await send()
      expect(parseResponse(response)).to.deep.equal([code, body])
      expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
      expect(response.headers).to.not.have.property('location')
    })
  }
})
