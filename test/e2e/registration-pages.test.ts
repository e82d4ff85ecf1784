import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { startOpenIdProvider, upstreamClient } from '../peers/openid-provider.ts'
import { authorityPem } from '../peers/tls-server.ts'
import { createUserAgent } from '../peers/user-agent.ts'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { kubectlJson, kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import {
  applyProvider,
  linkOf,
  openIdDocument,
  personAt,
  removeProvider,
  users,
} from './identity-provider.ts'
import { createUser, form, removeUser } from './oauth.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { setting } from './run.ts'

const password = 'Correct-Horse-1'
const headingOf = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()
const alertOf = (page: Page) => page.getByRole('alert').textContent()

describe('pages for first logins through an identity provider, in a browser', function () {
  this.timeout(180_000)
  const provider = uniqueName('newcomer')
  const ann = uniqueName('ann')
  const bea = uniqueName('bea')
  const cleo = uniqueName('cleo')
  const local = uniqueName('local')
  const given = uniqueName('given')
  const bound = uniqueName('bound')
  const binding = uniqueName('newcomer-bound')
  const app = { name: uniqueName('app'), secret: 'app secret', redirectURIs: ['https://app.test/cb'] }
  const bye = 'https://app.test/bye'
  let browser: Browser
  let upstream: Awaited<ReturnType<typeof startOpenIdProvider>>
  let issuer: string

  /**
   * Configures the provider, and polls the public configuration until kapis-oauth has loaded it.
   */
  async function configure(mappingMethod: string, changes: object = {}, oidc: object = {}): Promise<void> {
    const shown = { displayName: 'Corp account', disableLoginConfirmation: false }
    await applyProvider(openIdDocument(provider, upstream, { ...shown, mappingMethod, ...changes }, oidc))
    await eventually(async () => {
      const { body } = await sendToKapis(
        `/kapis/config.${setting('KAPIS_GROUP_DOMAIN')}/v1alpha2/configs/oauth`,
      )
      const known = JSON.parse(body).identityProviders.find(({ name }: { name: string }) => name === provider)
      expect(known).to.include({ mappingMethod })
    }, 20_000)
  }

  before(async () => {
    issuer = await issuerUrl()
    upstream = await startOpenIdProvider(
      [`${issuer}/callback/${provider}`],
      [ann, bea, cleo].map(sub => personAt(sub)),
    )
    await createUser({ username: local, password })
    await createUser({ username: given, password })
    const uninitialized = `iam.${setting('KAPIS_GROUP_DOMAIN')}/uninitialized=true`
    await kubectlOutput('annotate', users, given, uninitialized)
    await kubectlOutput('create', 'clusterrolebinding', binding, '--clusterrole=view', `--user=${bound}`)
    await createClient({ ...app, postLogoutRedirectURIs: [bye] })
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    await removeProvider(provider)
    await removeClient(app.name)
    await kubectlOutput('delete', 'clusterrolebinding', binding, '--ignore-not-found')
    for (const name of [ann, bea, cleo, local, given, `${ann}-chosen`]) await removeUser(name)
    upstream?.close()
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })

  /** Logs in from the login page through the provider to the next page. */
  async function arrive(page: Page, sub: string, returnTo = '/oauth/session'): Promise<void> {
    await page.goto(`${issuer}/login?${new URLSearchParams({ return_to: returnTo })}`)
    await page.getByRole('link', { name: 'Corp account' }).click()
    await page.locator('input[name=login]').fill(sub)
    await page.locator('input[name=password]').fill('any')
    await page.getByRole('button').first().click()
    // The consent page of the provider.
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' })
    await page.getByRole('button').first().click()
  }

  it('ask for a free user name at a first login', async () => {
    await configure('auto')
    const page = await openWindow(browser)
    await arrive(page, ann)
    expect(await headingOf(page)).to.equal('Your first login')
    const said = await page.locator('main').textContent()
    expect(said).to.include(`You are ${ann} at Corp account, and log in here for the first time.`)
    expect(said).to.include(`Your e-mail address: ${ann}@example.com`)
    const name = page.getByLabel('User name')
    expect(await name.inputValue()).to.equal(ann)
    await page.locator('#username:focus').waitFor()
    await keepScreenshot(page, 'first-login')
    const refused: readonly (readonly [string, string])[] = [
      [local, `The user name ${local} is taken; choose another one.`],
      [bound, `The user name ${bound} is reserved; choose another one.`],
      [
        'Not A Name',
        'The user name must be a DNS-1123 subdomain of at most 63 characters: lower-case letters, digits, "-" and ".".',
      ],
      [
        'system:admin',
        'The user name must be a DNS-1123 subdomain of at most 63 characters: lower-case letters, digits, "-" and ".".',
      ],
    ]
    for (const [typed, why] of refused) {
      await name.fill(typed)
      await page.getByRole('button', { name: 'Create my user' }).click()
      expect(await alertOf(page)).to.equal(why)
      expect(await name.inputValue()).to.equal(typed)
    }
    await keepScreenshot(page, 'first-login-wrong')
    await name.fill(`${ann}-chosen`)
    // Uses only the keyboard.
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'You are logged in' }).waitFor()
    expect(await page.locator('main').textContent()).to.include(`You are A Person (${ann}-chosen).`)
    const user = Object(await kubectlJson('get', users, `${ann}-chosen`))
    expect(user.metadata.annotations).to.have.property(linkOf(provider), ann)
    expect(user.spec).to.deep.equal({ email: `${ann}@example.com`, displayName: 'A Person' })
    expect(user.status.providerGroups[0]).to.deep.include({ provider, groups: ['blue'] })
    // From now on, a login at the provider is sufficient.
    const again = await openWindow(browser)
    await arrive(again, ann)
    expect(await headingOf(again)).to.equal('You are logged in')
  })

  it('create no user if the browser does not continue', async () => {
    const page = await openWindow(browser)
    await arrive(page, bea)
    expect(await headingOf(page)).to.equal('Your first login')
    await page.getByRole('link', { name: 'Log in with another account' }).click()
    expect(await headingOf(page)).to.equal('Log in')
    expect(await kubectlOutput('get', users, bea, '--ignore-not-found')).to.equal('')
  })

  it('have a CSP without scripts, and reject cross-site forms', async () => {
    const agent = createUserAgent([authorityPem, readFileSync(setting('KAPIS_CA'), 'utf8')], 'text/html')
    for (const path of ['register', 'link']) {
      const response = await form(
        `/oauth/${path}`,
        { username: 'evil', ticket: 'x', csrf: 'x'.repeat(43) },
        { accept: 'text/html' },
      )
      expect(response.code).to.equal(403)
      expect(response.headers['content-security-policy']).to.match(/^default-src 'none'; style-src 'self'; /)
      expect(response.body).to.include('The form did not come from this browser')
      // After an invalid ticket, the user has to start again at the login page.
      const login = await agent.open(`${issuer}/login`)
      const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(login.body) ?? []
      const forged = { ...login, body: `<form action="/oauth/${path}">` }
      const last = await agent.submit(forged, { csrf, username: 'evil', password, ticket: 'e30.e30.e30' })
      expect([last.code, last.url.pathname]).to.deep.equal([200, '/oauth/login'])
    }
  })

  it('link a user only with its password', async () => {
    await configure('manual')
    const page = await openWindow(browser)
    await arrive(page, bea)
    expect(await headingOf(page)).to.equal('Link your user')
    expect(await page.locator('main').textContent()).to.include(
      `No user here belongs to ${bea} at Corp account.`,
    )
    await keepScreenshot(page, 'link')
    const attempt = async (username: string, secret: string) => {
      await page.getByLabel('User name or e-mail address').fill(username)
      await page.getByLabel('Password').fill(secret)
      await page.getByRole('button', { name: 'Link my user' }).click()
    }
    await attempt(local, 'wrong')
    expect(await alertOf(page)).to.equal('The user name or the password is wrong.')
    const said = await page.locator('main').textContent()
    await attempt('nonexistent-user', 'wrong')
    expect(await page.locator('main').textContent()).to.equal(said)
    await attempt(given, password)
    expect(await alertOf(page)).to.equal(
      'The password of this user was set by an administrator: log in with it and change it first.',
    )
    await attempt(`${local}@e2e.test`, password)
    expect(await headingOf(page)).to.equal('You are logged in')
    expect(await page.locator('main').textContent()).to.include(`You are ${local}.`)
    expect(Object(await kubectlJson('get', users, local)).metadata.annotations).to.have.property(
      linkOf(provider),
      bea,
    )
    const again = await openWindow(browser)
    await arrive(again, bea)
    expect(await again.locator('main').textContent()).to.include(`You are ${local}.`)
    // A user may be linked to one account of this provider.
    const other = await openWindow(browser)
    await arrive(other, cleo)
    await other.getByLabel('User name or e-mail address').fill(local)
    await other.getByLabel('Password').fill(password)
    await other.getByRole('button', { name: 'Link my user' }).click()
    expect(await alertOf(other)).to.equal(
      `The user ${local} is linked to another account of Corp account; an administrator can change that.`,
    )
  })

  it('explain to a user who must change the password first what to do', async () => {
    await kubectlOutput('annotate', users, given, `${linkOf(provider)}=${cleo}`)
    await eventually(async () => {
      const page = await openWindow(browser)
      await arrive(page, cleo)
      expect(await headingOf(page)).to.equal('You are not logged in')
      expect(await alertOf(page)).to.equal(
        'The password of this user was set by an administrator: log in with it and change it first.',
      )
    }, 20_000)
  })

  it('log out at the provider, too, if it is configured', async () => {
    await configure('auto', {}, { endpoint: { endSessionURL: `${upstream.url}/session/end` } })
    const page = await openWindow(browser)
    await arrive(page, bea)
    await page.getByRole('button', { name: 'Log out' }).click()
    const sent = new URL(page.url())
    expect(sent.origin + sent.pathname).to.equal(`${upstream.url}/session/end`)
    expect(Object.fromEntries(sent.searchParams)).to.include({
      client_id: upstreamClient.clientID,
      post_logout_redirect_uri: `${issuer}/logged-out`,
    })
    expect(sent.searchParams.get('id_token_hint')).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    await page.getByRole('button', { name: /yes/i }).click()
    expect(await headingOf(page)).to.equal('You are logged out')
    expect(new URL(page.url()).pathname).to.equal('/oauth/logged-out')
    // The provider is configured to require another login.
    await page.goto(`${issuer}/login?return_to=/oauth/session`)
    await page.getByRole('link', { name: 'Corp account' }).click()
    expect(await page.locator('input[name=login]').count()).to.equal(1)
  })
})
