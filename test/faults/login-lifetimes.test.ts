import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createBrowser, hiddenFieldsOf, locationOf } from '../../pkg/oauth/browser/fixtures.ts'
import { type HttpResponse, kubectl, kubectlOutput, sendToKapis, uniqueName } from '../e2e/cluster.ts'
import { eventually, expectStatus, groupDomain, platformPath, sendAs, statusBody } from '../e2e/http.ts'
import { claimsOf, createUser, credentials, loginAs, parseResponse, removeUser } from '../e2e/oauth.ts'
import { createClient, removeClient } from '../e2e/oauth-clients.ts'
import { type Replica, startReplica } from './replica.ts'

const redirectUri = 'https://app.test/cb'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
// Shorter than in other tests, so that only objects of this test expire and are deleted.
const oauth = { accessTokenSeconds: 600, refreshTokenSeconds: 1_800 }
const codeSeconds = 60
const deviceSeconds = 600
const graceSeconds = 10

/** Objects of a login expire and are deleted by a kapis-oauth whose clock is set forward. */
describe('lifetimes', function () {
  this.timeout(120_000)
  const user = { username: uniqueName('way'), password: 'Correct-Horse-1' }
  const web = { name: uniqueName('way-web'), secret: 's', redirectURIs: [redirectUri] }
  const own = { client_id: web.name, client_secret: web.secret }
  let replica: Replica

  before(async () => {
    await createUser(user)
    await createClient(web)
    replica = await startReplica({ hasOwnListener: true, oauth })
    await eventually(logIn, 20_000)
  })
  beforeEach(() => setClock(0))
  after(async () => {
    await replica?.stop()
    await removeUser(user.username)
    await removeClient(web.name)
  })

  /** Sets the clocks to a number of seconds from now; the programs read the fault every 50 ms. */
  async function setClock(seconds: number): Promise<void> {
    replica.set({ clockMs: seconds * 1_000 })
    await sleep(500)
  }
  type RequestOptions = { readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  const send = (method: string, path: string, { headers = {}, body }: RequestOptions = {}) =>
    sendToKapis(`${replica.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  const form = (path: string, fields: Readonly<Record<string, string>>) =>
    send('POST', path, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(fields)),
    })
  const token = (fields: Readonly<Record<string, string>>) => form('/oauth/token', fields)
  async function given(response: Promise<HttpResponse>) {
    const { code, body } = await response
    expect(code, body).to.equal(200)
    const { access_token, refresh_token } = JSON.parse(body)
    return { access_token: String(access_token), refresh_token: String(refresh_token) }
  }
  const logIn = () => given(token({ ...credentials, grant_type: 'password', ...user }))
  const invalid = (error_description: string) => [400, { error: 'invalid_grant', error_description }]
  const authorize = `/oauth/authorize?${new URLSearchParams({
    client_id: web.name,
    redirect_uri: redirectUri,
    response_type: 'code',
  })}`
  async function loggedIn() {
    const browser = createBrowser({ send })
    const response = await browser.logIn(user.username, user.password)
    expect([response.code, response.headers.location]).to.deep.equal([303, '/oauth/session'])
    return browser
  }

  it('a code is valid for a minute', async () => {
    const browser = await loggedIn()
    const codeOf = async () => locationOf(await browser.get(authorize)).searchParams.get('code') ?? ''
    const exchange = (code: string) =>
      token({ ...own, grant_type: 'authorization_code', code, redirect_uri: redirectUri })
    const [used, late] = [await codeOf(), await codeOf()]
    await setClock(codeSeconds / 2)
    await given(exchange(used))
    await setClock(codeSeconds + 30)
    expect(parseResponse(await exchange(late))).to.deep.equal(invalid('the code is invalid or expired'))
  })

  it('a device login is pending for ten minutes', async () => {
    const begun = JSON.parse((await form('/oauth/device_authorization', own)).body)
    expect(begun).to.include({ expires_in: deviceSeconds, interval: 5 })
    const poll = () => token({ ...own, grant_type: deviceGrant, device_code: begun.device_code })
    await setClock(deviceSeconds / 2)
    expect(parseResponse(await poll())).to.deep.equal([400, { error: 'authorization_pending' }])
    await setClock(deviceSeconds + 30)
    expect(parseResponse(await poll())).to.deep.equal([
      400,
      { error: 'expired_token', error_description: 'the device code has expired or was used' },
    ])
    const browser = await loggedIn()
    const page = await browser.get('/oauth/device')
    const entered = await browser.post('/oauth/device', {
      ...hiddenFieldsOf(page.body),
      user_code: begun.user_code,
    })
    expect(entered.code).to.equal(400)
    expect(entered.body).to.include('Unknown or expired code.')
  })

  it('a browser session lasts as long as an unused session', async () => {
    const browser = await loggedIn()
    await setClock(oauth.refreshTokenSeconds - 60)
    expect(await browser.get('/oauth/session')).to.include({ code: 200 })
    await setClock(oauth.refreshTokenSeconds + 60)
    const { code, headers } = await browser.get('/oauth/session')
    expect([code, headers.location]).to.deep.equal([302, '/oauth/login?return_to=%2Foauth%2Fsession'])
    const sent = locationOf(await browser.get(authorize))
    expect(sent.pathname).to.equal('/oauth/login')
  })

  it('a reused refresh token is accepted as a retry for ten seconds, and ends the session afterwards', async () => {
    const first = await logIn()
    const refresh = ({ refresh_token }: typeof first) =>
      token({ ...credentials, grant_type: 'refresh_token', refresh_token })
    const second = await given(refresh(first))
    const retried = await given(refresh(first))
    expect(claimsOf(retried.refresh_token).jti).to.equal(claimsOf(second.refresh_token).jti)
    await setClock(graceSeconds * 3)
    expect(parseResponse(await refresh(first))).to.deep.equal(
      invalid('the refresh token was used before; the login has ended'),
    )
    expect(parseResponse(await refresh(second))).to.deep.equal(invalid('the login has ended'))
    await eventually(async () => {
      const response = await sendAs(second.access_token, `${replica.url}${platformPath}`)
      expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
    }, 20_000)
  })

  it('only expired objects are deleted', async () => {
    const [expired, good] = [await logIn(), await loginAs(user)]
    const { device_code: _, ...begun } = JSON.parse((await form('/oauth/device_authorization', own)).body)
    expect(begun).to.include({ expires_in: deviceSeconds })
    const names = async (plural: string) =>
      (await kubectlOutput('get', `${plural}.iam.${groupDomain}`, '-o', 'jsonpath={.items[*].metadata.name}'))
        .split(' ')
        .filter(name => name !== '')
    const sidOf = ({ access_token }: typeof good) => String(claimsOf(access_token).sid)
    expect(await names('loginsessions')).to.include.members([expired, good].map(sidOf))
    expect(await names('deviceauthorizations')).to.not.deep.equal([])
    await replica.kill('oauth')
    // Expired objects are deleted at startup and every few minutes.
    await setClock(oauth.refreshTokenSeconds + oauth.accessTokenSeconds + 120)
    await replica.start('oauth')
    await eventually(async () => {
      expect(await names('loginsessions')).to.not.include(sidOf(expired))
      expect(await names('deviceauthorizations')).to.deep.equal([])
    }, 30_000)
    const { stdout } = await kubectl('get', `loginsessions.iam.${groupDomain}`, sidOf(good), '-o', 'name')
    expect(stdout.trim()).to.equal(`loginsession.iam.${groupDomain}/${sidOf(good)}`)
  })
})
