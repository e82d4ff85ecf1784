import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { toDiscovery } from '../../pkg/oauth/server/discovery.ts'
import { createUserAgent, type UserAgent } from '../peers/user-agent.ts'
import { kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import {
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  parseResponse,
  removeUser,
  token,
} from './oauth.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { setting } from './run.ts'

const domain = setting('KAPIS_GROUP_DOMAIN')

/**
 * Complete responses of /oauth/authorize, the code grant, discovery and login records, in tables.
 */
describe('HTTP responses of /oauth for browsers and clients', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('authorize'), password: 'Correct horse 1' }
  const redirectUri = 'https://app.test/cb?a=b'
  const app = { name: uniqueName('app'), secret: 'app secret', redirectURIs: [redirectUri] }
  const native = { name: uniqueName('native'), public: true, redirectURIs: ['http://localhost/cb'] }
  const denied = { name: uniqueName('denied'), secret: 's', grantMethod: 'deny', redirectURIs: [redirectUri] }
  const verifier = 'v'.repeat(43)
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  const good = {
    client_id: app.name,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile email',
    state: 'a b&c',
    nonce: 'n-1',
    code_challenge,
    code_challenge_method: 'S256',
  }
  let issuer: string

  before(async () => {
    issuer = await issuerUrl()
    await createUser(user, { displayName: 'Au Thor', lang: 'en', groups: ['e2e-authorize'] })
    for (const client of [app, native, denied]) await createClient(client)
    await loginAs(user)
  })
  after(async () => {
    await removeUser(user.username)
    for (const { name } of [app, native, denied]) await removeClient(name)
  })

  type ParameterChanges = Readonly<Record<string, string | undefined>>
  function query(changes: ParameterChanges = {}): string {
    const all = Object.entries({ ...good, ...changes })
    return String(new URLSearchParams(all.filter((pair): pair is [string, string] => pair[1] !== undefined)))
  }
  const authorize = (changes?: ParameterChanges) => sendToKapis(`/oauth/authorize?${query(changes)}`)
  const app_ = (fields: Readonly<Record<string, string>>) =>
    form('/oauth/token', { client_id: app.name, client_secret: app.secret, ...fields })

  describe('GET /oauth/authorize does not redirect', () => {
    const notAllowed = { error: 'invalid_request', error_description: 'redirect URL is not allowed' }
    const rows: readonly [string, ParameterChanges, object][] = [
      [
        'for an unknown client',
        { client_id: 'nonexistent' },
        { error: 'invalid_client', error_description: 'the OAuth client was not found' },
      ],
      [
        'without a client',
        { client_id: undefined },
        { error: 'invalid_client', error_description: 'the OAuth client was not found' },
      ],
      ['for another place', { redirect_uri: 'https://evil.test/' }, notAllowed],
      ['for a URI with the same beginning', { redirect_uri: `${redirectUri}.evil.test` }, notAllowed],
      ['for a place with a fragment', { redirect_uri: `${redirectUri}#x` }, notAllowed],
      ['for a place below it', { redirect_uri: 'https://app.test/cb/../evil?a=b' }, notAllowed],
      ['for a script', { redirect_uri: 'javascript:alert(1)' }, notAllowed],
      [
        'for another port of localhost, where only the address is registered',
        { client_id: 'kapis-cli', redirect_uri: 'http://localhost:5000/callback' },
        notAllowed,
      ],
    ]
    for (const [what, changes, body] of rows) {
      it(what, async () => {
        const response = await authorize(changes)
        expect(parseResponse(response)).to.deep.equal([400, body])
        expect(response.headers).to.not.have.property('location')
        expect(response.headers['cache-control']).to.equal('no-store')
      })
    }

    it('for a duplicate client_id', async () => {
      const response = await sendToKapis(`/oauth/authorize?${query()}&client_id=x`)
      expect(parseResponse(response)).to.deep.equal([
        400,
        { error: 'invalid_request', error_description: 'the parameter client_id is given more than once' },
      ])
    })

    it('for a JSON body', async () => {
      const headers = { 'content-type': 'application/json' }
      const response = await sendToKapis('/oauth/authorize', { method: 'POST', headers, body: '{}' })
      expect(parseResponse(response)).to.deep.equal([
        415,
        {
          error: 'invalid_request',
          error_description: 'the body must be application/x-www-form-urlencoded',
        },
      ])
      expect(response.headers['accept-post']).to.equal('application/x-www-form-urlencoded')
    })
  })

  describe('GET /oauth/authorize reports to the client, with its state', () => {
    const type = 'the parameter response_type must be code'
    const rows: readonly [string, ParameterChanges, object][] = [
      [
        'that response_type is missing',
        { response_type: undefined },
        { error: 'invalid_request', error_description: 'the parameter response_type is required' },
      ],
      ...['token', 'id_token', 'code id_token', 'nonsense'].map(
        (response_type): [string, ParameterChanges, object] => [
          `that ${response_type} is not supported`,
          { response_type },
          { error: 'unsupported_response_type', error_description: type },
        ],
      ),
      [
        'that plain is not supported',
        { code_challenge_method: 'plain' },
        { error: 'invalid_request', error_description: 'the parameter code_challenge_method must be S256' },
      ],
      [
        'that its scope is malformed',
        { scope: 'a"b' },
        { error: 'invalid_scope', error_description: 'the parameter scope is malformed' },
      ],
      ['that someone has to log in, with prompt=none', { prompt: 'none' }, { error: 'login_required' }],
      [
        'that logins are disabled for it',
        { client_id: denied.name },
        { error: 'access_denied', error_description: 'logins are disabled for this client' },
      ],
    ]
    for (const [what, changes, received] of rows) {
      it(what, async () => {
        const response = await authorize(changes)
        const { origin, pathname, searchParams } = new URL(String(response.headers.location))
        expect([response.code, response.body, origin + pathname]).to.deep.equal([
          302,
          '',
          'https://app.test/cb',
        ])
        expect(Object.fromEntries(searchParams)).to.deep.equal({
          a: 'b',
          ...received,
          state: good.state,
          iss: issuer,
        })
      })
    }
  })

  it('redirect a browser without a session to the login, and a form to the same URL', async () => {
    const response = await authorize()
    expect([response.code, response.headers['cache-control']]).to.deep.equal([302, 'no-store'])
    const location = new URL(String(response.headers.location), issuer)
    expect([location.pathname, location.searchParams.get('return_to')]).to.deep.equal([
      '/oauth/login',
      `/oauth/authorize?${query()}`,
    ])
    const posted = await form('/oauth/authorize', Object.fromEntries(new URLSearchParams(query())))
    expect([posted.code, posted.headers.location]).to.deep.equal([303, `/oauth/authorize?${query()}`])
    const localhost = await authorize({ client_id: native.name, redirect_uri: 'http://localhost:5000/cb' })
    expect(localhost.headers.location).to.match(/^\/oauth\/login\?/)
  })

  describe('POST /oauth/token with a code', () => {
    const isApp = (url: URL) => url.host === 'app.test'
    let agent: UserAgent

    before(async () => {
      agent = createUserAgent([readFileSync(setting('KAPIS_CA'), 'utf8')], 'text/html')
      const page = await agent.open(`${issuer}/login?return_to=/oauth/session`)
      const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.body) ?? []
      const last = await agent.submit(page, { csrf, return_to: '/oauth/session', ...user })
      expect([last.code, last.url.pathname]).to.deep.equal([200, '/oauth/session'])
    })

    async function newCode(changes?: ParameterChanges): Promise<string> {
      const last = await agent.open(`${issuer}/authorize?${query(changes)}`, isApp)
      const { searchParams } = new URL(String(last.headers.location))
      const { code = '', ...rest } = Object.fromEntries(searchParams)
      expect([last.code, rest]).to.deep.equal([302, { a: 'b', state: good.state, iss: issuer }])
      return code
    }
    const exchange = (code: string, changes: Readonly<Record<string, string>> = {}) =>
      app_({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        ...changes,
      })

    for (const grant_type of ['authorization_code', 'code']) {
      it(`returns the complete response for ${grant_type}, including the ID token`, async () => {
        const response = await exchange(await newCode(), { grant_type })
        const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
        expect([response.code, rest]).to.deep.equal([
          200,
          { token_type: 'Bearer', expires_in: 7200, scope: good.scope },
        ])
        expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
        const { iat, exp, jti, sid, auth_time, at_hash, ...claims } = claimsOf(id_token)
        expect(jti).to.be.a('string').and.not.equal(claimsOf(access_token).jti)
        expect(claims).to.deep.equal({
          iss: issuer,
          sub: user.username,
          aud: app.name,
          nonce: good.nonce,
          amr: ['pwd'],
          acr: 'sfa',
          name: 'Au Thor',
          preferred_username: user.username,
          locale: 'en',
          groups: ['e2e-authorize'],
          email: `${user.username}@e2e.test`,
          email_verified: true,
        })
        expect(sid).to.equal(claimsOf(access_token).sid)
        expect(sid).to.equal(claimsOf(refresh_token).sid)
        const half = createHash('sha256').update(access_token).digest().subarray(0, 16)
        expect(at_hash).to.equal(half.toString('base64url'))
        expect(Number(auth_time)).to.be.within(Number(iat) - 120, Number(iat) + 1)
        expect(Number(exp) - Number(iat)).to.equal(7200)
      })
    }

    const invalid = (error_description: string) => ({ error: 'invalid_grant', error_description })
    const rows: readonly [string, Readonly<Record<string, string>>, object][] = [
      [
        'the redirect_uri of another request',
        { redirect_uri: 'https://app.test/cb' },
        invalid('the parameter redirect_uri does not match the authorization request'),
      ],
      [
        'a missing redirect_uri',
        { redirect_uri: '' },
        invalid('the parameter redirect_uri does not match the authorization request'),
      ],
      [
        'another verifier',
        { code_verifier: 'w'.repeat(43) },
        invalid('the parameter code_verifier does not match the code_challenge'),
      ],
      [
        'a missing verifier',
        { code_verifier: '' },
        invalid('the parameter code_verifier does not match the code_challenge'),
      ],
      ['an invalid code', { code: 'garbage' }, invalid('the code is invalid or expired')],
      [
        'a missing code',
        { code: '' },
        { error: 'invalid_request', error_description: 'the parameter code is required' },
      ],
      ['another client', credentials, invalid('the code was issued to another client')],
    ]
    for (const [what, changes, body] of rows) {
      it(`rejects ${what}`, async () => {
        expect(parseResponse(await exchange(await newCode(), changes))).to.deep.equal([400, body])
      })
    }

    it('accepts neither an access token nor a refresh token as a code', async () => {
      const { access_token, refresh_token } = await loginAs(user)
      for (const code of [access_token, refresh_token])
        expect(parseResponse(await exchange(code))).to.deep.equal([
          400,
          invalid('the code is invalid or expired'),
        ])
    })
  })

  it('include the complete discovery document, at every well-known path', async () => {
    for (const path of [
      '/oauth/.well-known/openid-configuration',
      '/.well-known/openid-configuration/oauth',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/oauth',
    ])
      expect(parseResponse(await sendToKapis(path)), path).to.deep.equal([200, toDiscovery(issuer)])
    const keys = await sendToKapis('/oauth/keys')
    expect(keys.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=30',
    })
  })

  it('start a device login with all fields, and answer its polls', async () => {
    const device = (fields: Readonly<Record<string, string>>) => form('/oauth/device_authorization', fields)
    const { device_code, user_code, ...rest } = JSON.parse((await device({ client_id: native.name })).body)
    expect(user_code).to.match(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(rest).to.deep.equal({
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const poll = () =>
      form('/oauth/token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: native.name,
        device_code,
      })
    expect(parseResponse(await poll())).to.deep.equal([400, { error: 'authorization_pending' }])
    expect(parseResponse(await poll())).to.deep.equal([400, { error: 'slow_down' }])
    expect(parseResponse(await device({ client_id: 'nonexistent' }))).to.deep.equal([
      401,
      { error: 'invalid_client', error_description: 'the OAuth client was not found' },
    ])
  })

  it('create records of logins, successful and failed, with the real source and not the asserted one', async () => {
    const name = uniqueName('recorded')
    await createUser({ username: name, password: user.password })
    try {
      await loginAs({ username: name, password: user.password })
      const headers = { 'x-client-ip': '6.6.6.6', 'x-real-ip': '6.6.6.6', 'user-agent': 'e2e' }
      const wrong = { grant_type: 'password', username: name, password: 'wrong' }
      expect((await token(wrong, headers)).code).to.equal(400)
      await eventually(async () => {
        const selector = `iam.${domain}/user-ref=${name}`
        const { items } = JSON.parse(await kubectlOutput('get', 'loginrecords', '-l', selector, '-o', 'json'))
        const specs = items.map(({ spec }: { spec: object }) => spec)
        expect(specs).to.deep.include({
          type: 'Password',
          provider: '',
          sourceIP: '127.0.0.1',
          userAgent: 'e2e',
          success: false,
          reason: 'incorrect password',
        })
        expect(specs).to.deep.include({
          type: 'Password',
          provider: '',
          sourceIP: '127.0.0.1',
          userAgent: '',
          success: true,
          reason: 'authenticated successfully',
        })
      }, 20_000)
    } finally {
      await removeUser(name)
    }
  })

  it('mark an access token whose user must change the password, until it was changed', async () => {
    const name = uniqueName('given')
    const users = `users.iam.${domain}`
    await createUser({ username: name, password: user.password })
    try {
      await kubectlOutput('annotate', users, name, `iam.${domain}/uninitialized=true`)
      const extraOf = async () =>
        claimsOf((await loginAs({ username: name, password: user.password })).access_token).extra
      await eventually(
        async () => void expect(await extraOf()).to.deep.equal({ uninitialized: ['true'] }),
        20_000,
      )
      await kubectlOutput('annotate', users, name, `iam.${domain}/uninitialized-`)
      await eventually(async () => void expect(await extraOf()).to.equal(undefined), 20_000)
    } finally {
      await removeUser(name)
    }
  })
})
