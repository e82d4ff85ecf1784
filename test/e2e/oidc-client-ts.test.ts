import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { openWindow, startChromium } from './chromium.ts'
import { uniqueName } from './cluster.ts'
import { logIn } from './login-page.ts'
import { createUser, removeUser } from './oauth.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { type RelyingParty, startRelyingParty } from './relying-party.ts'

const password = 'Correct-Horse-1'
const entry = createRequire(import.meta.url).resolve('oidc-client-ts')
const bundle = join(dirname(entry), '..', 'browser', 'oidc-client-ts.min.js')

/** A page of another origin that contains the client. */
describe('a public client in a browser: oidc-client-ts', function () {
  this.timeout(120_000)
  const alice = uniqueName('alice')
  const spa = uniqueName('spa')
  let browser: Browser
  let party: RelyingParty
  let settings: object
  let issuer: string

  before(async () => {
    party = await startRelyingParty()
    issuer = await issuerUrl()
    await createUser({ username: alice, password }, { displayName: 'Alice A.' })
    await createClient({
      name: spa,
      public: true,
      accessTokenMaxAgeSeconds: 60,
      redirectURIs: [party.redirectUri],
      postLogoutRedirectURIs: [`${party.origin}/bye`],
    })
    settings = {
      authority: issuer,
      client_id: spa,
      redirect_uri: party.redirectUri,
      post_logout_redirect_uri: `${party.origin}/bye`,
      scope: 'openid profile email',
      loadUserInfo: true,
    }
    browser = await startChromium()
  })
  after(async () => {
    await browser?.close()
    party?.close()
    await removeClient(spa)
    await removeUser(alice)
  })

  /** Runs a script in the page, in which `manager` is the UserManager of oidc-client-ts. */
  async function run(page: Page, script: string): Promise<unknown> {
    await page.addScriptTag({ path: bundle })
    return page.evaluate(`(async () => {
      const settings = ${JSON.stringify(settings)}
      const userStore = new oidc.WebStorageStateStore({ store: localStorage })
      const manager = new oidc.UserManager({ ...settings, userStore, automaticSilentRenew: false })
      ${script}
    })()`)
  }
  async function logInAtClient(page: Page): Promise<void> {
    await page.goto(`${party.origin}/app`)
    await run(page, 'void manager.signinRedirect()')
    await logIn(page, alice, password)
    await page.getByText('Back at the client').waitFor()
  }
  const open = () => openWindow(browser, { javaScriptEnabled: true })
  const isCalledBack = (page: Page) => run(page, 'return (await manager.signinRedirectCallback()).profile')

  it('logs in with the discovery document, and reads the claims', async () => {
    const page = await open()
    await logInAtClient(page)
    expect(await isCalledBack(page)).to.include({
      iss: issuer,
      sub: alice,
      aud: spa,
      name: 'Alice A.',
      preferred_username: alice,
      email: `${alice}@e2e.test`,
    })
  })

  it('refreshes, and receives an ID token of the same login', async () => {
    const page = await open()
    await logInAtClient(page)
    await isCalledBack(page)
    const [before, after] = (await run(
      page,
      `const before = await manager.getUser()
      const after = await manager.signinSilent()
      return [before, after].map(user => ({ ...user, isSame: before.id_token === user.id_token }))`,
    )) as { profile: object; access_token: string; isSame: boolean }[]
    expect(after?.profile).to.deep.include({ sub: alice, aud: spa })
    expect(after?.access_token).to.not.equal(before?.access_token)
    expect(after?.isSame).to.equal(false)
  })

  it('refreshes automatically before its token expires, without a frame that monitors the session', async () => {
    const page = await open()
    await logInAtClient(page)
    const [before, after, frames] = (await run(
      page,
      `const own = new oidc.UserManager({
        ...settings, userStore, monitorSession: true,
        automaticSilentRenew: true, accessTokenExpiringNotificationTimeInSeconds: 58,
      })
      const renewed = new Promise((resolve, reject) => {
        own.events.addSilentRenewError(reject)
        own.events.addAccessTokenExpiring(() => own.events.addUserLoaded(resolve))
      })
      const before = await own.signinRedirectCallback()
      const after = await renewed
      await own.stopSilentRenew()
      return [before.access_token, after.access_token, document.querySelectorAll('iframe').length]`,
    )) as [string, string, number]
    expect(after).to.be.a('string').and.not.equal(before)
    expect(frames).to.equal(0)
  })

  it('receives login_required in an iframe if the browser blocks third-party cookies', async () => {
    const page = await open()
    await page.goto(`${party.origin}/app`)
    const frame = `manager.signinSilent({ silentRequestTimeoutInSeconds: 20 }).catch(error => error.error)`
    party.pages.set('/callback', `<script src="/oidc.js"></script><script>${silentCallback}</script>`)
    party.scripts.set('/oidc.js', bundle)
    try {
      expect(await run(page, `return await ${frame}`)).to.equal('login_required')
      // A page of Kapis is not shown in a frame, in which its user could not see whose page it is.
      const blocked = page.waitForEvent('console', each => each.text().includes("frame-ancestors 'none'"))
      const shown = `manager.signinSilent({ prompt: 'login', silentRequestTimeoutInSeconds: 3 })`
      const message = await run(page, `return await ${shown}.catch(error => error.message)`)
      expect(message).to.equal('IFrame timed out without a response')
      await blocked
    } finally {
      party.pages.delete('/callback')
    }
  })

  it('revokes its tokens, and logs out of the browser session', async () => {
    const page = await open()
    await logInAtClient(page)
    await isCalledBack(page)
    const [token, idToken] = (await run(
      page,
      `const { access_token, id_token } = await manager.getUser()
      await manager.revokeTokens(['access_token', 'refresh_token'])
      return [access_token, id_token]`,
    )) as string[]
    const userinfo = `fetch('${issuer}/userinfo', { headers: { authorization: 'Bearer ${token}' } })`
    expect(await run(page, `return (await ${userinfo}).status`)).to.equal(401)
    await run(page, `void manager.signoutRedirect({ id_token_hint: '${idToken}', state: 'x' })`)
    await page.waitForURL(`${party.origin}/bye?**`)
    await page.goto(new URL('/oauth/session', issuer).href)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Log in')
  })

  it('reads public endpoints from any origin, and others only from a client’s origin', async () => {
    const page = await open()
    await page.goto(`${party.origin.replace('127.0.0.1', 'localhost')}/app`)
    const status = (path: string, init = {}) =>
      page.evaluate(
        `fetch('${issuer}${path}', ${JSON.stringify(init)}).then(({ status }) => status, () => 'blocked')`,
      )
    const headers = { authorization: 'Bearer x' }
    expect(await status('/.well-known/openid-configuration', { headers })).to.equal(200)
    expect(await status('/keys')).to.equal(200)
    for (const path of ['/token', '/revoke'])
      expect(await status(path, { method: 'POST', body: '' }), path).to.equal('blocked')
    expect(await status('/userinfo', { headers })).to.equal('blocked')
    expect(await status(`/authorize?client_id=${spa}`)).to.equal('blocked')
  })
})

const silentCallback = 'new oidc.UserManager({}).signinSilentCallback()'
