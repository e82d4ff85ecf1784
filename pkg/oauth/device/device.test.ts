import { expect } from 'chai'
import { issuer } from '../../jwt/fixtures.ts'
import { type Browser, createBrowser, hiddenFieldsOf } from '../browser/fixtures.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

describe('the device authorization grant', () => {
  let app: TestApp
  let browser: Browser
  beforeEach(async () => {
    app = await startApp()
    browser = createBrowser(app)
  })
  afterEach(() => app.close())

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const begin = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    app.send('POST', '/oauth/device_authorization', {
      headers: { ...form, ...headers },
      body: String(new URLSearchParams({ client_id: 'kapis', client_secret: 'kapis', ...fields })),
    })
  const poll = (code: string, more: Record<string, string> = {}) =>
    app.token({ grant_type: grantType, device_code: code, ...more })
  const errorOf = ({ code, body }: { code: number; body: string }) => [code, JSON.parse(body)]

  async function device(fields?: Record<string, string>) {
    return JSON.parse((await begin(fields)).body) as { device_code: string; user_code: string }
  }

  /** Enters the user code, then the decision. */
  async function decide(userCode: string, decision: string) {
    if (!browser.cookies.has('__Host-kapis-session')) await browser.logIn('alice', 'right')
    const entry = await browser.get(`/oauth/device?user_code=${encodeURIComponent(userCode)}`)
    const asked = await browser.post('/oauth/device', { ...hiddenFieldsOf(entry.body), user_code: userCode })
    return {
      entry,
      asked,
      done: await browser.post('/oauth/device', { ...hiddenFieldsOf(asked.body), decision }),
    }
  }

  it('returns two codes, one for the device and one for the user', async () => {
    const response = await begin({ scope: 'openid' })
    expect(response.code).to.equal(200)
    expect(response.headers).to.include({ 'cache-control': 'no-store' })
    const { device_code, user_code, ...rest } = JSON.parse(response.body)
    expect(user_code).to.match(/^[B-Z]{4}-[B-Z]{4}$/)
    expect(device_code).to.not.include(user_code)
    expect(rest).to.deep.equal({
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    })
  })

  for (const [fields, said] of [
    [{}, {}],
    [{ scope: 'unknown' }, { scope: '' }],
  ] as const) {
    it(`returns ${'scope' in said ? 'an empty scope' : 'no scope'} for ${JSON.stringify(fields)}`, async () => {
      const { device_code, user_code } = await device(fields)
      await decide(user_code, 'allow')
      const { access_token, refresh_token, ...rest } = JSON.parse((await poll(device_code)).body)
      expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200, ...said })
    })
  }

  it('waits for the user, and then returns tokens once', async () => {
    const { device_code, user_code } = await device({ scope: 'openid email' })
    expect(errorOf(await poll(device_code))).to.deep.equal([400, { error: 'authorization_pending' }])
    const { entry, asked, done } = await decide(user_code.toLowerCase().replace('-', ' '), 'allow')
    expect(entry.body).to.include(`value="${user_code}"`)
    expect(asked.body).to.include(`<p class="code">${user_code}</p>`).and.include('<strong>kapis</strong>')
    expect(done.body).to.include('The device is logged in as <strong>alice</strong>')
    const response = await poll(device_code)
    expect(response.code).to.equal(200)
    const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
    expect([typeof access_token, typeof refresh_token, typeof id_token]).to.deep.equal(
      Array(3).fill('string'),
    )
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200, scope: 'openid email' })
    expect(errorOf(await poll(device_code))).to.deep.equal([
      400,
      { error: 'expired_token', error_description: 'the device code has expired or was used' },
    ])
  })

  it('is denied when the user denies it', async () => {
    const { device_code, user_code } = await device()
    expect((await decide(user_code, 'deny')).done.body).to.include('The device is not logged in.')
    expect(errorOf(await poll(device_code))).to.deep.equal([
      400,
      { error: 'access_denied', error_description: 'the user denied access' },
    ])
  })

  it('is denied to a user who must use a second factor by then', async () => {
    const { device_code, user_code } = await device()
    await decide(user_code, 'allow')
    app.requiredGroups.push('dev')
    expect(errorOf(await poll(device_code))).to.deep.equal([
      400,
      { error: 'invalid_grant', error_description: 'this user needs a second factor: log in again' },
    ])
  })

  it('creates one session for two concurrent polls', async () => {
    const { device_code, user_code } = await device()
    await decide(user_code, 'allow')
    const responses = await Promise.all([poll(device_code), poll(device_code)])
    expect(responses.map(({ code }) => code).sort()).to.deep.equal([200, 400])
  })

  it('returns slow_down to a device that polls too often', async () => {
    const { device_code } = await device()
    app.state.isPollInTime = false
    expect(errorOf(await poll(device_code))).to.deep.equal([400, { error: 'slow_down' }])
  })

  it('rejects the code of another client or of another kind', async () => {
    const { device_code } = await device()
    const other = await poll(device_code, { client_id: 'a:b c', client_secret: 'p%41+ä' })
    expect(errorOf(other)[1].error_description).to.equal('the device code was issued to another client')
    for (const code of ['x', device_code.slice(0, -2)])
      expect(errorOf(await poll(code))[1].error_description).to.equal('the device code is invalid')
    expect(errorOf(await poll(''))[1].error_description).to.equal('the parameter device_code is required')
  })

  it('is available only to authenticated clients with this grant', async () => {
    expect((await begin({ client_secret: 'x' })).code).to.equal(401)
    expect(errorOf(await begin({ client_id: 'cli', client_secret: '' }))).to.deep.equal([
      400,
      { error: 'unauthorized_client', error_description: 'the client may not use this grant type' },
    ])
    const basic = { authorization: `Basic ${Buffer.from('kapis:kapis').toString('base64')}` }
    expect((await begin({ client_id: '', client_secret: '' }, basic)).code).to.equal(200)
  })

  it('limits the number of pending codes', async () => {
    const from = { 'x-forwarded-for': '192.0.2.1' }
    for (let i = 0; i < 60; i++) expect((await begin({}, from)).code).to.equal(200)
    const refused = await begin({}, from)
    expect([refused.code, JSON.parse(refused.body).error]).to.deep.equal([429, 'slow_down'])
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 600)
    expect((await begin({}, { 'x-forwarded-for': '198.51.100.1' })).code).to.equal(200)
  })

  describe('in the audit log', () => {
    const outcomes = () =>
      app.lines
        .filter(({ audit }) => audit === 'device')
        .map(({ user, client, outcome, reason }) => ({ user, client, outcome, reason }))
    async function codeOfDevice() {
      const { user_code } = await device()
      app.lines.length = 0
      return user_code
    }
    const known = { user: 'alice', client: 'kapis' }
    const asked = { ...known, outcome: 'pending', reason: 'consent_required' }

    it('records an approval', async () => {
      await decide(await codeOfDevice(), 'allow')
      expect(outcomes()).to.deep.equal([asked, { ...known, outcome: 'success', reason: undefined }])
    })

    it('records a denial', async () => {
      await decide(await codeOfDevice(), 'deny')
      expect(outcomes()).to.deep.equal([asked, { ...known, outcome: 'failure', reason: 'consent_refused' }])
    })

    it('records that another decision came first', async () => {
      const userCode = await codeOfDevice()
      Object.assign(app.tools.devices, { update: async () => false })
      const { done } = await decide(userCode, 'allow')
      expect([done.code, done.body.includes('Unknown or expired code')]).to.deep.equal([400, true])
      expect(outcomes()).to.deep.equal([asked, { ...known, outcome: 'failure', reason: 'user_code_used' }])
    })

    it('records an unknown code', async () => {
      await browser.logIn('alice', 'right')
      const { csrf = '' } = hiddenFieldsOf((await browser.get('/oauth/device')).body)
      await browser.post('/oauth/device', { csrf, user_code: 'BCDF-GHJK' })
      expect(outcomes()).to.deep.equal([
        { user: 'alice', client: undefined, outcome: 'failure', reason: 'unknown_user_code' },
      ])
      expect(JSON.stringify(app.lines)).to.not.include('BCDF')
    })

    it('records a decision without a login', async () => {
      const { csrf = '' } = hiddenFieldsOf((await browser.get('/oauth/login')).body)
      await browser.post('/oauth/device', { csrf, user_code: 'BCDF-GHJK' })
      expect(outcomes()).to.deep.equal([
        { user: undefined, client: undefined, outcome: 'failure', reason: 'login_required' },
      ])
    })
  })

  describe('the verification page', () => {
    it('requires a login, and keeps the code in the redirects', async () => {
      const response = await browser.get('/oauth/device?user_code=bcdf-ghjk')
      expect(response.headers.location).to.equal(
        '/oauth/login?return_to=%2Foauth%2Fdevice%3Fuser_code%3DBCDF-GHJK',
      )
    })

    it('takes the code from the link, and shows the requested scopes', async () => {
      await browser.logIn('alice', 'right')
      const { user_code } = await device()
      const page = await browser.get(`/oauth/device?user_code=${user_code.toLowerCase()}`)
      expect(page.code).to.equal(200)
      expect(page.body)
        .to.include('<h1>Log in a device?</h1>')
        .and.include(`<p class="code">${user_code}</p>`)
        .and.not.include('id="user-code"')
      for (const wrong of ['BCDF-GHJK', 'nonsense']) {
        const again = await browser.get(`/oauth/device?user_code=${wrong}`)
        expect(again.code).to.equal(400)
        expect(again.body)
          .to.include('Unknown or expired code')
          .and.include(`id="user-code" name="user_code" value="${wrong}"`)
      }
      expect((await browser.get('/oauth/device')).body).to.include('Eight letters, such as WDJB-MJHT')
    })

    it('limits guesses of codes by links, too', async () => {
      await browser.logIn('alice', 'right')
      const guess = () => browser.get('/oauth/device?user_code=BCDF-GHJK')
      for (let i = 0; i < 10; i++) expect((await guess()).code).to.equal(400)
      expect((await guess()).code).to.equal(429)
    })

    it('limits guesses of codes', async () => {
      await browser.logIn('alice', 'right')
      const { csrf = '' } = hiddenFieldsOf((await browser.get('/oauth/device')).body)
      const guess = (code: string) => browser.post('/oauth/device', { csrf, user_code: code })
      for (let i = 0; i < 10; i++) {
        const page = await guess(i === 0 ? '../users' : 'BCDF-GHJK')
        expect([page.code, page.body.includes('Unknown or expired code')]).to.deep.equal([400, true])
      }
      const { user_code } = await device()
      const locked = await guess(user_code)
      expect([locked.code, locked.headers['retry-after']]).to.deep.equal([429, '600'])
    })

    it('rejects decisions from another site, or from a user who has not seen the page', async () => {
      const { device_code, user_code } = await device()
      await browser.logIn('alice', 'right')
      const decision = { user_code, username: 'alice', decision: 'allow' }
      expect((await browser.post('/oauth/device', decision)).code).to.equal(403)
      const { csrf = '' } = hiddenFieldsOf((await browser.get('/oauth/device')).body)
      const foreign = { origin: 'https://evil.test' }
      expect((await browser.post('/oauth/device', { ...decision, csrf }, foreign)).code).to.equal(403)
      app.users.set('bob', memoryUser('bob'))
      await browser.logIn('bob', 'right')
      expect((await browser.post('/oauth/device', { ...decision, csrf })).body).to.include('Log in a device?')
      expect(errorOf(await poll(device_code))[1].error).to.equal('authorization_pending')
    })
  })
})
