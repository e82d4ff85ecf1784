import { expect } from 'chai'
import type * as oidc from 'openid-client'
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { kubectl, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { createPerson } from './kapis.ts'
import { expectUsable, logIn, openAuthorization } from './login-page.ts'
import { createUser, removeUser } from './oauth.ts'
import { createClient, discover, issuerUrl, removeClient } from './oauth-clients.ts'
import { type RelyingParty, startRelyingParty } from './relying-party.ts'
import { setting } from './run.ts'

const password = 'Correct-Horse-1'

/**
 * Opens a window with a virtual authenticator of Chromium (WebAuthn domain of the DevTools
 * protocol).
 */
async function openWithAuthenticator(browser: Browser, options: BrowserContextOptions = {}) {
  const page = await openWindow(browser, { javaScriptEnabled: true, ...options })
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const authenticatorId = await addAuthenticator(devtools)
  return { page, devtools, authenticatorId }
}

async function addAuthenticator(devtools: CDPSession): Promise<string> {
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  return authenticatorId
}

const sizes = [
  ['1280', { viewport: { width: 1280, height: 800 } }],
  ['360', { viewport: { width: 360, height: 640 } }],
] as const

/** Checks the page in both window sizes and both colour schemes. */
async function look(page: Page, name: string): Promise<void> {
  for (const [size, { viewport }] of sizes)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await expectUsable(page)
      await keepScreenshot(page, `${name}-${size}-${colorScheme}`)
    }
}

describe('passkeys in a browser', function () {
  this.timeout(120_000)
  const alice = uniqueName('passkey')
  const web = { name: uniqueName('passkey-web'), secret: 'web-secret' }
  let browser: Browser
  let party: RelyingParty
  let config: oidc.Configuration

  before(async () => {
    party = await startRelyingParty()
    await createUser({ username: alice, password })
    await createClient({ ...web, redirectURIs: [party.redirectUri] })
    config = await discover(web.name, web.secret)
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    party?.close()
    await removeClient(web.name)
    await removeUser(alice)
  })

  it('are added, used, renamed and removed, and rejected when their counter decreases', async () => {
    const { page, devtools, authenticatorId } = await openWithAuthenticator(browser)
    const violations: string[] = []
    page.on('console', message => {
      if (message.type() === 'error') violations.push(message.text())
    })
    // Requesting a second factor for a login with a password (step-up) leads to the page that sets
    // one up.
    let tokens = await openAuthorization(page, config, party)
    await logIn(page, alice)
    expect((await tokens()).claims()).to.deep.include({ amr: ['pwd'], acr: 'sfa' })
    tokens = await openAuthorization(page, config, party, { acr_values: 'mfa' })
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await look(page, 'set-up')
    await page.getByLabel('Name, to tell your passkeys apart').fill('laptop')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    const next = page.getByRole('button', { name: 'I have stored them' })
    await next.waitFor()
    expect(await page.locator('.codes li').allTextContents()).to.have.length(10)
    await next.click()
    const methods = { amr: ['pwd', 'pop', 'user', 'mfa'], acr: 'mfa' }
    expect((await tokens()).claims()).to.deep.include(methods)

    // The next login uses the passkey.
    await page.context().clearCookies()
    tokens = await openAuthorization(page, config, party)
    await logIn(page, alice)
    const button = page.getByRole('button', { name: 'Continue with a passkey' })
    await button.waitFor()
    expect(await page.locator(':focus').textContent()).to.equal('Continue with a passkey')
    await look(page, 'passkey')
    await button.click()
    expect((await tokens()).claims()).to.deep.include(methods)

    // A second passkey requires another authenticator: this one already contains one of the user.
    await page.goto(`${await issuerUrl()}/factors`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByText('This device has a passkey of yours already.').waitFor()
    await look(page, 'known')
    await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    const phone = await addAuthenticator(devtools)
    await page.getByLabel('Name, to tell your passkeys apart').fill('phone')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByText('phone, used').click()
    await look(page, 'factors')
    await page.getByLabel('Name').nth(1).fill('my phone')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('my phone, used').waitFor()
    await page.getByText('laptop, used').click()
    await page.getByRole('button', { name: 'Remove' }).first().click()
    await page.getByText('my phone, used').waitFor()
    expect(await page.getByText('laptop').count()).to.equal(0)

    const secret = ['-n', setting('KAPIS_NAMESPACE'), 'get', 'secret', `kapis-factors-${alice}`]
    const { stdout } = await kubectl(...secret, '-o', 'jsonpath={.data.factors\\.json}')
    const stored = JSON.parse(Buffer.from(stdout, 'base64').toString())
    expect(
      stored.passkeys.map(({ name, transports }: Record<string, unknown>) => [name, transports]),
    ).to.deep.equal([['my phone', ['internal']]])

    // Simulates a copy of the key, whose signature counter is behind.
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId: phone })
    const [credential] = credentials
    if (credential === undefined) return expect.fail('the authenticator has no credential')
    const { credentialId } = credential
    const toPhone = { authenticatorId: phone }
    await devtools.send('WebAuthn.removeCredential', { ...toPhone, credentialId })
    await devtools.send('WebAuthn.addCredential', { ...toPhone, credential: { ...credential, signCount: 0 } })
    await page.context().clearCookies()
    await openAuthorization(page, config, party)
    await logIn(page, alice)
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await page.getByText('since it may have been copied').waitFor()
    await look(page, 'copied')
    expect(violations.filter(text => !text.includes('status of 400'))).to.deep.equal([])
  })

  it('are replaced by a recovery code without JavaScript, and reset by an administrator', async () => {
    const page = await openWindow(browser, { viewport: { width: 360, height: 640 } })
    await openAuthorization(page, config, party)
    await logIn(page, alice)
    await page.getByText('Your passkey requires JavaScript').waitFor()
    expect(await page.getByRole('button', { name: 'Continue with a passkey' }).count()).to.equal(0)
    await keepScreenshot(page, 'passkey-without-javascript')
    // A browser with JavaScript whose device has no passkey.
    const other = await openWithAuthenticator(browser)
    await openAuthorization(other.page, config, party)
    await logIn(other.page, alice)
    await other.page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await other.page.getByText('No passkey was used').waitFor()
    await look(other.page, 'not-used')

    const admin = createPerson('passkey-admin')
    const login = ['login', '-u', setting('KAPIS_USER')]
    expect((await admin.kapis(login, { stdin: `${setting('KAPIS_PASSWORD')}\n` })).code).to.equal(0)
    expect((await admin.kapis(['user', 'reset-factors', alice])).code).to.equal(0)
    const fresh = await openWindow(browser)
    await eventually(async () => {
      const tokens = await openAuthorization(fresh, config, party)
      await logIn(fresh, alice)
      expect((await tokens()).claims()).to.deep.include({ acr: 'sfa' })
    }, 5_000)
  })
})
