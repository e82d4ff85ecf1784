import { expect } from 'chai'
import { readProviderConfig } from '../iam/identityprovider/config.ts'
import type { ProviderClient } from '../iam/identityprovider/external-identity.ts'
import { loginError, providerFailed } from '../iam/identityprovider/linking/login-error.ts'
import type { Provider } from '../iam/identityprovider/provider-store.ts'
import { createBrowser } from './browser/fixtures.ts'
import { startApp, type TestApp } from './fixtures.ts'
import type { HttpResponse } from './request-fixtures.ts'

function provider(name: string, client: ProviderClient): Provider {
  const document = {
    name,
    type: 'OIDCIdentityProvider',
    provider: { issuer: 'https://id.example.com', clientID: 'kapis' },
  }
  const config = readProviderConfig(document, [])
  if (config === undefined) throw new Error('not read')
  return { config, client }
}

/** A directory in which the password of each user is the user name, with some users for errors. */
const directory: ProviderClient = {
  kind: 'password',
  async authenticate({ username, password }, _signal, found) {
    if (username === 'nonexistent') throw loginError('unknown_user', 'incorrect password')
    found(username === 'stranger' ? '' : username)
    if (username === 'down') throw providerFailed(new Error('ECONNREFUSED 10.0.0.1'))
    if (username === 'taken') throw loginError('user_name_taken', 'the user name taken is taken')
    if (password !== username) throw loginError('wrong_password', 'incorrect password')
    return { uid: username, username, email: '', displayName: '', groups: undefined }
  },
}

const away: ProviderClient = {
  kind: 'redirect',
  redirectUrl: '',
  begin: async ({ state }) => new URL(`https://id.example.com/auth?state=${state}`),
  finish: async callback => ({
    uid: callback.searchParams.get('code') ?? '',
    username: '',
    email: '',
    displayName: '',
    groups: undefined,
  }),
}

describe('logins at identity providers', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    app.providers.set('ldap', provider('ldap', directory))
    app.providers.set('sso', provider('sso', away))
  })
  after(() => app.close())

  const client = { client_id: 'kapis', client_secret: 'kapis' }
  const post = (idp: string, fields: Readonly<Record<string, string>>) =>
    app.send('POST', `/oauth/login/${idp}`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(fields)),
    })
  const alice = { ...client, username: 'alice', password: 'alice' }
  const lastLine = () => app.lines.findLast(({ audit }) => audit !== undefined)

  it('return tokens, and create a session that names the provider', async () => {
    const response = await post('ldap', alice)
    expect(response.code, response.body).to.equal(200)
    expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect(Object.keys(JSON.parse(response.body))).to.have.members([
      'access_token',
      'token_type',
      'refresh_token',
      'expires_in',
    ])
    const [session] = [...app.sessions.values()].slice(-1)
    expect(session).to.include({ user: 'alice', provider: 'ldap', credential: '', clientId: 'kapis' })
    expect(lastLine()).to.include({ audit: 'login', provider: 'ldap', user: 'alice', outcome: 'success' })
  })

  it('accept client authentication with HTTP Basic', async () => {
    const response = await app.send('POST', '/oauth/login/ldap', {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from('kapis:kapis').toString('base64')}`,
      },
      body: 'username=alice&password=alice',
    })
    expect(response.code, response.body).to.equal(200)
  })

  const refused: readonly [string, () => Promise<HttpResponse>, number, object, string][] = [
    [
      'a wrong password',
      () => post('ldap', { ...alice, password: 'x' }),
      400,
      { error: 'invalid_grant', error_description: 'incorrect password' },
      'wrong_password',
    ],
    [
      'a disabled Kapis user',
      () => post('ldap', { ...client, username: 'disabled', password: 'disabled' }),
      400,
      { error: 'invalid_grant', error_description: 'account is not active' },
      'user_disabled',
    ],
    [
      'an unreachable directory, without revealing the cause',
      () => post('ldap', { ...client, username: 'down', password: 'x' }),
      503,
      {
        error: 'temporarily_unavailable',
        error_description: 'the identity provider returned an invalid response',
      },
      'provider_failed',
    ],
    [
      'a missing client',
      () => post('ldap', { username: 'alice', password: 'alice' }),
      401,
      { error: 'invalid_client', error_description: 'the OAuth client was not found' },
      'unknown_client',
    ],
    [
      'a public client, which may not handle passwords',
      () => post('ldap', { client_id: 'cli', username: 'alice', password: 'alice' }),
      400,
      { error: 'unauthorized_client', error_description: 'the client may not use this grant type' },
      'unauthorized_client',
    ],
    [
      'a different provider in the form',
      () => post('ldap', { ...alice, provider: 'sso' }),
      400,
      { error: 'invalid_request', error_description: 'the parameter provider must match the path' },
      'invalid_request',
    ],
    [
      'an unknown provider',
      () => post('nowhere', alice),
      404,
      { error: 'invalid_request', error_description: 'unknown identity provider' },
      'unknown_provider',
    ],
    [
      'a password for a provider with its own login page',
      () => post('sso', alice),
      400,
      {
        error: 'invalid_request',
        error_description: 'this identity provider does not support passwords: log in with a browser',
      },
      'provider_takes_no_passwords',
    ],
    [
      'a redirect for a provider without a login page',
      () => app.send('GET', '/oauth/login/ldap?client_id=kapis'),
      400,
      {
        error: 'invalid_request',
        error_description: 'this identity provider requires a password: POST username and password',
      },
      'provider_takes_passwords',
    ],
    [
      'a callback without a started login',
      () => app.send('GET', '/oauth/callback/sso?code=alice&state=x'),
      400,
      {
        error: 'invalid_request',
        error_description:
          'the login was not started in this browser, or more than ten minutes ago; start again',
      },
      'state_mismatch',
    ],
  ]
  for (const [what, send, code, body, reason] of refused) {
    it(`reject ${what}`, async () => {
      const response = await send()
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([code, body])
      expect(lastLine()).to.include({ outcome: 'failure', reason })
    })
  }

  const named: readonly [string, string, string, object][] = [
    ['a linked user', 'alice', 'x', { reason: 'wrong_password', user: 'alice' }],
    ['an account without a user', 'stranger', 'x', { reason: 'wrong_password', user: 'stranger' }],
    [
      'an account that is rejected with the right password',
      'taken',
      'taken',
      { reason: 'user_name_taken', user: 'taken' },
    ],
    ['a disabled Kapis user', 'disabled', 'disabled', { reason: 'user_disabled', user: 'disabled' }],
    [
      'a name that is not in the directory, which may be a password',
      'nonexistent',
      'x',
      { reason: 'unknown_user' },
    ],
  ]
  for (const [what, username, password, line] of named) {
    it(`are recorded with the name of ${what}, for every login method`, async () => {
      const browser = createBrowser(app)
      const page = await browser.get('/oauth/login?provider=ldap')
      const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
      const tries = [
        () => post('ldap', { ...client, username, password }),
        () => app.token({ grant_type: 'password', provider: 'ldap', username, password }),
        () => browser.post('/oauth/login', { csrf, provider: 'ldap', username, password }),
      ]
      for (const send of tries) {
        expect(await send()).to.include({ code: 400 })
        const { user, ...rest } = Object(lastLine())
        expect({ ...rest, ...(user === undefined ? {} : { user }) }).to.include({ ...line, provider: 'ldap' })
        expect(user).to.equal('user' in line ? line.user : undefined)
      }
    })
  }

  it('are recorded with the provider when they succeed, for every login method', async () => {
    const password = { username: 'alice', password: 'alice' }
    expect(await app.token({ grant_type: 'password', provider: 'ldap', ...password })).to.include({
      code: 200,
    })
    expect(lastLine()).to.include({ audit: 'token', provider: 'ldap', user: 'alice', outcome: 'success' })
    const browser = createBrowser(app)
    const page = await browser.get('/oauth/login?provider=ldap')
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    const response = await browser.post('/oauth/login', { csrf, provider: 'ldap', ...password })
    expect(response).to.include({ code: 303 })
    expect(lastLine()).to.include({ audit: 'login', provider: 'ldap', user: 'alice', outcome: 'success' })
  })

  it('lock a name after too many wrong passwords, for any user', async () => {
    const codes: number[] = []
    for (let i = 0; i < 6; i++)
      codes.push((await post('ldap', { ...client, username: 'Guess', password: 'x' })).code)
    expect(codes).to.deep.equal([400, 400, 400, 400, 400, 429])
    // The log has the name as entered, since no user has this name.
    expect(lastLine()).to.include({ reason: 'locked', provider: 'ldap', user: 'Guess' })
    // The directory ignores the case of names, but the local user of that name is a different user.
    const other = await post('ldap', { ...client, username: 'guess', password: 'guess' })
    expect(other.code).to.equal(429)
    expect(Number(other.headers['retry-after'])).to.be.within(590, 600)
    expect((await app.token({ grant_type: 'password', username: 'guess', password: 'x' })).code).to.equal(400)
  })

  it('report the lock of a directory user, too', async () => {
    const codes: number[] = []
    for (let i = 0; i < 7; i++) codes.push((await post('ldap', { ...alice, password: 'x' })).code)
    expect(codes.slice(-2)).to.deep.equal([429, 429])
    expect(lastLine()).to.include({
      audit: 'login',
      provider: 'ldap',
      user: 'alice',
      outcome: 'failure',
      reason: 'locked',
    })
  })

  it('do not count failures of the directory', async () => {
    for (let i = 0; i < 7; i++)
      expect((await post('ldap', { ...client, username: 'down', password: 'x' })).code).to.equal(503)
  })

  it('explain on the login page after the correct password why the login fails', async () => {
    const browser = createBrowser(app)
    const page = await browser.get('/oauth/login?provider=ldap')
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    const response = await browser.post('/oauth/login', {
      csrf,
      provider: 'ldap',
      username: 'taken',
      password: 'taken',
    })
    expect(response.code).to.equal(400)
    expect(response.body).to.include('The user name taken is taken.')
  })

  it('complete only in the browser that was redirected to the provider, once', async () => {
    const browser = createBrowser(app)
    const start = await browser.get('/oauth/login/sso?return_to=/oauth/device')
    const { searchParams } = new URL(String(start.headers.location))
    const callback = `/oauth/callback/sso?code=alice&state=${searchParams.get('state')}`
    expect((await createBrowser(app).get(callback)).code).to.equal(400)
    // A HEAD request must not use up the code and the state.
    const peek = await browser.head(callback)
    expect([peek.code, peek.headers.allow]).to.deep.equal([405, 'GET'])
    const back = await browser.get(callback)
    expect([back.code, back.headers.location]).to.deep.equal([303, '/oauth/device'])
    expect((await browser.get('/oauth/session')).body).to.include('You are <strong>alice</strong>')
    expect((await browser.get(callback)).code).to.equal(400)
  })

  it('complete only at the provider that they started with', async () => {
    app.providers.set('evil', provider('evil', away))
    const browser = createBrowser(app)
    const start = await browser.get('/oauth/login/evil?return_to=/oauth/device')
    const { searchParams } = new URL(String(start.headers.location))
    const response = await browser.get(`/oauth/callback/sso?code=alice&state=${searchParams.get('state')}`)
    expect(response.code).to.equal(400)
    expect(lastLine()).to.include({ reason: 'state_mismatch' })
  })
})
