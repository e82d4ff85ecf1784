import { expect } from 'chai'
import { issuer } from '../../jwt/fixtures.ts'
import { publicKeyAlgorithms } from '../../jwt/remote-keys.ts'
import { startApp, type TestApp } from '../fixtures.ts'

describe('createOAuthApp', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())

  const proven = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
  const discovery = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    device_authorization_endpoint: `${issuer}/device_authorization`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    revocation_endpoint: `${issuer}/revoke`,
    introspection_endpoint: `${issuer}/introspect`,
    end_session_endpoint: `${issuer}/logout`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    scopes_supported: ['openid', 'profile', 'email'],
    grant_types_supported: [
      'authorization_code',
      'password',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
      'urn:ietf:params:oauth:grant-type:token-exchange',
    ],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    token_endpoint_auth_methods_supported: [...proven, 'none'],
    token_endpoint_auth_signing_alg_values_supported: publicKeyAlgorithms,
    revocation_endpoint_auth_methods_supported: [...proven, 'none'],
    revocation_endpoint_auth_signing_alg_values_supported: publicKeyAlgorithms,
    introspection_endpoint_auth_methods_supported: proven,
    introspection_endpoint_auth_signing_alg_values_supported: publicKeyAlgorithms,
    acr_values_supported: ['sfa', 'mfa'],
    claims_supported: [
      ...['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'sid', 'auth_time', 'nonce', 'at_hash', 'groups'],
      ...['amr', 'acr'],
      ...['name', 'email', 'email_verified', 'locale', 'preferred_username'],
    ],
  }
  for (const path of [
    '/oauth/.well-known/openid-configuration',
    '/.well-known/openid-configuration/oauth',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/oauth',
  ]) {
    it(`serves the discovery document at ${path}`, async () => {
      const response = await app.send('GET', path)
      expect(response.code).to.equal(200)
      expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(JSON.parse(response.body)).to.deep.equal(discovery)
    })
  }

  it('serves the public keys', async () => {
    const response = await app.send('GET', '/oauth/keys')
    expect(response.code).to.equal(200)
    expect(response.headers['cache-control']).to.equal('public, max-age=300')
    expect(JSON.parse(response.body)).to.deep.equal(app.keys.set.jwks())
    expect(response.body).to.not.match(/"(d|p|q|dp|dq|qi|oth|k)":/)
  })

  it('reports its readiness', async () => {
    const ready = await app.send('GET', '/healthz')
    app.state.isReady = false
    const starting = await app.send('GET', '/healthz')
    app.state.isReady = true
    expect([ready.code, ready.body, starting.code, starting.body]).to.deep.equal([
      200,
      'ok',
      503,
      'not ready',
    ])
  })

  const refused: readonly [string, string, number, object, string?][] = [
    ['GET', '/oauth/token', 405, { error_description: 'method not allowed; supported: POST' }, 'POST'],
    ['PUT', '/oauth/token', 405, { error_description: 'method not allowed; supported: POST' }, 'POST'],
    ['GET', '/oauth/revoke', 405, { error_description: 'method not allowed; supported: POST' }, 'POST'],
    ['GET', '/oauth/introspect', 405, { error_description: 'method not allowed; supported: POST' }, 'POST'],
    ['GET', '/oauth/authenticate', 405, { error_description: 'method not allowed; supported: POST' }, 'POST'],
    [
      ...(['PUT', '/oauth/userinfo', 405] as const),
      { error_description: 'method not allowed; supported: GET, HEAD, POST' },
      'GET, HEAD, POST',
    ],
    [
      ...(['DELETE', '/oauth/logout', 405] as const),
      { error_description: 'method not allowed; supported: GET, POST' },
      'GET, POST',
    ],
    ['HEAD', '/oauth/logout', 405, {}, 'GET, POST'],
    ['HEAD', '/oauth/login/ldap', 405, {}, 'GET, POST'],
    ['HEAD', '/oauth/callback/sso', 405, {}, 'GET'],
    [
      'POST',
      '/oauth/keys',
      405,
      { error_description: 'method not allowed; supported: GET, HEAD' },
      'GET, HEAD',
    ],
    ['GET', '/oauth/Token', 404, { error_description: 'unknown endpoint' }],
    ['GET', '/oauth/keys/', 404, { error_description: 'unknown endpoint' }],
    ['GET', '/oauth/unheard-of', 404, { error_description: 'unknown endpoint' }],
  ]
  for (const [method, path, code, body, allow] of refused) {
    it(`responds to ${method} ${path} with ${code}`, async () => {
      const response = await app.send(method, path)
      expect(response.code).to.equal(code)
      if (method === 'HEAD') expect(response.body).to.equal('')
      else expect(JSON.parse(response.body)).to.deep.equal({ error: 'invalid_request', ...body })
      expect(response.headers.allow).to.equal(allow)
    })
  }

  for (const [method, path, code] of [
    ['GET', '/oauth/token', 405],
    ['GET', '/oauth/unheard-of', 404],
    ['PUT', '/oauth/login', 405],
    ['POST', '/oauth/login', 415],
  ] as const) {
    it(`shows browsers an error page with a link: ${method} ${path} is ${code}`, async () => {
      const response = await app.send(method, path, {
        headers: { accept: 'text/html,*/*;q=0.8', 'content-type': 'text/plain' },
        ...(method === 'GET' ? {} : { body: 'x' }),
      })
      expect([response.code, response.headers['content-type']]).to.deep.equal([
        code,
        'text/html; charset=utf-8',
      ])
      expect(response.headers['content-security-policy']).to.match(/^default-src 'none'/)
      expect(response.body).to.include('role="alert"').and.include('href="/oauth/session"')
    })
  }

  const unauthorized = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  }
  for (const [method, path] of [
    ['GET', '/oauth/userinfo'],
    ['POST', '/oauth/userinfo'],
    ['GET', '/oauth/personal-access-tokens'],
    ['DELETE', '/oauth/personal-access-tokens/x'],
  ] as const) {
    it(`rejects an invalid bearer token instead of ignoring it: ${method} ${path}`, async () => {
      const response = await app.send(method, path, { headers: { authorization: 'Bearer garbage' } })
      expect(response.code).to.equal(401)
      expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      expect(JSON.parse(response.body)).to.deep.equal(unauthorized)
    })
  }
})
