import { expect } from 'chai'
import type * as oidc from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { totpCode } from '../../pkg/iam/factors/fixtures.ts'
import { keepScreenshot, openWindow, startChromium } from './chromium.ts'
import { kubectl, uniqueName } from './cluster.ts'
import { eventually, groupDomain } from './http.ts'
import { createPerson } from './kapis.ts'
import { expectUsable, logIn, openAuthorization } from './login-page.ts'
import { claimsOf, createUser, loginAs, refresh, removeUser, token } from './oauth.ts'
import { createClient, discover, issuerUrl, removeClient } from './oauth-clients.ts'
import { type RelyingParty, startRelyingParty } from './relying-party.ts'
import { setting } from './run.ts'

const password = 'Correct-Horse-1'
const viewport = { width: 360, height: 640 }

/** Sets up an authenticator app. @returns the code that was used, and the recovery codes */
async function setUp(page: Page): Promise<{ used: string; codes: readonly string[] }> {
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  const uri = new URL(String(await page.getByRole('link', { name: 'Open an app' }).getAttribute('href')))
  const secret = uri.searchParams.get('secret') ?? ''
  const used = totpCode(secret)
  await page.getByLabel('Code that the app shows').fill(used)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('button', { name: 'I have stored them' }).waitFor()
  const codes = await page.locator('.codes li').allTextContents()
  expect(codes).to.have.length(10)
  return { used, codes }
}

describe('second factors in a browser', function () {
  this.timeout(120_000)
  const alice = uniqueName('factor')
  const web = { name: uniqueName('factor-web'), secret: 'web-secret' }
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

  it('are set up for acr_values without JavaScript, required from then on, and reset by an administrator', async () => {
    expect(config.serverMetadata().acr_values_supported).to.include('mfa')
    const before = await loginAs({ username: alice, password })
    const page = await openWindow(browser, { viewport })
    let tokens = await openAuthorization(page, config, party)
    await logIn(page, alice)
    expect((await tokens()).claims()).to.deep.include({ amr: ['pwd'], acr: 'sfa' })
    // Requests a second factor for the existing login (step-up).
    tokens = await openAuthorization(page, config, party, { acr_values: 'mfa' })
    await expectUsable(page)
    await keepScreenshot(page, 'totp-360')
    const { used, codes } = await setUp(page)
    await expectUsable(page)
    await page.getByRole('button', { name: 'I have stored them' }).click()
    const claims = (await tokens()).claims()
    expect(claims).to.deep.include({ amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' })

    const refused = await token({ grant_type: 'password', username: alice, password })
    expect([refused.code, JSON.parse(refused.body)]).to.deep.equal([
      400,
      {
        error: 'invalid_grant',
        error_description: 'this user needs a second factor: log in with a browser',
      },
    ])

    // In another browser in dark mode: a code that was already used, and then a recovery code.
    const other = await openWindow(browser, { viewport, colorScheme: 'dark' })
    tokens = await openAuthorization(other, config, party)
    await logIn(other, alice)
    await expectUsable(other)
    await keepScreenshot(other, 'factor-360-dark')
    await other.getByLabel('Code', { exact: true }).fill(used)
    await other.getByRole('button', { name: 'Continue', exact: true }).click()
    expect(await other.getByRole('alert').textContent()).to.equal('The code is wrong, or was used before.')
    await other.getByText('Use a recovery code').click()
    await other.getByLabel('Recovery code').fill(codes[0] ?? '')
    await other.getByRole('button', { name: 'Continue with a recovery code' }).click()
    const granted = await tokens()
    expect(granted.claims()).to.deep.include({ amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' })
    expect(claimsOf(granted.access_token)).to.deep.include({ amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' })
    await other.goto(`${await issuerUrl()}/factors`)
    await other.getByText('9 codes are left').waitFor()
    await expectUsable(other)
    await keepScreenshot(other, 'factors-360-dark')

    const admin = createPerson('factor-admin')
    const login = ['login', '-u', setting('KAPIS_USER')]
    expect((await admin.kapis(login, { stdin: `${setting('KAPIS_PASSWORD')}\n` })).code).to.equal(0)
    const reset = await admin.kapis(['user', 'reset-factors', alice])
    expect([reset.code, reset.stderr]).to.deep.equal([
      0,
      `second factors of user ${alice} removed; all their logins have ended\n`,
    ])
    await eventually(async () => {
      for (const { refresh_token } of [before, granted]) {
        const { body } = await refresh(refresh_token ?? '', {})
        expect(JSON.parse(body).error).to.equal('invalid_grant')
      }
    }, 5_000)
    await loginAs({ username: alice, password })
  })

  it('are deleted with their user', async () => {
    const bob = uniqueName('factor-bob')
    await createUser({ username: bob, password })
    await loginAs({ username: bob, password })
    const page = await openWindow(browser)
    await page.goto(`${await issuerUrl()}/factors`)
    await logIn(page, bob)
    await page.getByRole('button', { name: 'Set up an app' }).click()
    await setUp(page)
    const secret = ['-n', setting('KAPIS_NAMESPACE'), 'get', 'secret', `kapis-factors-${bob}`]
    const { stdout } = await kubectl(...secret, '-o', 'json')
    const { type, metadata } = JSON.parse(stdout)
    expect(type).to.equal(`iam.${groupDomain}/factors`)
    expect(metadata.ownerReferences).to.have.length(1)
    expect(metadata.ownerReferences[0]).to.include({ kind: 'User', name: bob })
    await removeUser(bob)
  })
})
