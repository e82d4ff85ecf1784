import { expect } from 'chai'
import { totpCode } from '../../../iam/factors/fixtures.ts'
import {
  type Authorization,
  authorizePath,
  decode,
  redirectUri,
  startAuthorization,
  web,
} from '../../authorize/fixtures.ts'
import { kapis } from '../../fixtures.ts'
import { memoryUser } from '../../memory-fixtures.ts'
import type { HttpResponse } from '../../request-fixtures.ts'
import { createBrowser, hiddenFieldsOf, locationOf } from '../fixtures.ts'
import { codesOf, secretOf, setUpApp } from './fixtures.ts'

const session = '__Host-kapis-session'
const authorizationPath = authorizePath({ scope: 'openid' })

describe('second factors', () => {
  let setup: Authorization
  beforeEach(async () => {
    setup = await startAuthorization()
  })
  afterEach(() => setup.app.close())

  async function enrol() {
    const { fields, ...app } = await setUpApp(setup.browser)
    const done = await setup.browser.post('/oauth/factor', fields)
    expect([done.code, done.headers.location]).to.deep.equal([303, '/oauth/factors'])
    return app
  }

  /** Returns the audit lines of an endpoint, as `outcome reason`. */
  const audited = (endpoint: string) =>
    setup.app.lines
      .filter(({ audit }) => audit === endpoint)
      .map(({ outcome, reason }) => [outcome, reason].filter(word => word !== undefined).join(' '))

  async function claimsAfter(response: HttpResponse) {
    expect(response.code).to.equal(303)
    const sent = await setup.browser.get(String(response.headers.location))
    const code = locationOf(sent).searchParams.get('code') ?? ''
    const { id_token, access_token, refresh_token } = JSON.parse((await setup.exchange(code)).body)
    return { id: decode(id_token), access: decode(access_token), refresh_token }
  }

  it('are required after the password, and listed in the tokens of the login and its refreshes', async () => {
    await setup.browser.logIn('alice', 'right')
    const { secret } = await enrol()
    setup.browser.cookies.delete(session)
    const page = await setup.browser.logIn('alice', 'right', authorizationPath)
    expect(page.code).to.equal(200)
    expect(page.body).to.include('authenticator app shows for <strong>alice</strong>')
    expect(setup.browser.cookies.has(session)).to.equal(false)
    const fields = hiddenFieldsOf(page.body)
    const wrong = await setup.browser.post('/oauth/factor', { ...fields, code: '000000' })
    expect(wrong.code).to.equal(400)
    expect(wrong.body).to.include('The code is wrong, or was used before.')
    const response = await setup.browser.post('/oauth/factor', { ...fields, code: totpCode(secret, 1) })
    const { id, access, refresh_token } = await claimsAfter(response)
    const methods = { amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' }
    expect(id).to.deep.include(methods)
    expect(access).to.deep.include({ ...methods, auth_time: id.auth_time })
    const refreshed = await setup.app.token({
      ...{ grant_type: 'refresh_token', refresh_token, client_id: 'web', client_secret: 's' },
    })
    expect(decode(JSON.parse(refreshed.body).id_token)).to.deep.include({
      ...methods,
      auth_time: id.auth_time,
    })
    expect(decode(JSON.parse(refreshed.body).access_token)).to.deep.include(methods)
    expect(audited('login')).to.deep.equal(['success', 'pending second_factor_required'])
    expect(audited('second-factor')).to.deep.equal(['success', 'failure wrong_code', 'success'])
    expect(JSON.stringify(setup.app.lines)).to.not.include(secret)
  })

  it('log in once per page: resending the form starts no second session', async () => {
    await setup.browser.logIn('alice', 'right')
    const { recoveryCodes } = await enrol()
    setup.browser.cookies.delete(session)
    const page = await setup.browser.logIn('alice', 'right')
    const fields = hiddenFieldsOf(page.body)
    const response = await setup.browser.post('/oauth/factor', {
      ...fields,
      recovery_code: recoveryCodes[0] ?? '',
    })
    expect(response.code).to.equal(303)
    setup.browser.cookies.delete(session)
    for (const [recovery_code, words] of [
      [recoveryCodes[0] ?? '', 'The code is wrong, or was used before.'],
      [recoveryCodes[1] ?? '', 'This login was completed before: log in again'],
    ] as const) {
      const again = await setup.browser.post('/oauth/factor', { ...fields, recovery_code })
      expect(again.code).to.equal(400)
      expect(again.body).to.include(words)
      expect(setup.browser.cookies.has(session)).to.equal(false)
    }
  })

  it('do not change the session of the browser’s next user when an old form is resent', async () => {
    await setup.browser.logIn('alice', 'right')
    const { recoveryCodes } = await enrol()
    setup.browser.cookies.delete(session)
    const fields = hiddenFieldsOf((await setup.browser.logIn('alice', 'right')).body)
    const respondWith = (recovery_code = '') =>
      setup.browser.post('/oauth/factor', { ...fields, recovery_code })
    expect((await respondWith(recoveryCodes[0])).code).to.equal(303)
    setup.app.users.set('bob', memoryUser('bob'))
    await setup.browser.logIn('bob', 'right')
    expect((await respondWith(recoveryCodes[1])).body).to.include('This login was completed before')
    expect((await setup.browser.get('/oauth/session')).body).to.include('You are <strong>bob</strong>')
  })

  it('are requested only after the correct password, so that they reveal nothing before', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const pages = []
    for (const name of ['alice', 'nonexistent', 'nopassword']) {
      const browser = createBrowser(setup.app)
      const { code, body } = await browser.logIn(name, 'wrong')
      pages.push([code, body.replaceAll(name, '').replace(/name="csrf" value="[^"]*"/, '')])
    }
    expect(pages[1]).to.deep.equal(pages[0])
    expect(pages[2]).to.deep.equal(pages[0])
  })

  it('count in the same lockout as the password, and are rejected while the user is locked', async () => {
    await setup.browser.logIn('alice', 'right')
    const { secret } = await enrol()
    setup.browser.cookies.delete(session)
    const fields = hiddenFieldsOf((await setup.browser.logIn('alice', 'right')).body)
    for (let i = 0; i < 5; i++) await setup.browser.post('/oauth/factor', { ...fields, code: '000000' })
    const locked = await setup.browser.post('/oauth/factor', { ...fields, code: totpCode(secret, 1) })
    expect([locked.code, Number(locked.headers['retry-after'])]).to.deep.equal([429, 600])
    expect(locked.body).to.include('Too many wrong codes. Try again in 10 minutes.')
    expect((await createBrowser(setup.app).logIn('alice', 'right')).code).to.equal(429)
    expect(audited('second-factor').at(-1)).to.equal('failure locked')
  })

  it('do not set a password with the ticket of another step', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    setup.browser.cookies.delete(session)
    const before = setup.app.users.get('alice')?.credential
    const asked = await setup.browser.logIn('alice', 'right', authorizationPath)
    const fields = { ...hiddenFieldsOf(asked.body), new_password: 'Another-Pass1', repeat: 'Another-Pass1' }
    const response = await setup.browser.post('/oauth/password', fields)
    expect([response.code, response.body.includes('name="code"')]).to.deep.equal([200, true])
    expect(setup.app.users.get('alice')?.credential).to.equal(before)
    const again = await setup.browser.logIn('alice', 'right', authorizationPath)
    expect(again.body.includes('name="code"')).to.equal(true)
  })

  it('are bound to the browser that sent the password', async () => {
    await setup.browser.logIn('alice', 'right')
    const { secret } = await enrol()
    setup.browser.cookies.delete(session)
    const { ticket = '' } = hiddenFieldsOf((await setup.browser.logIn('alice', 'right')).body)
    const other = createBrowser(setup.app)
    const { csrf = '' } = hiddenFieldsOf((await other.get('/oauth/login')).body)
    const form = { csrf, ticket, return_to: '/oauth/session', code: totpCode(secret, 1) }
    const response = await other.post('/oauth/factor', form)
    expect([response.code, locationOf(response).pathname]).to.deep.equal([303, '/oauth/login'])
  })

  it('are required again before they are changed, unless the session used one', async () => {
    const other = createBrowser(setup.app)
    await other.logIn('alice', 'right')
    const { secret } = await setUpApp(other)
    // The earlier login: its user has closed the page with the codes.
    const page = await other.get('/oauth/factors')
    expect(page.body).to.include('authenticator app shows for')
    const stolen = await other.post('/oauth/factors', { ...hiddenFieldsOf(page.body), action: 'remove-totp' })
    expect(stolen.body).to.include('authenticator app shows for')
    const response = await other.post('/oauth/factor', {
      ...hiddenFieldsOf(page.body),
      code: totpCode(secret, 1),
    })
    expect([response.code, response.headers.location]).to.deep.equal([303, '/oauth/factors'])
    const fields = hiddenFieldsOf((await other.get('/oauth/factors')).body)
    expect((await other.post('/oauth/factors', { ...fields, action: 'remove-totp' })).code).to.equal(303)
    expect((await other.get('/oauth/factors')).body).to.include('No app is set up.')
    expect((await createBrowser(setup.app).logIn('alice', 'right')).code).to.equal(303)
  })

  it('end other sessions without a factor when they are set up, except those of the same browser', async () => {
    const other = createBrowser(setup.app)
    await other.logIn('alice', 'right')
    const { refresh_token } = await setup.app.login('alice')
    const code = await setup.codeOf({ scope: 'openid' })
    const here = JSON.parse((await setup.exchange(code)).body)
    await enrol()
    expect(locationOf(await other.get('/oauth/session')).pathname).to.equal('/oauth/login')
    expect((await setup.browser.get('/oauth/session')).code).to.equal(200)
    const response = await setup.app.token({ grant_type: 'refresh_token', refresh_token })
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      400,
      { error: 'invalid_grant', error_description: 'the login has ended' },
    ])
    const own = { grant_type: 'refresh_token', refresh_token: here.refresh_token, ...web }
    expect((await setup.app.token(own)).code).to.equal(200)
  })

  it('can be changed only after a recent login', async () => {
    await setup.browser.logIn('alice', 'right')
    const [stored] = setup.app.sessions.values()
    const claims = { sub: 'alice', uid: 'uid-alice', idp: '', generation: 1, amr: 'pwd' }
    const now = Date.now
    Date.now = () => now() - 601_000
    const old = await setup.app.tools.internalJwts
      .sign('browser', claims, { lifeSeconds: 14_400, jti: stored?.sid ?? '' })
      .finally(() => {
        Date.now = now
      })
    setup.browser.cookies.set(session, old)
    for (const response of [
      await setup.browser.get('/oauth/factors'),
      await setup.browser.post('/oauth/factors', {
        ...hiddenFieldsOf((await setup.browser.get('/oauth/session')).body),
        action: 'set-up-totp',
      }),
    ])
      expect(response.headers.location).to.equal('/oauth/login?return_to=%2Foauth%2Ffactors')
  })

  describe('that the policy requires', () => {
    beforeEach(() => {
      setup.app.requiredGroups.push('dev')
    })

    it('are set up after the password, and no login succeeds without one', async () => {
      const page = await setup.browser.logIn('alice', 'right', authorizationPath)
      expect(page.code).to.equal(200)
      expect(page.body).to.include('Set up a second factor')
      expect(page.headers['content-security-policy']).to.include("form-action 'self' https://app.test")
      expect(setup.browser.cookies.has(session)).to.equal(false)
      const fields = hiddenFieldsOf(page.body)
      // A ticket without a code, or with a wrong code, does not continue the login.
      const skipped = await setup.browser.post('/oauth/factor', { ...fields, code: '000000' })
      expect([skipped.code, secretOf(skipped)]).to.deep.equal([200, secretOf(page)])
      expect(setup.browser.cookies.has(session)).to.equal(false)
      const wrong = await setup.browser.post('/oauth/factor/totp', { ...fields, code: '000000' })
      expect([wrong.code, secretOf(wrong)]).to.deep.equal([400, secretOf(page)])
      const code = totpCode(secretOf(page))
      const codes = await setup.browser.post('/oauth/factor/totp', { ...fields, code })
      expect(codesOf(codes)).to.have.length(10)
      expect(setup.browser.cookies.has(session)).to.equal(false)
      const { id } = await claimsAfter(await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body)))
      expect(id).to.deep.include({ amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' })
      expect(audited('login')).to.deep.equal(['pending second_factor_to_set_up'])
      expect(audited('second-factor-enrolment')).to.deep.equal(['failure wrong_code', 'success'])
    })

    it('cannot be removed, only replaced', async () => {
      const page = await setup.browser.logIn('alice', 'right', '/oauth/factors')
      const code = totpCode(secretOf(page))
      const codes = await setup.browser.post('/oauth/factor/totp', { ...hiddenFieldsOf(page.body), code })
      await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body))
      const factors = await setup.browser.get('/oauth/factors')
      expect(factors.body).to.include('can only be replaced').and.not.include('Remove the app')
      const form = { ...hiddenFieldsOf(factors.body), action: 'remove-totp' }
      const refused = await setup.browser.post('/oauth/factors', form)
      expect(refused.code).to.equal(403)
      expect(refused.body).to.include(
        'This user needs a second factor: replace the last one instead (access_denied)',
      )
    })

    it('are set up after the user has changed an initial password, which requires an existing factor', async () => {
      setup.app.users.set('alice', memoryUser('alice', { mustChangePassword: true }))
      const page = await setup.browser.logIn('alice', 'right')
      expect(page.body).to.include('Change your password')
      const form = { ...hiddenFieldsOf(page.body), new_password: 'Another1', repeat: 'Another1' }
      const next = await setup.browser.post('/oauth/password', form)
      expect(next.body).to.include('Set up a second factor')
      expect(setup.browser.cookies.has(session)).to.equal(false)
    })

    it('end sessions that began without one: the browser session, and refreshes of clients', async () => {
      setup.app.requiredGroups.pop()
      await setup.browser.logIn('alice', 'right')
      const { refresh_token } = await setup.app.login('alice')
      expect((await setup.browser.get('/oauth/session')).code).to.equal(200)
      setup.app.requiredGroups.push('system:authenticated')
      expect(locationOf(await setup.browser.get('/oauth/session')).pathname).to.equal('/oauth/login')
      const response = await setup.app.token({ grant_type: 'refresh_token', refresh_token })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'this user needs a second factor: log in again' },
      ])
    })
  })

  for (const [why, prepare] of [
    ['that the policy requires', async () => void setup.app.requiredGroups.push('dev')],
    [
      'that a user has',
      async () => {
        await setup.browser.logIn('alice', 'right')
        await enrol()
      },
    ],
  ] as const)
    it(`${why} are rejected by the password grant and HTTP Basic, with that reason`, async () => {
      await prepare()
      const description = 'this user needs a second factor: log in with a browser'
      const grant = { grant_type: 'password', username: 'alice', ...kapis }
      const granted = await setup.app.form('/oauth/token', { ...grant, password: 'right' })
      expect([granted.code, JSON.parse(granted.body)]).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: description },
      ])
      const wrong = await setup.app.form('/oauth/token', { ...grant, password: 'wrong' })
      expect(JSON.parse(wrong.body).error_description).to.equal('incorrect password')
      const basic = `Basic ${Buffer.from('alice:right').toString('base64')}`
      const response = await setup.app.send('GET', '/oauth/userinfo', { headers: { authorization: basic } })
      expect(response.code).to.equal(401)
      expect(response.headers['www-authenticate']).to.match(/^Basic /)
      expect(response.body).to.include(description)
      expect(audited('token')).to.deep.equal(['failure second_factor_required', 'failure wrong_password'])
    })

  describe('for acr_values', () => {
    it('are required from the browser session (step-up), and not again afterwards', async () => {
      await setup.browser.logIn('alice', 'right')
      const { secret } = await enrol()
      const fresh = createBrowser(setup.app)
      setup.browser.cookies.clear()
      // A login by password only, as from before the factor was set up.
      for (const [name, value] of fresh.cookies) setup.browser.cookies.set(name, value)
      const login = await setup.browser.logIn(
        'alice',
        'right',
        authorizePath({ scope: 'openid', acr_values: 'mfa' }),
      )
      expect(login.body).to.include('authenticator app shows for')
      const response = await setup.browser.post('/oauth/factor', {
        ...hiddenFieldsOf(login.body),
        code: totpCode(secret, 1),
      })
      expect((await claimsAfter(response)).id.acr).to.equal('mfa')
      const again = await setup.authorize({ acr_values: 'mfa', prompt: 'none' })
      expect(locationOf(again).searchParams.get('code')).to.be.a('string')
    })

    it('redirect a user without one to its setup, in the same session', async () => {
      await setup.browser.logIn('alice', 'right')
      const page = await setup.authorize({ scope: 'openid', acr_values: 'urn:unknown mfa' })
      expect([page.code, page.body]).to.satisfy(
        ([code, body]: [number, string]) => code === 200 && body.includes('<svg'),
      )
      const silent = locationOf(await setup.authorize({ acr_values: 'mfa', prompt: 'none' }))
      expect([silent.origin + silent.pathname, silent.searchParams.get('error')]).to.deep.equal([
        redirectUri,
        'interaction_required',
      ])
      const code = totpCode(secretOf(page))
      const codes = await setup.browser.post('/oauth/factor/totp', { ...hiddenFieldsOf(page.body), code })
      const done = await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body))
      expect((await claimsAfter(done)).id).to.deep.include({ acr: 'mfa' })
    })

    it('that are unknown have no effect', async () => {
      await setup.browser.logIn('alice', 'right')
      const response = locationOf(await setup.authorize({ acr_values: '1 2' }))
      expect(response.searchParams.get('code')).to.be.a('string')
    })
  })
})
