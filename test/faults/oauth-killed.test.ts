import { expect } from 'chai'
import { createBrowser, hiddenFieldsOf, locationOf } from '../../pkg/oauth/browser/fixtures.ts'
import { sendToKapis, uniqueName } from '../e2e/cluster.ts'
import { eventually, platformPath, sendAs } from '../e2e/http.ts'
import { claimsOf, createUser, parseResponse, removeUser, type Tokens } from '../e2e/oauth.ts'
import { createClient, removeClient } from '../e2e/oauth-clients.ts'
import { setting } from '../e2e/run.ts'
import { type Replica, startReplica } from './replica.ts'

const redirectUri = 'https://app.test/cb'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
type Device = { readonly device_code: string; readonly user_code: string }

/**
 * SIGKILL of a kapis-oauth with logins in progress: open pages, issued codes, waiting devices. All
 * of this state is stored in kube-apiserver.
 */
describe('pending work of a killed kapis-oauth', function () {
  this.timeout(120_000)
  const user = { username: uniqueName('under-way'), password: 'Correct-Horse-1' }
  const web = { name: uniqueName('web'), secret: 's', redirectURIs: [redirectUri] }
  const own = (client: typeof web) => ({ client_id: client.name, client_secret: client.secret })
  let replica: Replica

  before(async () => {
    await createUser(user)
    await createClient(web)
    replica = await startReplica({ hasOwnListener: true })
  })
  after(async () => {
    await replica?.stop()
    await removeUser(user.username)
    await removeClient(web.name)
  })

  /** URL that all clients use: that of kapis-apiserver. */
  let at = ''
  type RequestOptions = { readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  const send = (method: string, path: string, { headers = {}, body }: RequestOptions = {}) =>
    sendToKapis(`${at}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  const token = (fields: Readonly<Record<string, string>>) =>
    send('POST', '/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(fields)),
    })
  async function given(fields: Readonly<Record<string, string>>): Promise<Tokens> {
    const { code, body } = await token(fields)
    expect(code, body).to.equal(200)
    const { access_token, refresh_token, ...rest } = JSON.parse(body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200 })
    expect(claimsOf(access_token).sub).to.equal(user.username)
    return { access_token, refresh_token }
  }
  const authorize = (client: typeof web) =>
    `/oauth/authorize?${new URLSearchParams({
      client_id: client.name,
      redirect_uri: redirectUri,
      response_type: 'code',
      state: 'some state',
    })}`
  /** Returns the code in the redirect to the client. */
  function codeOf(response: Awaited<ReturnType<typeof send>>): string {
    const { origin, pathname, searchParams } = locationOf(response)
    expect([origin + pathname, searchParams.get('state')]).to.deep.equal([redirectUri, 'some state'])
    return searchParams.get('code') ?? ''
  }
  const exchange = (client: typeof web, code: string) =>
    given({ ...own(client), grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  async function loggedIn() {
    const browser = createBrowser({ send })
    // A kapis-oauth that has just started may not have loaded the user or the client yet.
    await eventually(async () => {
      const response = await browser.logIn(user.username, user.password)
      expect([response.code, response.headers.location]).to.deep.equal([303, '/oauth/session'])
      expect(await browser.get(authorize(web))).to.include({ code: 302 })
    }, 20_000)
    return browser
  }
  async function device(): Promise<Device> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = String(new URLSearchParams(own(web)))
    return JSON.parse((await send('POST', '/oauth/device_authorization', { headers, body })).body)
  }
  const poll = ({ device_code }: Device) => ({ ...own(web), grant_type: deviceGrant, device_code })

  async function begin(asks: typeof web) {
    at = replica.url
    const browser = await loggedIn()
    const newcomer = createBrowser({ send })
    const toLogin = await newcomer.get(authorize(web))
    const loginPage = await newcomer.get(String(toLogin.headers.location))
    const consent = await browser.get(authorize(asks))
    const code = codeOf(await browser.get(authorize(web)))
    const [entered, agreed, asked] = [await device(), await device(), await device()]
    const enter = async ({ user_code }: Device) => {
      const page = await browser.get('/oauth/device')
      return browser.post('/oauth/device', { ...hiddenFieldsOf(page.body), user_code })
    }
    const devicePage = await enter(entered)
    const agreedPage = await enter(agreed)
    const agree = { ...hiddenFieldsOf(agreedPage.body), decision: 'allow' }
    expect(await browser.post('/oauth/device', agree)).to.include({ code: 200 })
    const tokens = await exchange(web, codeOf(await browser.get(authorize(web))))
    expect(parseResponse(await token(poll(asked)))).to.deep.equal([400, { error: 'authorization_pending' }])
    return { browser, newcomer, loginPage, consent, code, entered, agreed, asked, enter, devicePage, tokens }
  }

  const rounds = [
    ['that continues at the other replica', setting('KAPIS_URL')],
    ['that continues at the same replica after a restart', undefined],
  ] as const
  for (const [where, other] of rounds) {
    describe(where, () => {
      // Each login uses another client, since a consent is stored.
      const asks = { ...web, name: uniqueName('asks'), grantMethod: 'prompt' }
      let begun: Awaited<ReturnType<typeof begin>>
      before(async () => {
        await createClient(asks)
        begun = await begin(asks)
        await replica.kill('oauth')
        // The restart must not cause the rejection of any request.
        expect(await sendAs(begun.tokens.access_token, `${at}${platformPath}`)).to.include({ code: 403 })
        if (other === undefined) await replica.start('oauth')
        else at = other
      })
      after(async () => {
        await removeClient(asks.name)
        if (other !== undefined) await replica.start('oauth')
      })

      it('keeps the browser session', async () => {
        const page = await begun.browser.get('/oauth/session')
        expect(page.code).to.equal(200)
        expect(page.body).to.include(user.username)
      })

      it('keeps an open login page, whose form still logs in at the client', async () => {
        const { newcomer, loginPage } = begun
        const sent = await newcomer.post('/oauth/login', { ...hiddenFieldsOf(loginPage.body), ...user })
        expect(sent.code, sent.body).to.equal(303)
        await exchange(web, codeOf(await newcomer.get(String(sent.headers.location))))
      })

      it('keeps an open consent page', async () => {
        const { browser, consent } = begun
        expect(consent.body).to.include(`Allow ${asks.name}?`)
        const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(consent.body) ?? []
        const fields = { ...hiddenFieldsOf(consent.body), decision: 'allow' }
        const sent = await browser.post(action.replaceAll('&amp;', '&'), fields)
        expect(sent.code, sent.body).to.equal(303)
        await exchange(asks, codeOf(sent))
      })

      it('keeps an issued code, which can be used once', async () => {
        await exchange(web, begun.code)
        const again = await token({
          ...own(web),
          grant_type: 'authorization_code',
          code: begun.code,
          redirect_uri: redirectUri,
        })
        expect([again.code, JSON.parse(again.body).error]).to.deep.equal([400, 'invalid_grant'])
      })

      it('keeps a device login that its user has approved', async () => {
        await given(poll(begun.agreed))
      })

      it('keeps a device login whose code has been entered', async () => {
        const { browser, devicePage, entered } = begun
        const fields = { ...hiddenFieldsOf(devicePage.body), decision: 'allow' }
        const done = await browser.post('/oauth/device', fields)
        expect(done.code, done.body).to.equal(200)
        await given(poll(entered))
      })

      it('keeps a pending device login', async () => {
        const { browser, asked, enter } = begun
        const page = await enter(asked)
        await browser.post('/oauth/device', { ...hiddenFieldsOf(page.body), decision: 'allow' })
        await eventually(() => given(poll(asked)), 20_000, 1_000)
      })

      it('keeps a session, which can be refreshed once', async () => {
        const refreshed = await given({
          ...own(web),
          grant_type: 'refresh_token',
          refresh_token: begun.tokens.refresh_token,
        })
        expect(claimsOf(refreshed.access_token).sid).to.equal(claimsOf(begun.tokens.access_token).sid)
        for (const { access_token } of [begun.tokens, refreshed])
          expect(await sendAs(access_token, `${at}${platformPath}`)).to.include({ code: 403 })
      })
    })
  }
})
