import { expect } from 'chai'
import type { ProviderClient } from '../../iam/identityprovider/external-identity.ts'
import { oidcConfig } from '../../iam/identityprovider/fixtures.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient } from '../memory-fixtures.ts'
import { createBrowser, hiddenFieldsOf, locationOf } from './fixtures.ts'

const bye = 'https://app.test/bye'
const upstream: ProviderClient = {
  kind: 'redirect',
  redirectUrl: '',
  begin: async ({ state }) => new URL(`https://id.test/auth?state=${state}`),
  finish: async () => ({
    uid: 'alice',
    username: 'alice',
    email: '',
    displayName: '',
    groups: undefined,
    idToken: 'a.b.c',
  }),
  logoutUrl: logout => new URL(`https://id.test/end?${new URLSearchParams(logout)}`),
}

describe('logouts that continue at the identity provider', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    app.providers.set('sso', { config: oidcConfig('sso'), client: upstream })
    const client = memoryClient('app', { postLogoutRedirectURIs: [bye] })
    app.clients.set('app', { client, secret: 'app' })
  })
  after(() => app.close())

  async function logIn() {
    const browser = createBrowser(app)
    const away = locationOf(await browser.get('/oauth/login/sso?return_to=/oauth/session'))
    await browser.get(`/oauth/callback/sso?code=x&state=${away.searchParams.get('state')}`)
    return browser
  }

  it('send the ID token after the logout button, and return to the logout page', async () => {
    const browser = await logIn()
    const page = await browser.get('/oauth/session')
    expect(page.headers['content-security-policy']).to.include("form-action 'self' https://id.test;")
    expect(browser.cookies.get('__Host-kapis-upstream-login')).to.equal('a.b.c')
    const sent = locationOf(await browser.post('/oauth/session', hiddenFieldsOf(page.body)))
    expect([...browser.cookies.keys()]).to.deep.equal(['__Host-kapis-form'])
    const { state, ...rest } = Object.fromEntries(sent.searchParams)
    expect([sent.origin, rest.idToken]).to.deep.equal(['https://id.test', 'a.b.c'])
    expect(rest.returnUri).to.match(/\/oauth\/logged-out$/)
    const back = await browser.get(`/oauth/logged-out?state=${state}`)
    expect(back.body).to.include('You are logged out')
    expect((await browser.get('/oauth/session')).code).to.equal(302)
  })

  it('redirect from there to the post-logout URI of a client', async () => {
    const browser = await logIn()
    const { access_token } = await app.login('alice', { client_id: 'app', client_secret: 'app' })
    const query = new URLSearchParams({ post_logout_redirect_uri: bye, state: 'x' })
    const headers = { authorization: `Bearer ${access_token}` }
    const sent = locationOf(await browser.get(`/oauth/logout?${query}`, headers))
    expect(sent.origin).to.equal('https://id.test')
    const back = await browser.get(`/oauth/logged-out?state=${sent.searchParams.get('state')}`)
    expect([back.code, back.headers.location]).to.deep.equal([302, `${bye}?state=x`])
  })

  it('do not redirect to an unsigned state', async () => {
    for (const state of ['https://evil.test/', 'e30.e30.e30', '']) {
      const response = await createBrowser(app).get(`/oauth/logged-out?${new URLSearchParams({ state })}`)
      expect([response.code, response.headers.location]).to.deep.equal([200, undefined])
    }
  })
})
