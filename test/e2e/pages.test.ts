import { expect } from 'chai'
import * as oidc from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { uniqueName } from './cluster.ts'
import { logIn } from './login-page.ts'
import { claimsOf, createUser, patchUser, removeUser } from './oauth.ts'
import { createClient, discover, issuerUrl, removeClient } from './oauth-clients.ts'
import { type RelyingParty, startRelyingParty } from './relying-party.ts'
import { setting } from './run.ts'

const password = 'Correct-Horse-1'

type PendingLogin = {
  readonly url: URL
  readonly checks: oidc.AuthorizationCodeGrantChecks & { expectedState: string; expectedNonce: string }
}

/** Creates an authorization request with openid-client, and the checks of its response. */
async function beginCode(
  config: oidc.Configuration,
  redirectUri: string,
  more: Readonly<Record<string, string>> = {},
): Promise<PendingLogin> {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  const expectedState = oidc.randomState()
  const expectedNonce = oidc.randomNonce()
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...more,
  })
  return { url, checks: { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true } }
}

// A string, since this program does not include the types of a browser.
const widthOfPage = 'document.documentElement.scrollWidth'

const headingOf = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

describe('pages in a browser', function () {
  this.timeout(180_000)
  const alice = uniqueName('alice')
  const newcomer = uniqueName('new')
  const web = { name: uniqueName('web'), secret: 'web-secret' }
  const asks = { name: uniqueName('asks'), secret: 'asks-secret', grantMethod: 'prompt' }
  const native = { name: uniqueName('native'), public: true, redirectURIs: ['http://127.0.0.1/callback'] }
  let browser: Browser
  let party: RelyingParty
  let config: oidc.Configuration
  let issuer: string

  before(async () => {
    party = await startRelyingParty()
    const redirectURIs = [party.redirectUri]
    const postLogoutRedirectURIs = [`${party.origin}/bye`]
    await createUser({ username: alice, password }, { displayName: 'Alice A.' })
    await createUser({ username: newcomer, password })
    const annotation = { [`iam.${setting('KAPIS_GROUP_DOMAIN')}/uninitialized`]: 'true' }
    await patchUser(newcomer, { metadata: { annotations: annotation } })
    await createClient({ ...web, redirectURIs, postLogoutRedirectURIs })
    await createClient({ ...asks, redirectURIs })
    await createClient(native)
    issuer = await issuerUrl()
    config = await discover(web.name, web.secret)
    // Also verifies the signature of ID tokens, which is optional for tokens received directly from
    // the issuer.
    oidc.enableNonRepudiationChecks(config)
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    party?.close()
    for (const { name } of [web, asks, native]) await removeClient(name)
    for (const name of [alice, newcomer]) await removeUser(name)
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })

  it('log in without JavaScript, reject a wrong password, and return tokens to openid-client', async () => {
    const page = await openWindow(browser)
    const { url, checks } = await beginCode(config, party.redirectUri)
    await page.goto(url.href)
    expect(await headingOf(page)).to.equal('Log in')
    await keepScreenshot(page, 'login')
    await logIn(page, alice, 'Wrong-Password-1')
    expect(await page.getByRole('alert').textContent()).to.equal('The user name or the password is wrong.')
    await keepScreenshot(page, 'login-wrong')
    const said = await page.locator('main').textContent()
    await logIn(page, 'nonexistent-user', 'Wrong-Password-1')
    expect(await page.locator('main').textContent()).to.equal(said)
    await logIn(page, alice)
    await page.getByText('Back at the client').waitFor()
    const callback = await party.callback()
    const tokens = await oidc.authorizationCodeGrant(config, callback, checks)
    expect(tokens.claims()).to.include({
      iss: issuer,
      sub: alice,
      aud: web.name,
      nonce: checks.expectedNonce,
      name: 'Alice A.',
      preferred_username: alice,
      email: `${alice}@e2e.test`,
    })
    expect(await oidc.fetchUserInfo(config, tokens.access_token, alice)).to.include({ sub: alice })
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(claimsOf(refreshed.access_token).sid).to.equal(tokens.claims()?.sid)
    // Claims that must not change in a refresh (OpenID Connect Core section 12.2).
    for (const claim of ['iss', 'sub', 'aud', 'auth_time', 'sid', 'name', 'email'])
      expect(refreshed.claims()?.[claim], claim).to.deep.equal(tokens.claims()?.[claim])
    // A code is valid once; redeeming it again ends the login.
    const replay = await oidc.authorizationCodeGrant(config, callback, checks).catch(error => error.error)
    expect(replay).to.equal('invalid_grant')
    const ended = await oidc
      .refreshTokenGrant(config, refreshed.refresh_token ?? '')
      .catch(error => error.error)
    expect(ended).to.equal('invalid_grant')
  })

  it('are usable with only the keyboard', async () => {
    const page = await openWindow(browser)
    const { url, checks } = await beginCode(config, party.redirectUri)
    await page.goto(url.href)
    // Waits for the focus in the first field.
    await page.locator('#username:focus').waitFor()
    await page.keyboard.type(alice)
    await page.keyboard.press('Tab')
    await page.locator('#password:focus').waitFor()
    await page.keyboard.type(password)
    await page.keyboard.press('Tab')
    await page.locator('button:focus').waitFor()
    await keepScreenshot(page, 'login-focus')
    await page.keyboard.press('Enter')
    const tokens = await oidc.authorizationCodeGrant(config, await party.callback(), checks)
    expect(tokens.claims()?.sub).to.equal(alice)
  })

  it('log in for all clients, and log out of all', async () => {
    const page = await openWindow(browser)
    const first = await beginCode(config, party.redirectUri)
    await page.goto(first.url.href)
    await logIn(page, alice)
    const tokens = await oidc.authorizationCodeGrant(config, await party.callback(), first.checks)
    const silent = await beginCode(config, party.redirectUri, { prompt: 'none' })
    await page.goto(silent.url.href)
    await oidc.authorizationCodeGrant(config, await party.callback(), silent.checks)
    await page.goto(new URL('/oauth/session', issuer).href)
    expect(await page.locator('main').textContent()).to.include(`You are Alice A. (${alice}).`)
    await keepScreenshot(page, 'session')
    const out = oidc.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: `${party.origin}/bye`,
      state: 'x',
    })
    await page.goto(out.href)
    expect(page.url()).to.equal(`${party.origin}/bye?state=x`)
    const again = await beginCode(config, party.redirectUri, { prompt: 'none' })
    await page.goto(again.url.href)
    const refused = await oidc
      .authorizationCodeGrant(config, await party.callback(), again.checks)
      .catch(error => error.error)
    expect(refused).to.equal('login_required')
  })

  it('ask for confirmation before a client logs out an unnamed user, also with a same-site form', async () => {
    const page = await openWindow(browser)
    const first = await beginCode(config, party.redirectUri)
    await page.goto(first.url.href)
    await logIn(page, alice)
    const tokens = await oidc.authorizationCodeGrant(config, await party.callback(), first.checks)
    const bye = { post_logout_redirect_uri: `${party.origin}/bye`, state: 'x' }
    const sendForm = async (fields: Readonly<Record<string, string>>) => {
      const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`)
      const action = new URL('/oauth/logout', issuer).href
      party.pages.set('/out', `<form method="post" action="${action}">${inputs}<button>Out</button></form>`)
      await page.goto(`${party.origin}/out`)
      await page.getByRole('button', { name: 'Out' }).click()
    }
    const query = new URLSearchParams({ client_id: web.name, ...bye })
    await page.goto(new URL(`/oauth/logout?${query}`, issuer).href)
    expect(await headingOf(page)).to.equal('Log out?')
    await keepScreenshot(page, 'logout')
    await page.getByRole('button', { name: 'Stay logged in' }).click()
    expect(page.url()).to.equal(`${party.origin}/bye?state=x`)
    await sendForm({ client_id: web.name, ...bye })
    expect(await headingOf(page)).to.equal('Log out?')
    await page.getByRole('button', { name: 'Log out' }).click()
    expect(page.url()).to.equal(`${party.origin}/bye?state=x`)
    await page.goto(new URL('/oauth/session', issuer).href)
    expect(await headingOf(page)).to.equal('Log in')
    await logIn(page, alice)
    await sendForm({ id_token_hint: tokens.id_token ?? '', ...bye })
    expect(page.url()).to.equal(`${party.origin}/bye?state=x`)
    await page.goto(new URL('/oauth/session', issuer).href)
    expect(await headingOf(page)).to.equal('Log in')
    await logIn(page, alice)
    await page.goto(new URL(`/oauth/logout?id_token_hint=x`, issuer).href)
    await keepScreenshot(page, 'logout-error')
    await page.getByRole('link', { name: 'Log out of this platform' }).click()
    expect(await headingOf(page)).to.equal('You are logged in')
  })

  it('log out with a button, and confirm it', async () => {
    const page = await openWindow(browser)
    await page.goto(new URL('/oauth/session', issuer).href)
    await logIn(page, alice)
    await page.getByRole('button', { name: 'Log out' }).click()
    expect(await headingOf(page)).to.equal('You are logged out')
    await keepScreenshot(page, 'logged-out')
    await page.goto(new URL('/oauth/session', issuer).href)
    expect(await headingOf(page)).to.equal('Log in')
  })

  it('ask for consent before a client with grantMethod prompt receives anything', async () => {
    const page = await openWindow(browser)
    const own = await discover(asks.name, asks.secret)
    const refused = await beginCode(own, party.redirectUri)
    await page.goto(refused.url.href)
    await logIn(page, alice)
    expect(await headingOf(page)).to.equal(`Allow ${asks.name}?`)
    await keepScreenshot(page, 'consent')
    await page.getByRole('button', { name: 'Deny' }).click()
    const outcome = await oidc
      .authorizationCodeGrant(own, await party.callback(), refused.checks)
      .catch(error => error.error)
    expect(outcome).to.equal('access_denied')
    const allowed = await beginCode(own, party.redirectUri)
    await page.goto(allowed.url.href)
    await page.getByRole('button', { name: 'Allow' }).click()
    await oidc.authorizationCodeGrant(own, await party.callback(), allowed.checks)
    const remembered = await beginCode(own, party.redirectUri)
    await page.goto(remembered.url.href)
    await oidc.authorizationCodeGrant(own, await party.callback(), remembered.checks)
  })

  it('require a new password after an administrator has set one', async () => {
    const page = await openWindow(browser)
    const { url, checks } = await beginCode(config, party.redirectUri)
    await page.goto(url.href)
    await logIn(page, newcomer)
    expect(await headingOf(page)).to.equal('Change your password')
    await page.getByLabel('New password').fill('alllowercase1')
    await page.getByLabel('The same again').fill('alllowercase1')
    await page.getByRole('button', { name: 'Change password' }).click()
    expect(await page.getByRole('alert').textContent()).to.match(/^The password must have 8 to 64 characters/)
    await keepScreenshot(page, 'password')
    await page.getByLabel('New password').fill('My-Own-Choice-2')
    await page.getByLabel('The same again').fill('My-Own-Choice-2')
    await page.getByRole('button', { name: 'Change password' }).click()
    const tokens = await oidc.authorizationCodeGrant(config, await party.callback(), checks)
    expect(tokens.claims()?.sub).to.equal(newcomer)
    const other = await openWindow(browser)
    await other.goto(new URL('/oauth/session', issuer).href)
    await logIn(other, newcomer, password)
    expect(await other.getByRole('alert').textContent()).to.equal('The user name or the password is wrong.')
    await logIn(other, newcomer, 'My-Own-Choice-2')
    expect(await headingOf(other)).to.equal('You are logged in')
  })

  it('log in a native app on its loopback port, without a secret', async () => {
    const page = await openWindow(browser)
    const own = await oidc.discovery(new URL(issuer), native.name, undefined, oidc.None())
    const { url, checks } = await beginCode(own, party.redirectUri)
    await page.goto(url.href)
    await logIn(page, alice)
    const tokens = await oidc.authorizationCodeGrant(own, await party.callback(), checks)
    expect(tokens.claims()?.sub).to.equal(alice)
  })

  it('log in a device without a browser', async () => {
    const page = await openWindow(browser)
    const own = await oidc.discovery(new URL(issuer), native.name, undefined, oidc.None())
    const device = await oidc.initiateDeviceAuthorization(own, { scope: 'openid' })
    const polled = oidc.pollDeviceAuthorizationGrant(own, device)
    await page.goto(device.verification_uri)
    await logIn(page, alice)
    await page.getByLabel('Code').fill('BCDF-GHJK')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.getByRole('alert').textContent()).to.equal('Unknown or expired code.')
    await page.getByLabel('Code').fill(device.user_code.toLowerCase())
    await keepScreenshot(page, 'device-code')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.locator('.code').textContent()).to.equal(device.user_code)
    await keepScreenshot(page, 'device')
    await page.getByRole('button', { name: 'Log the device in' }).click()
    expect(await headingOf(page)).to.equal('Done')
    const tokens = await polled
    expect(tokens.claims()).to.include({ sub: alice, aud: native.name })

    const refused = await oidc.initiateDeviceAuthorization(own, {})
    await page.goto(refused.verification_uri_complete ?? '')
    expect(await page.locator('.code').textContent()).to.equal(refused.user_code)
    await page.getByRole('button', { name: 'Deny' }).click()
    expect(await headingOf(page)).to.equal('Refused')
    const outcome = await oidc.pollDeviceAuthorizationGrant(own, refused).catch(error => error.error)
    expect(outcome).to.equal('access_denied')
  })

  it('fit a small screen, in light and in dark', async () => {
    const grounds: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 360, height: 640 }
      // JavaScript is required for the measurements; the only script of the page is the one that
      // shows passwords.
      const page = await openWindow(browser, { viewport, colorScheme, javaScriptEnabled: true })
      const problems: string[] = []
      page.on('console', message => problems.push(message.text()))
      await page.goto(new URL(`/oauth/login?return_to=/oauth/device`, issuer).href)
      const ground = String(
        await page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor"),
      )
      const width = await page.evaluate(widthOfPage)
      expect(width).to.equal(360)
      const button = await page.getByRole('button', { name: 'Log in' }).boundingBox()
      expect(button?.height).to.be.at.least(44)
      grounds.push(ground)
      await logIn(page, 'x', 'y')
      await keepScreenshot(page, `login-360-${colorScheme}`)
      await logIn(page, alice)
      await keepScreenshot(page, `device-360-${colorScheme}`)
      expect(await page.evaluate(widthOfPage)).to.equal(360)
      expect(problems.filter(text => !text.includes('400'))).to.deep.equal([])
    }
    expect(grounds[0]).to.not.equal(grounds[1])
  })

  it('show a password while it is typed, and hide it before it is sent', async () => {
    const page = await openWindow(browser, { javaScriptEnabled: true })
    await page.goto(new URL('/oauth/session', issuer).href)
    const field = page.getByLabel('Password')
    await field.fill('typed')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await field.getAttribute('type')).to.equal('text')
    expect(await field.inputValue()).to.equal('typed')
    await keepScreenshot(page, 'password-shown')
    const button = await page.getByRole('button', { name: 'Hide' }).boundingBox()
    expect(button?.height).to.be.at.least(44)
    await logIn(page, alice)
    expect(await headingOf(page)).to.equal('You are logged in')
  })

  it('cannot be framed (clickjacking)', async () => {
    const page = await openWindow(browser)
    const login = new URL('/oauth/login', issuer).href
    party.pages.set('/frame', `<!doctype html><title>evil</title><iframe src="${login}"></iframe>`)
    await page.goto(`${party.origin}/frame`)
    const [, frame] = page.frames()
    expect(frame).to.not.equal(undefined)
    expect(await frame?.getByLabel('Password').count()).to.equal(0)
  })

  it('reject cross-site forms (login CSRF)', async () => {
    const page = await openWindow(browser)
    // The browser has the cookie of the CSRF protection, but the other site cannot read the token.
    await page.goto(new URL('/oauth/login', issuer).href)
    const fields = { username: alice, password, return_to: '/oauth/session', csrf: 'x'.repeat(43) }
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`)
    const action = new URL('/oauth/login', issuer).href
    const form = `<form method="post" action="${action}">${inputs.join('')}<button>Go</button></form>`
    party.pages.set('/evil', `<!doctype html><title>evil</title>${form}`)
    await page.goto(`${party.origin}/evil`)
    await page.getByRole('button', { name: 'Go' }).click()
    expect(await headingOf(page)).to.equal('Request failed')
    await keepScreenshot(page, 'error')
    await page.goto(new URL('/oauth/session', issuer).href)
    expect(await headingOf(page)).to.equal('Log in')
  })

  it('never redirect to a URI that the client has not registered', async () => {
    const page = await openWindow(browser)
    const { url } = await beginCode(config, `${party.origin}/evil`)
    const response = await page.goto(url.href)
    expect([response?.status(), new URL(page.url()).origin]).to.deep.equal([400, new URL(issuer).origin])
    expect(await headingOf(page)).to.equal('Request failed')
  })
})
