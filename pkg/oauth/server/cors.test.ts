import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient } from '../memory-fixtures.ts'

const allowed = [
  'https://spa.test',
  'https://listed.test:8443',
  'http://localhost:5173',
  // The operating system chooses the ports of native apps on the loopback interface.
  'http://localhost:5174',
  'http://127.0.0.1:40001',
  'http://[::1]:40001',
]
const refused = [
  'https://evil.test',
  'https://spa.test.evil.test',
  'https://spa.test:8443',
  'http://spa.test',
  'https://confidential.test',
  'https://127.0.0.1:40001',
  'http://127.0.0.1.evil.test:40001',
  'null',
  '*',
  '',
]

describe('CORS', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    const put = (name: string, changes: Parameters<typeof memoryClient>[1], secret?: string) =>
      app.clients.set(name, { client: memoryClient(name, changes), secret })
    put('spa', { public: true, redirectURIs: ['https://spa.test/cb', 'http://localhost:5173/cb'] })
    put('cli', { public: true, redirectURIs: ['http://127.0.0.1/cb', 'http://[::1]/cb', 'org.app:/cb'] })
    put('confidential', { redirectURIs: ['https://confidential.test/cb'] }, 's')
    put('listed', { allowedOrigins: ['https://listed.test:8443'] }, 's')
  })
  after(() => app.close())

  const cors = (headers: NodeJS.Dict<string | string[]>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))
  const preflight = (path: string, origin: string, method = 'POST') =>
    app.send('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      },
    })

  for (const path of [
    '/oauth/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/oauth',
    '/oauth/keys',
  ]) {
    it(`allows every origin to read ${path}, without credentials`, async () => {
      for (const headers of [{}, { origin: 'https://anybody.test' }, { origin: 'null' }]) {
        const response = await app.send('GET', path, { headers })
        expect([response.code, cors(response.headers)]).to.deep.equal([
          200,
          { 'access-control-allow-origin': '*' },
        ])
      }
      const { code, headers, body } = await preflight(path, 'https://anybody.test', 'GET')
      expect([code, body, cors(headers)]).to.deep.equal([
        204,
        '',
        {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': '*, Authorization',
          'access-control-max-age': '86400',
        },
      ])
    })
  }

  const endpoints: readonly [string, string][] = [
    ['/oauth/token', 'POST'],
    ['/oauth/revoke', 'POST'],
    ['/oauth/introspect', 'POST'],
    ['/oauth/device_authorization', 'POST'],
    ['/oauth/userinfo', 'GET, HEAD, POST'],
  ]
  const shared = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
  })
  for (const [path, methods] of endpoints) {
    it(`allows the origins of clients to read ${path}, error responses included`, async () => {
      for (const origin of allowed) {
        const { code, headers, body } = await preflight(path, origin)
        expect([code, body, cors(headers)], origin).to.deep.equal([
          204,
          '',
          {
            ...shared(origin),
            'access-control-allow-methods': methods,
            'access-control-allow-headers': 'Authorization, Content-Type',
            'access-control-max-age': '600',
          },
        ])
        const response = await app.form(path, {}, { origin })
        expect([response.code >= 400, cors(response.headers)]).to.deep.equal([true, shared(origin)])
        expect(response.headers.vary).to.include('Origin')
      }
    })

    it(`allows no other origin to read ${path}`, async () => {
      for (const origin of refused) {
        const { code, headers } = await preflight(path, origin)
        expect([code, cors(headers), headers.vary], origin).to.deep.equal([405, {}, 'Origin'])
        const response = await app.form(path, {}, { origin })
        expect([cors(response.headers), response.headers.vary], origin).to.deep.equal([{}, 'Origin'])
      }
      expect((await app.form(path, {})).headers.vary).to.equal('Origin')
    })
  }

  it('stops allowing the origin of a deleted client', async () => {
    app.clients.set('gone', {
      client: memoryClient('gone', { allowedOrigins: ['https://gone.test'] }),
      secret: 's',
    })
    expect((await preflight('/oauth/token', 'https://gone.test')).code).to.equal(204)
    app.clients.delete('gone')
    expect((await preflight('/oauth/token', 'https://gone.test')).code).to.equal(405)
  })

  it('does not apply to pages that browsers are redirected to (RFC 9700 section 2.6)', async () => {
    for (const path of ['authorize', 'login', 'consent', 'device', 'session', 'logout', 'logout/confirm']) {
      const [origin = ''] = allowed
      const { code, headers } = await preflight(`/oauth/${path}`, origin)
      expect([code, cors(headers)], path).to.deep.equal([405, {}])
      expect(cors((await app.send('GET', `/oauth/${path}`, { headers: { origin } })).headers)).to.deep.equal(
        {},
      )
    }
  })
})
