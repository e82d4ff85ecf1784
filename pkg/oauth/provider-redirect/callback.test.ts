import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { RedirectProvider } from '../../iam/identityprovider/external-identity.ts'
import { oidcConfig } from '../../iam/identityprovider/fixtures.ts'
import { createBrowser, locationOf } from '../browser/fixtures.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'

describe('GET /oauth/callback/{idp}', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    app.providers.set('sso', { config: oidcConfig('sso'), client: providerOf('given') })
    app.users.set('given', memoryUser('given', { mustChangePassword: true }))
  })
  after(() => app.close())

  it('shows a user who must change the password first the reason, and does not log in', async () => {
    const browser = createBrowser(app)
    const away = locationOf(await browser.get('/oauth/login/sso?return_to=/oauth/device'))
    const state = away.searchParams.get('state')
    const response = await browser.get(`/oauth/callback/sso?code=x&state=${state}`)
    expect(response.code).to.equal(400)
    expect(response.body)
      .to.include(
        'The password of this user was set by an administrator: log in with it and change it first.',
      )
      .and.include('href="/oauth/login?return_to=%2Foauth%2Fdevice"')
    expect(browser.cookies.has('__Host-kapis-session')).to.equal(false)
    expect(app.sessions.size).to.equal(0)
    expect(app.lines.findLast(({ audit }) => audit === 'callback')).to.include({
      user: 'given',
      provider: 'sso',
      reason: 'password_to_change',
    })
  })

  it('rejects a state that has expired, or was signed for another purpose', async () => {
    const state = 's'.repeat(43)
    const claims = {
      idp: 'sso',
      return_to: '/oauth/device',
      client_id: '',
      scope: '',
      ...{ state, nonce: 'n', verifier: 'v'.repeat(43), redirect: 'https://id.test/cb' },
    }
    const name = `__Host-kapis-provider-login-${createHash('sha256').update(state).digest('hex').slice(0, 16)}`
    const { internalJwts } = app.tools
    const sign = (purpose: 'provider-login' | 'code', lifeSeconds: number, more: object = {}) =>
      internalJwts.sign(purpose, { ...claims, ...more }, { lifeSeconds })
    const send = (value: string) =>
      app.send('GET', `/oauth/callback/sso?code=x&state=${state}`, {
        headers: { cookie: `${name}=${value}` },
      })
    // The error is specific, since the provider has authenticated the user.
    expect(JSON.parse((await send(await sign('provider-login', 600))).body)).to.include({
      error_description:
        'the password of this user was set by an administrator: log in with it and change it first',
    })
    const bad = [
      await sign('provider-login', -600),
      await sign('code', 600),
      await sign('provider-login', 600, { state: 'another' }),
      await sign('provider-login', 600, { idp: 'other' }),
      'garbage',
    ]
    for (const value of bad) {
      const response = await send(value)
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        400,
        {
          error: 'invalid_request',
          error_description:
            'the login was not started in this browser, or more than ten minutes ago; start again',
        },
      ])
      expect(response.headers['cache-control']).to.equal('no-store')
      expect(app.lines.findLast(({ audit }) => audit === 'callback')).to.include({
        provider: 'sso',
        reason: 'state_mismatch',
      })
    }
    expect(app.sessions.size).to.equal(0)
  })

  it('reports immediately a state that is too large for a cookie, and starts no login', async () => {
    const path = (length: number) =>
      `/oauth/login/sso?${new URLSearchParams({ return_to: `/oauth/authorize?state=${'x'.repeat(length)}` })}`
    const good = await app.send('GET', path(2_000))
    const [cookie = ''] = good.headers['set-cookie'] ?? []
    expect([good.code, cookie.indexOf(';') <= 4096]).to.deep.equal([303, true])
    const response = await app.send('GET', path(4_000))
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      400,
      {
        error: 'invalid_request',
        error_description: 'the authorization request is too long for a login with an identity provider',
      },
    ])
    expect(response.headers).to.not.have.any.keys('location', 'set-cookie')
    expect(app.lines.findLast(({ audit }) => audit === 'login')).to.include({ reason: 'request_too_long' })
  })

  it('returns no tokens for a client that was deleted in the meantime', async () => {
    app.clients.set('gone', { client: memoryClient('gone'), secret: 's' })
    const browser = createBrowser(app)
    const away = locationOf(await browser.get('/oauth/login/sso?client_id=gone'))
    app.clients.delete('gone')
    const path = `/oauth/callback/sso?code=x&state=${away.searchParams.get('state')}`
    const response = await app.send('GET', path, {
      headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'the OAuth client was deleted' },
    ])
    expect(app.sessions.size).to.equal(0)
  })
})

function providerOf(uid: string): RedirectProvider {
  return {
    kind: 'redirect',
    redirectUrl: '',
    begin: async ({ state }) => new URL(`https://id.test/auth?state=${state}`),
    finish: async () => ({ uid, username: uid, email: '', displayName: '', groups: undefined }),
  }
}
