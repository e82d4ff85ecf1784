import { expect } from 'chai'
import { createBrowser, hiddenFieldsOf, locationOf } from '../../pkg/oauth/browser/fixtures.ts'
import { type HttpResponse, sendToKapis, uniqueName } from '../e2e/cluster.ts'
import { component } from '../e2e/control-plane-process.ts'
import { eventually, platformPath, sendAs } from '../e2e/http.ts'
import {
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  parseResponse,
  refresh,
  removeUser,
  type Tokens,
  token,
} from '../e2e/oauth.ts'
import { createClient, removeClient } from '../e2e/oauth-clients.ts'

const redirectUri = 'https://app.test/cb'
const state = 'some state'

/**
 * Logins are stored in kube-apiserver: without it no login can start or end, but existing ones
 * remain valid.
 */
describe('/oauth while kube-apiserver is down', function () {
  this.timeout(120_000)
  const user = { username: uniqueName('down'), password: 'Correct-Horse-1' }
  const client = { name: uniqueName('down-web'), secret: 's', redirectURIs: [redirectUri] }
  const own = { client_id: client.name, client_secret: client.secret }
  const authorize = `/oauth/authorize?${new URLSearchParams({
    client_id: client.name,
    redirect_uri: redirectUri,
    response_type: 'code',
    state,
  })}`
  let tokens: Tokens
  let browser: ReturnType<typeof createBrowser>
  let code: string
  let device_code: string
  let loginPage: HttpResponse
  let stranger: ReturnType<typeof createBrowser>

  const send = (method: string, path: string, sent: object = {}) => sendToKapis(path, { method, ...sent })
  before(async () => {
    await createUser(user)
    await createClient(client)
    tokens = await loginAs(user)
    browser = createBrowser({ send })
    await browser.logIn(user.username, user.password)
    code = locationOf(await browser.get(authorize)).searchParams.get('code') ?? ''
    stranger = createBrowser({ send })
    loginPage = await stranger.get('/oauth/login?return_to=/oauth/session')
    device_code = JSON.parse((await form('/oauth/device_authorization', own)).body).device_code
    await component('stop', 'kube-apiserver')
  })
  after(async () => {
    await component('start', 'kube-apiserver')
    await removeUser(user.username)
    await removeClient(client.name)
  })

  const unavailable = { error: 'temporarily_unavailable', error_description: 'try again in a moment' }
  const device = 'urn:ietf:params:oauth:grant-type:device_code'
  const bearer = (path: string, method = 'GET') => sendAs(tokens.access_token, path, { method })
  const refused: readonly [string, () => Promise<HttpResponse>][] = [
    ['a login with the right password', () => token({ grant_type: 'password', ...user })],
    ['a login with a wrong password', () => token({ grant_type: 'password', ...user, password: 'wrong' })],
    [
      'a login of an unknown user',
      () => token({ grant_type: 'password', username: 'nonexistent', password: 'wrong' }),
    ],
    ['a refresh', () => refresh(tokens.refresh_token)],
    [
      'a code',
      () =>
        form('/oauth/token', { ...own, grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
    ],
    ['the start of a device login', () => form('/oauth/device_authorization', own)],
    ['a poll of a device', () => form('/oauth/token', { ...own, grant_type: device, device_code })],
    ['a revocation', () => form('/oauth/revoke', { ...credentials, token: tokens.refresh_token })],
    [
      'the introspection of a refresh token',
      () => form('/oauth/introspect', { ...credentials, token: tokens.refresh_token }),
    ],
    ['a logout', () => bearer('/oauth/logout')],
    ['a logout', () => bearer('/oauth/logout?all=true')],
    ['the list of personal access tokens', () => bearer('/oauth/personal-access-tokens')],
  ]
  for (const [what, attempt] of refused) {
    it(`returns 503 with Retry-After to ${what}`, async () => {
      const response = await attempt()
      expect(parseResponse(response)).to.deep.equal([503, unavailable])
      expect(Number(response.headers['retry-after'])).to.be.above(0)
      expect(response.headers).to.include({ 'cache-control': 'no-store' })
    })
  }

  it('introspects a token as before', async () => {
    expect(parseResponse(await bearer('/oauth/userinfo'))).to.deep.equal([
      200,
      { sub: user.username, preferred_username: user.username, email: `${user.username}@e2e.test` },
    ])
    const { access_token } = tokens
    const { sid, uid, groups, token_type, scope, ...claims } = claimsOf(access_token)
    expect(
      parseResponse(await form('/oauth/introspect', { ...credentials, token: access_token })),
    ).to.deep.equal([200, { active: true, token_type: 'Bearer', ...claims }])
    for (const path of ['/oauth/keys', '/oauth/.well-known/openid-configuration'])
      expect(await sendToKapis(path)).to.include({ code: 200 })
  })

  it('rejects an unauthorized client as before', async () => {
    expect(parseResponse(await form('/oauth/token', { ...credentials, client_secret: 'x' }))).to.deep.equal([
      401,
      { error: 'invalid_client', error_description: 'invalid client credential' },
    ])
  })

  it('shows a browser an error page', async () => {
    const { code, headers, body } = await stranger.post('/oauth/login', {
      ...hiddenFieldsOf(loginPage.body),
      ...user,
    })
    expect([code, headers['content-type']], body).to.deep.equal([503, 'text/html; charset=utf-8'])
    expect(Number(headers['retry-after'])).to.be.above(0)
    expect(headers['content-security-policy']).to.match(/^default-src 'none'/)
    expect(/<main>[\s\S]*<\/main>/.exec(body)?.[0]).to.equal(`<main>
<p class="product">Kapis</p>
<h1>Request failed</h1>
<p class="error" role="alert" id="error">Logging in is temporarily unavailable.</p>
<p>Go back to the application and try again in a moment.</p>
<a class="button second" href="/oauth/session">Go to your login</a>
</main>`)
  })

  it('keeps a browser logged in', async () => {
    expect(await browser.get('/oauth/session')).to.include({ code: 200 })
    const { origin, pathname, searchParams } = locationOf(await browser.get(authorize))
    expect([origin + pathname, searchParams.get('state')]).to.deep.equal([redirectUri, state])
  })

  it('recovers automatically, and no session has ended', async () => {
    await component('start', 'kube-apiserver')
    await eventually(
      async () => expect(await refresh(tokens.refresh_token)).to.include({ code: 200 }),
      30_000,
    )
    await eventually(async () => {
      expect(await token({ grant_type: 'password', ...user })).to.include({ code: 200 })
      expect(await bearer(platformPath)).to.include({ code: 403 })
    }, 20_000)
    const exchanged = await form('/oauth/token', {
      ...own,
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
    })
    expect(exchanged.code, exchanged.body).to.equal(200)
    expect(await browser.get('/oauth/session')).to.include({ code: 200 })
    const sent = await stranger.post('/oauth/login', { ...hiddenFieldsOf(loginPage.body), ...user })
    expect([sent.code, sent.headers.location]).to.deep.equal([303, '/oauth/session'])
    expect(parseResponse(await bearer('/oauth/logout'))).to.deep.equal([200, { message: 'success' }])
  })
})
