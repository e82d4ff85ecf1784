import { expect } from 'chai'
import { totpCode } from '../../../iam/factors/fixtures.ts'
import { createAuthenticator } from '../../../iam/factors/passkey-fixtures.ts'
import { issuer } from '../../../jwt/fixtures.ts'
import {
  type Authorization,
  authorizePath,
  decode,
  startAuthorization,
  web,
} from '../../authorize/fixtures.ts'
import { memoryUser } from '../../memory-fixtures.ts'
import type { HttpResponse } from '../../request-fixtures.ts'
import { createBrowser, hiddenFieldsOf, locationOf } from '../fixtures.ts'
import { ceremonyOf, changeFactors, makePasskey, takePasskey } from './fixtures.ts'

const session = '__Host-kapis-session'
const { origin } = new URL(issuer)

describe('passkeys in the login', () => {
  let setup: Authorization
  let key: ReturnType<typeof createAuthenticator>
  beforeEach(async () => {
    setup = await startAuthorization()
    key = createAuthenticator(origin)
  })
  afterEach(() => setup.app.close())

  /**
   * Adds a passkey for alice, who is logged in; the login continues when she has stored the codes.
   */
  async function enrol(browser = setup.browser, added = key): Promise<void> {
    const response = await makePasskey(browser, await changeFactors(browser, 'set-up-passkey'), added)
    const done =
      response.code === 303 ? response : await browser.post('/oauth/factor', hiddenFieldsOf(response.body))
    expect([done.code, done.headers.location]).to.deep.equal([303, '/oauth/factors'])
  }

  /** Enters the password of alice, who has a passkey. @returns the page of the second factor */
  async function begin(browser = setup.browser, returnTo?: string): Promise<HttpResponse> {
    browser.cookies.delete(session)
    return browser.logIn('alice', 'right', returnTo)
  }

  const audited = (endpoint: string) =>
    setup.app.lines
      .filter(({ audit }) => audit === endpoint)
      .map(({ outcome, reason }) => [outcome, reason].filter(word => word !== undefined).join(' '))

  it('are added, required after the password, and listed in the tokens of the login and its refreshes', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    expect((await setup.browser.get('/oauth/factors')).body).to.match(/<strong>laptop<\/strong>, used \d{4}-/)
    const page = await begin(setup.browser, authorizePath({ scope: 'openid' }))
    expect(page.code).to.equal(200)
    expect(page.headers['content-security-policy']).to.include("script-src 'self'; ")
    expect(page.body).to.match(/<script src="\/oauth\/passkey\.js\?v=[\w-]+" defer>/)
    expect(page.body).to.include('Use a passkey of <strong>alice</strong>').and.not.include('name="code"')
    const response = await takePasskey(setup.browser, page, key)
    expect(response.code).to.equal(303)
    const sent = locationOf(await setup.browser.get(String(response.headers.location)))
    const tokens = JSON.parse((await setup.exchange(sent.searchParams.get('code') ?? '')).body)
    const methods = { amr: ['pwd', 'pop', 'user', 'mfa'], acr: 'mfa' }
    expect(decode(tokens.id_token)).to.deep.include(methods)
    expect(decode(tokens.access_token)).to.deep.include(methods)
    const { refresh_token } = tokens
    const refreshed = await setup.app.token({ grant_type: 'refresh_token', refresh_token, ...web })
    expect(decode(JSON.parse(refreshed.body).access_token)).to.deep.include(methods)
    expect(audited('second-factor-enrolment')).to.deep.equal(['success', 'success'])
    expect(audited('second-factor')).to.deep.equal(['success', 'success'])
  })

  it('are offered together with an authenticator app, which works without JavaScript', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const page = await changeFactors(setup.browser, 'set-up-totp')
    const secret = /secret=([A-Z2-7]{32})/.exec(page.body)?.[1] ?? ''
    const code = totpCode(secret)
    await setup.browser.post('/oauth/factor/totp', { ...hiddenFieldsOf(page.body), code })
    const asked = await begin()
    expect(asked.body).to.include('name="code"').and.include('data-passkey="get"')
    const { fields } = ceremonyOf(asked, 'get')
    delete fields.passkey
    const response = await setup.browser.post('/oauth/factor', { ...fields, code: totpCode(secret, 1) })
    expect(response.code).to.equal(303)
    expect((await takePasskey(setup.browser, await begin(), key)).code).to.equal(303)
  })

  it('are valid for one page of one browser and user, once', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const page = await begin()
    const { options, fields } = ceremonyOf(page, 'get')
    const passkey = key.get(options)
    // Another tab, whose page has another challenge.
    const tab = ceremonyOf(await begin(), 'get')
    expect(tab.options.challenge).to.not.equal(options.challenge)
    const swapped = await setup.browser.post('/oauth/factor', { ...tab.fields, passkey })
    expect([swapped.code, swapped.body.includes('The passkey was not accepted. Try again.')]).to.deep.equal([
      400,
      true,
    ])
    // Another browser.
    const other = createBrowser(setup.app)
    const { csrf = '' } = hiddenFieldsOf((await other.get('/oauth/login')).body)
    const stolen = await other.post('/oauth/factor', { ...fields, csrf, passkey })
    expect([stolen.code, locationOf(stolen).pathname]).to.deep.equal([303, '/oauth/login'])
    // Another user, who has a passkey too.
    setup.app.users.set('bob', memoryUser('bob'))
    const bob = createBrowser(setup.app)
    await bob.logIn('bob', 'right')
    await enrol(bob, createAuthenticator(origin))
    bob.cookies.delete(session)
    const bobs = ceremonyOf(await bob.logIn('bob', 'right'), 'get')
    const foreign = await bob.post('/oauth/factor', { ...bobs.fields, passkey: key.get(bobs.options) })
    expect([foreign.code, bob.cookies.has(session)]).to.deep.equal([400, false])
    expect((await setup.browser.post('/oauth/factor', { ...fields, passkey })).code).to.equal(303)
    setup.browser.cookies.delete(session)
    const replayed = await setup.browser.post('/oauth/factor', { ...fields, passkey })
    expect([replayed.code, replayed.body.includes('This page was used before. Try again.')]).to.deep.equal([
      400,
      true,
    ])
    expect(setup.browser.cookies.has(session)).to.equal(false)
    // The page with the error has a new challenge.
    expect((await takePasskey(setup.browser, replayed, key)).body).to.include(
      'This login was completed before',
    )
    expect(audited('second-factor').filter(line => line !== 'success')).to.deep.equal([
      'failure wrong_passkey',
      'failure ticket_invalid',
      'failure wrong_passkey',
      'failure passkey_replayed',
      'failure login_completed',
    ])
  })

  it('are rejected when the counter decreases, which is audited', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const { options, fields } = ceremonyOf(await begin(), 'get')
    const passkey = key.get(options, { counter: 1 })
    const response = await setup.browser.post('/oauth/factor', { ...fields, passkey })
    expect([response.code, response.body.includes('since it may have been copied')]).to.deep.equal([
      400,
      true,
    ])
    expect(audited('second-factor').at(-1)).to.equal('failure passkey_counter')
  })

  it('count in the same lockout as the password', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const page = await begin()
    const wrong = createAuthenticator(origin)
    for (let i = 0; i < 5; i++) await takePasskey(setup.browser, page, wrong)
    const locked = await takePasskey(setup.browser, page, key)
    expect([locked.code, Number(locked.headers['retry-after'])]).to.deep.equal([429, 600])
    expect(locked.body).to.include('Too many wrong attempts. Try again in 10 minutes.')
    expect((await createBrowser(setup.app).logIn('alice', 'right')).code).to.equal(429)
  })

  it('do not log in a deleted user', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const page = await begin()
    setup.app.users.set('alice', memoryUser('alice', { uid: 'uid-of-a-later-user' }))
    const added = { ...ceremonyOf(page, 'get').fields, name: 'x', passkey: key.create({ challenge: '' }) }
    for (const response of [
      await takePasskey(setup.browser, page, key),
      await setup.browser.post('/oauth/factor/passkey', added),
    ])
      expect([response.code, locationOf(response).pathname]).to.deep.equal([303, '/oauth/login'])
  })

  it('are added by one of two concurrent browsers, and the other must then use it', async () => {
    const other = createBrowser(setup.app)
    setup.app.requiredGroups.push('dev')
    const late = await other.logIn('alice', 'right')
    setup.app.requiredGroups.pop()
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const response = await makePasskey(other, late, createAuthenticator(origin))
    expect([response.code, response.body.includes('data-passkey="get"')]).to.deep.equal([200, true])
    expect(audited('second-factor-enrolment').at(-1)).to.equal('failure second_factor_required')
    // The ticket of the page that requires a passkey cannot add one either.
    const { options, fields } = ceremonyOf(response, 'get')
    const passkey = createAuthenticator(origin).create({ ...options, rp: { id: options.rpId ?? '' } })
    const skipped = await other.post('/oauth/factor/passkey', { ...fields, name: 'x', passkey })
    expect(skipped.body).to.include('data-passkey="get"')
    expect((await setup.app.tools.factors.read(memoryUser('alice'))).passkeys).to.have.length(1)
  })

  it('end other sessions without a second factor when the first one is added', async () => {
    const other = createBrowser(setup.app)
    await other.logIn('alice', 'right')
    await setup.browser.logIn('alice', 'right')
    await enrol()
    expect(locationOf(await other.get('/oauth/session')).pathname).to.equal('/oauth/login')
    expect((await setup.browser.get('/oauth/session')).code).to.equal(200)
  })

  it('are set up after the password if the policy requires a factor, and the last one cannot be removed', async () => {
    setup.app.requiredGroups.push('dev')
    const page = await setup.browser.logIn('alice', 'right', authorizePath({ scope: 'openid' }))
    expect(page.body).to.include('Set up a second factor').and.include('<svg')
    const again = await makePasskey(
      setup.browser,
      { ...page, body: page.body.replace(/challenge&quot;:&quot;./, 'challenge&quot;:&quot;_') },
      key,
    )
    expect([again.code, again.body.includes('The passkey was not accepted.')]).to.deep.equal([400, true])
    const codes = await makePasskey(setup.browser, again, key)
    expect(codes.body).to.include('Your recovery codes')
    expect(setup.browser.cookies.has(session)).to.equal(false)
    await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body))
    expect(setup.browser.cookies.has(session)).to.equal(true)
    const factors = await setup.browser.get('/oauth/factors')
    expect(factors.body).to.include('can only be replaced').and.not.include('value="remove-passkey"')
    const refused = await changeFactors(setup.browser, 'remove-passkey', { passkey: key.id })
    expect([refused.code, refused.body.includes('This user needs a second factor')]).to.deep.equal([
      403,
      true,
    ])
    const next = createAuthenticator(origin)
    await enrol(setup.browser, next)
    expect((await changeFactors(setup.browser, 'remove-passkey', { passkey: key.id })).code).to.equal(303)
    expect((await takePasskey(setup.browser, await begin(), next)).code).to.equal(303)
  })

  it('can be renamed, and replaced by a recovery code', async () => {
    await setup.browser.logIn('alice', 'right')
    await enrol()
    const renamed = await changeFactors(setup.browser, 'rename-passkey', {
      passkey: key.id,
      name: '<b>"phone"',
    })
    expect(renamed.code).to.equal(303)
    const { body } = await setup.browser.get('/oauth/factors')
    expect(body).to.include('&lt;b&gt;&quot;phone&quot;').and.not.include('<b>')
    const codes = await changeFactors(setup.browser, 'renew-codes')
    const [, recovery_code = ''] = /<li>([\w-]{14})<\/li>/.exec(codes.body) ?? []
    const { fields } = ceremonyOf(await begin(), 'get')
    delete fields.passkey
    expect((await setup.browser.post('/oauth/factor', { ...fields, recovery_code })).code).to.equal(303)
    await changeFactors(setup.browser, 'remove-passkey', { passkey: key.id })
    expect((await begin()).code).to.equal(303)
  })

  it('are required by acr_values for a session without one (step-up)', async () => {
    await setup.browser.logIn('alice', 'right')
    const page = await setup.authorize({ scope: 'openid', acr_values: 'mfa' })
    const codes = await makePasskey(setup.browser, page, key)
    const done = await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body))
    const sent = locationOf(await setup.browser.get(String(done.headers.location)))
    expect(sent.searchParams.get('code')).to.be.a('string')
    const silent = locationOf(await setup.authorize({ acr_values: 'mfa', prompt: 'none' }))
    expect(silent.searchParams.get('code')).to.be.a('string')
  })

  it('with invalid parameters are rejected with a page that explains the error', async () => {
    await setup.browser.logIn('alice', 'right')
    const page = await changeFactors(setup.browser, 'set-up-passkey')
    const { options, fields } = ceremonyOf(page, 'create')
    const passkey = key.create(options)
    const expected = 'expected the JSON of a PublicKeyCredential'
    for (const [path, form, words] of [
      ['/oauth/factor', { passkey: '{' }, expected],
      ['/oauth/factor', { passkey }, expected],
      ['/oauth/factor', { passkey: '['.repeat(20_000) }, expected],
      ['/oauth/factor/passkey', { name: 'x', passkey: 'null' }, expected],
      ['/oauth/factor/passkey', { name: 'x', passkey: '' }, 'The parameter passkey is required'],
      ['/oauth/factor/passkey', { name: '', passkey }, 'The parameter name is required'],
      ['/oauth/factor/passkey', { name: 'a\nb', passkey }, 'expected 1 to 64 characters'],
      [
        '/oauth/factors',
        { action: 'rename-passkey', passkey: 'x', name: 'x'.repeat(65) },
        'expected 1 to 64',
      ],
      ['/oauth/factors', { action: 'remove-passkey', passkey: '' }, 'The parameter passkey is required'],
      ['/oauth/factors', { action: 'x' }, 'supported: set-up-totp, remove-totp, set-up-passkey'],
    ] as const) {
      const response = await setup.browser.post(path, { ...fields, ...form })
      expect(
        [response.code, response.body.includes(words)],
        `${path} ${words} ${response.body}`,
      ).to.deep.equal([400, true])
      expect(response.body)
        .to.include('invalid_request')
        .and.not.match(/node_modules|\.ts:/)
    }
    expect(setup.app.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })
})
