import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import {
  closeServer,
  type GetOptions,
  type Loopback,
  startLoopback,
  toExchange,
} from '../../../apirequest/fixtures.ts'
import { createLogPage } from './serve.ts'

const issuer = 'https://kapis.test/oauth'
const here = { host: 'kapis.test' }

describe('createLogPage', () => {
  let loopback: Loopback | undefined
  let listener: Server | undefined
  const forms: string[] = []
  let response: { code: number; body: object } = { code: 200, body: {} }

  beforeEach(async () => {
    forms.length = 0
    response = { code: 200, body: { access_token: 'the.token', expires_in: 7200 } }
    const socket = join(tmpdir(), `kapis-log-page-${process.pid}.sock`)
    const server = createServer(async (req, res) => {
      forms.push(`${req.url} ${Buffer.concat(await req.toArray()).toString()}`)
      res.writeHead(response.code, { 'content-type': 'application/json' }).end(JSON.stringify(response.body))
    })
    listener = server
    await new Promise<void>(resolve => server.listen(socket, resolve))
    const page = createLogPage({
      ...{ issuer, socket, clientId: 'kapis-logs', redirectUri: 'https://kapis.test/logs/callback' },
      ...{ groupDomain: 'kapis.io', productName: 'Kapis & <Co>', clientAddress: () => '10.1.2.3' },
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        page.admit(req)
        const { url = '', headers } = req
        if (page.handles(url.split('?')[0] ?? '')) return await page.handle(toExchange(req, res))
        res.end(JSON.stringify([url, headers.authorization, headers.cookie]))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  afterEach(async () => {
    await loopback?.close()
    if (listener) await closeServer(listener)
  })

  async function get(path: string, options: GetOptions = {}) {
    if (loopback === undefined) throw new Error('it is not started')
    return loopback.get(path, { ...options, headers: { ...here, ...options.headers } })
  }

  /** Starts a login. @returns the request to the issuer, and the cookie of the browser */
  async function begin(returnTo = '', page = '') {
    const { code, headers } = await get(`/logs/login?${new URLSearchParams({ page, return_to: returnTo })}`)
    expect(code).to.equal(303)
    const [cookie = ''] = headers['set-cookie'] ?? []
    return { url: new URL(headers.location ?? ''), cookie: cookie.split(';')[0] ?? '', whole: cookie }
  }

  it('returns a page with one script and one style , with any product name', async () => {
    const { code, headers, text } = await get('/logs')
    expect(code).to.equal(200)
    expect(headers['content-security-policy']).to.equal(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(text).to.include('<title>Logs – Kapis &amp; &lt;Co&gt;</title>')
    expect(text).to.not.match(/<script>|<style|\son\w+=|\sstyle=|\{\{/)
    const assets = [...text.matchAll(/(?:href|src)="(\/logs\/assets\/[^"]*)"/g)]
    expect(assets).to.have.length(2)
    for (const [, path = ''] of assets) {
      const file = await get(path)
      expect([
        file.code,
        file.headers['cache-control'],
        file.headers['x-content-type-options'],
      ]).to.deep.equal([200, 'public, max-age=31536000, immutable', 'nosniff'])
    }
  })

  const problems: readonly (readonly [string, string, number, RegExp])[] = [
    ['GET', '/logs/<b>none', 404, /Page \/logs\/&lt;b&gt;none not found\./],
    ['DELETE', '/logs', 405, /the server does not allow this method/],
    ['POST', '/logs/login', 405, /the server does not allow this method/],
    ['GET', '/logs/logout', 405, /the server does not allow this method/],
  ]
  for (const [method, path, expected, words] of problems) {
    it(`shows the error of ${method} ${path} on a page`, async () => {
      const { code, text, headers } = await get(path, { method })
      expect([code, headers['content-type']]).to.deep.equal([expected, 'text/html; charset=utf-8'])
      expect(headers['content-security-policy']).to.contain("default-src 'none'")
      expect(text).to.match(words)
      if (expected === 405) expect(headers.allow).to.be.a('string')
    })
  }

  it('logs in with code and PKCE, and stores the token where no script can read it', async () => {
    const { url, cookie, whole } = await begin('q=a+b&pods=web-0')
    expect(`${url.origin}${url.pathname}`).to.equal(`${issuer}/authorize`)
    const { state = '', ...asked } = Object.fromEntries(url.searchParams)
    expect(asked).to.deep.include({
      response_type: 'code',
      client_id: 'kapis-logs',
      redirect_uri: 'https://kapis.test/logs/callback',
      code_challenge_method: 'S256',
    })
    expect(whole).to.include('; Path=/logs; Secure; HttpOnly; SameSite=Lax; Max-Age=600')
    const back = await get(`/logs/callback?code=abc&state=${state}`, { headers: { cookie } })
    expect([back.code, back.headers.location]).to.deep.equal([303, '/logs?q=a+b&pods=web-0'])
    expect(back.headers['set-cookie']).to.deep.equal([
      '__Secure-kapis-logs-login=; Path=/logs; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
      '__Secure-kapis-logs=the.token; Path=/logs; Secure; HttpOnly; SameSite=Strict; Max-Age=7200',
    ])
    expect(forms).to.have.length(1)
    const [, verifier] = /\.([\w-]{43})\./.exec(cookie) ?? []
    expect(forms[0]).to.equal(
      `/oauth/token grant_type=authorization_code&client_id=kapis-logs&redirect_uri=https%3A%2F%2Fkapis.test%2Flogs%2Fcallback&code=abc&code_verifier=${verifier}`,
    )
  })

  it('redirects back to the page of session recordings', async () => {
    const { url, cookie } = await begin('namespace=shop', 'recordings')
    const path = `/logs/callback?code=abc&state=${url.searchParams.get('state')}`
    const { location } = (await get(path, { headers: { cookie } })).headers
    expect(location).to.equal('/logs/recordings?namespace=shop')
  })

  it('redirects only to itself', async () => {
    for (const returnTo of ['//evil.test', 'https://evil.test/', '\r\nx: y', '/../oauth']) {
      const { url, cookie } = await begin(returnTo, returnTo)
      const path = `/logs/callback?code=abc&state=${url.searchParams.get('state')}`
      const { location = '' } = (await get(path, { headers: { cookie } })).headers
      expect(new URL(location, 'https://kapis.test').pathname, location).to.equal('/logs')
      expect(location).to.match(/^\/logs\?/)
    }
  })

  it('redirects once to the host of the issuer’s callback', async () => {
    const elsewhere = { headers: { host: '10.0.0.1' } }
    const first = await get('/logs/login?return_to=q%3Da', elsewhere)
    expect(first.headers.location).to.equal('https://kapis.test/logs/login?page=&return_to=q%3Da&moved=1')
    const second = await get('/logs/login?page=&return_to=q%3Da&moved=1', elsewhere)
    expect(second.headers.location).to.match(/^https:\/\/kapis\.test\/oauth\/authorize\?/)
  })

  const wrong: Readonly<Record<string, { query: (state: string) => string; says: string; code: number }>> = {
    'the state of another browser': {
      query: () => 'code=abc&state=x',
      says: 'not started in this browser',
      code: 400,
    },
    'a missing state': { query: () => 'code=abc', says: 'not started in this browser', code: 400 },
    'a rejection': {
      query: state => `error=access_denied&error_description=<script>no</script>&state=${state}`,
      says: 'Login failed: &lt;script&gt;no&lt;/script&gt;',
      code: 403,
    },
  }
  for (const [what, { query, says, code }] of Object.entries(wrong)) {
    it(`shows an error page for ${what}`, async () => {
      const { url, cookie } = await begin()
      const path = `/logs/callback?${query(url.searchParams.get('state') ?? '')}`
      const page = await get(path, { headers: { cookie } })
      expect([page.code, forms]).to.deep.equal([code, []])
      expect(page.text).to.include(says)
      expect(String(page.headers['set-cookie'])).to.not.include('__Secure-kapis-logs=')
    })
  }

  it('explains that the issuer rejected the code, or sent a token too large for a cookie', async () => {
    const responses: [number, object, string][] = [
      [400, { error_description: 'the code has expired' }, 'Login failed: the code has expired'],
      [200, { access_token: 'a;b' }, 'Login failed: the issuer responded with 200'],
      [200, { access_token: 'x'.repeat(4050) }, 'You have too many groups'],
    ]
    for (const [code, body, says] of responses) {
      response = { code, body }
      const { url, cookie } = await begin()
      const path = `/logs/callback?code=abc&state=${url.searchParams.get('state')}`
      const page = await get(path, { headers: { cookie } })
      expect(page.text).to.include(says)
      expect(String(page.headers['set-cookie'])).to.not.include('__Secure-kapis-logs=')
    }
  })

  const cookie = '__Secure-kapis-logs=the.token; other=1'
  const admitted: readonly [path: string, headers: Record<string, string>, expected: unknown[]][] = [
    [
      '/logs/api/records?q=a&size=1',
      { cookie },
      ['/kapis/tenant.kapis.io/v1alpha2/logs?q=a&size=1', 'Bearer the.token', null],
    ],
    [
      '/logs/api/values?field=namespace',
      { cookie },
      [
        '/kapis/logging.kapis.io/v1alpha2/select/logsql/field_values?field=namespace',
        'Bearer the.token',
        null,
      ],
    ],
    [
      '/logs/api/namespaces/shop/pods',
      { cookie },
      ['/kapis/resources.kapis.io/v1alpha3/namespaces/shop/pods', 'Bearer the.token', null],
    ],
    [
      '/logs/api/recordings?user=jane',
      { cookie },
      ['/kapis/logging.kapis.io/v1alpha2/sessionrecordings?user=jane', 'Bearer the.token', null],
    ],
    [
      '/logs/api/namespaces/shop/recordings/6f9c2a9e-4c55',
      { cookie },
      [
        '/kapis/logging.kapis.io/v1alpha2/namespaces/shop/sessionrecordings/6f9c2a9e-4c55',
        'Bearer the.token',
        null,
      ],
    ],
    [
      '/logs/api/records',
      { cookie, 'sec-fetch-site': 'cross-site' },
      ['/kapis/tenant.kapis.io/v1alpha2/logs', null, null],
    ],
    [
      '/logs/api/records',
      { cookie: `${cookie}; __Secure-kapis-logs=other` },
      ['/kapis/tenant.kapis.io/v1alpha2/logs', null, null],
    ],
    ['/logs/api/records', {}, ['/kapis/tenant.kapis.io/v1alpha2/logs', null, null]],
    ['/kapis/anything', { cookie }, ['/kapis/anything', null, cookie]],
  ]
  for (const [path, headers, expected] of admitted) {
    it(`proxies ${path} with ${Object.keys(headers).join(', ') || 'no headers'}, as far as allowed`, async () => {
      expect(JSON.parse((await get(path, { headers })).text)).to.deep.equal(expected)
    })
  }

  for (const path of [
    '/logs/api/secrets',
    '/logs/api/namespaces/shop/secrets',
    '/logs/api/namespaces/a/../pods',
    '/logs/api/records/x',
    '/logs/api/values/x',
    '/logs/api/recordings/',
    '/logs/api/recordings/a/b',
    '/logs/api/recordings/../namespaces',
    '/logs/api/namespaces/shop/recordings/%2e%2e',
  ]) {
    it(`returns 404 for ${path}`, async () => {
      const { code } = await get(path, { headers: { cookie } })
      expect(code).to.be.oneOf([400, 404])
    })
  }

  it('allows only reads', async () => {
    expect((await get('/logs/api/records', { method: 'POST', headers: { cookie } })).code).to.equal(405)
  })

  it('logs out: ends the session at the issuer too, but not for cross-site requests', async () => {
    const evil = { cookie, origin: 'https://evil.test' }
    expect((await get('/logs/logout', { method: 'POST', headers: evil })).code).to.equal(403)
    const headers = { cookie, origin: 'https://kapis.test' }
    const out = await get('/logs/logout', { method: 'POST', headers })
    expect([out.code, out.headers.location]).to.deep.equal([303, `${issuer}/session`])
    expect(String(out.headers['set-cookie'])).to.include('__Secure-kapis-logs=; Path=/logs; Secure')
    expect(forms).to.deep.equal(['/oauth/revoke client_id=kapis-logs&token=the.token'])
  })
})
