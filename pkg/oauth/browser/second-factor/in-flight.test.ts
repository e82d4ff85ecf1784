import { expect } from 'chai'
import { noFactors } from '../../../iam/factors/factors.ts'
import { totpCode } from '../../../iam/factors/fixtures.ts'
import { createAuthenticator } from '../../../iam/factors/passkey-fixtures.ts'
import { issuer } from '../../../jwt/fixtures.ts'
import { type Authorization, authorizePath, startAuthorization } from '../../authorize/fixtures.ts'
import { memoryUser } from '../../memory-fixtures.ts'
import type { HttpResponse } from '../../request-fixtures.ts'
import { createBrowser, hiddenFieldsOf, locationOf } from '../fixtures.ts'
import { changeFactors, makePasskey, secretOf, setUpApp, takePasskey } from './fixtures.ts'

const session = '__Host-kapis-session'

// Attacks with a login page whose form is sent only after the state of the user has changed.
describe('a login whose second factor is pending', () => {
  let setup: Authorization
  const realNow = Date.now
  beforeEach(async () => {
    setup = await startAuthorization()
  })
  afterEach(async () => {
    Date.now = realNow
    await setup.app.close()
  })

  const pass = (seconds: number) => {
    const now = Date.now
    Date.now = () => now() + seconds * 1000
  }
  const audited = (endpoint: string) =>
    setup.app.lines
      .filter(({ audit }) => audit === endpoint)
      .map(({ outcome, reason }) => [outcome, reason].filter(word => word !== undefined).join(' '))
  const isLoggedIn = () => setup.browser.cookies.has(session)
  const expectLoginPage = (response: HttpResponse) =>
    expect([response.code, locationOf(response).pathname, isLoggedIn()]).to.deep.equal([
      303,
      '/oauth/login',
      false,
    ])
  /** As an administrator does; all sessions of the user end, too. */
  async function reset(): Promise<void> {
    const policy = setup.app.requiredGroups.splice(0)
    await setup.app.tools.factors.removeTotp(memoryUser('alice'))
    for (const { id } of (await setup.app.tools.factors.read(memoryUser('alice'))).passkeys)
      await setup.app.tools.factors.removePasskey(memoryUser('alice'), id)
    expect(await setup.app.tools.factors.read(memoryUser('alice'))).to.deep.equal(noFactors)
    for (const [sid, known] of setup.app.sessions)
      setup.app.sessions.set(sid, { ...known, ended: 'second factors reset' })
    setup.app.requiredGroups.push(...policy)
  }
  /** Alice has an app, and has entered her password. */
  async function pending(returnTo?: string) {
    await setup.browser.logIn('alice', 'right')
    const app = await setUpApp(setup.browser)
    expect((await setup.browser.post('/oauth/factor', app.fields)).code).to.equal(303)
    await setup.app.form('/oauth/logout', {})
    setup.browser.cookies.delete(session)
    const page = await setup.browser.logIn('alice', 'right', returnTo)
    return { ...app, page, fields: hiddenFieldsOf(page.body) }
  }

  it('ends after half an hour, even if each page with an error begins another ten minutes', async () => {
    setup.app.requiredGroups.push('dev')
    let page = await setup.browser.logIn('alice', 'right')
    const secret = secretOf(page)
    for (let i = 0; i < 3; i++) {
      pass(590)
      page = await setup.browser.post('/oauth/factor/totp', { ...hiddenFieldsOf(page.body), code: '000000' })
      expect([page.code, secretOf(page)]).to.deep.equal([400, secret])
    }
    pass(590)
    const late = { ...hiddenFieldsOf(page.body), code: totpCode(secret) }
    expectLoginPage(await setup.browser.post('/oauth/factor/totp', late))
    expect(audited('second-factor-enrolment').at(-1)).to.equal('failure ticket_invalid')
    expect((await setup.app.tools.factors.read(memoryUser('alice'))).totp).to.equal(undefined)
  })

  it('ends after ten minutes on one page, for a passkey as well', async () => {
    const key = createAuthenticator(new URL(issuer).origin)
    await setup.browser.logIn('alice', 'right')
    const codes = await makePasskey(setup.browser, await changeFactors(setup.browser, 'set-up-passkey'), key)
    await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body))
    setup.browser.cookies.delete(session)
    pass(-601)
    const page = await setup.browser.logIn('alice', 'right')
    Date.now = realNow
    expectLoginPage(await takePasskey(setup.browser, page, key))
    expect(
      (await takePasskey(setup.browser, await setup.browser.logIn('alice', 'right'), key)).code,
    ).to.equal(303)
  })

  for (const [what, end] of [
    [
      'has logged out',
      async () => {
        const { body } = await setup.browser.get('/oauth/session')
        await setup.browser.post('/oauth/session', { ...hiddenFieldsOf(body), action: 'logout' })
      },
    ],
    [
      'whose sessions an administrator has ended',
      async () => {
        for (const [sid, known] of setup.app.sessions)
          setup.app.sessions.set(sid, { ...known, ended: 'revoked' })
      },
    ],
  ] as const)
    it(`does not continue from the settings of a user who ${what}`, async () => {
      await setup.browser.logIn('alice', 'right')
      const { fields } = await setUpApp(setup.browser)
      await setup.browser.post('/oauth/factor', fields)
      const own = (await setup.app.tools.factors.read(memoryUser('alice'))).totp
      const totp = await changeFactors(setup.browser, 'set-up-totp')
      const passkey = await changeFactors(setup.browser, 'set-up-passkey')
      const codes = await changeFactors(setup.browser, 'renew-codes')
      await end()
      setup.browser.cookies.delete(session)
      const replaced = { ...hiddenFieldsOf(totp.body), code: totpCode(secretOf(totp)) }
      for (const response of [
        await setup.browser.post('/oauth/factor/totp', replaced),
        await makePasskey(setup.browser, passkey, createAuthenticator(new URL(issuer).origin)),
        await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body)),
      ])
        expectLoginPage(response)
      expect(await setup.app.tools.factors.read(memoryUser('alice'))).to.deep.include({
        totp: own,
        passkeys: [],
      })
    })

  it('does not continue with a step-up of a session that has ended', async () => {
    const { secret, page } = await pending()
    const fresh = { ...hiddenFieldsOf(page.body), code: totpCode(secret, 1) }
    expect((await setup.browser.post('/oauth/factor', fresh)).code).to.equal(303)
    // A session from before the factor was set up.
    const [stored] = [...setup.app.sessions.values()].slice(-1)
    const claims = { sub: 'alice', uid: 'uid-alice', idp: '', generation: 1, amr: 'pwd' }
    const sid = stored?.sid ?? ''
    const cookie = await setup.app.tools.internalJwts.sign('browser', claims, { lifeSeconds: 600, jti: sid })
    setup.browser.cookies.set(session, cookie)
    const asked = await setup.browser.get(authorizePath({ scope: 'openid', acr_values: 'mfa' }))
    expect(asked.body).to.include('authenticator app shows for')
    if (stored !== undefined) setup.app.sessions.set(sid, { ...stored, ended: 'revoked' })
    setup.browser.cookies.delete(session)
    pass(60)
    const late = { ...hiddenFieldsOf(asked.body), code: totpCode(secret, 1) }
    expectLoginPage(await setup.browser.post('/oauth/factor', late))
  })

  it('continues without a factor when an administrator has reset the factors, and never ends on an empty page', async () => {
    const { fields } = await pending()
    await reset()
    const response = await setup.browser.post('/oauth/factor', { ...fields, code: '000000' })
    expect([response.code, isLoggedIn()]).to.deep.equal([303, true])
  })

  it('sets up another factor when the policy requires one and an administrator has reset it', async () => {
    const { fields, secret } = await pending()
    setup.app.requiredGroups.push('dev')
    await reset()
    const response = await setup.browser.post('/oauth/factor', { ...fields, code: totpCode(secret, 1) })
    expect([response.code, isLoggedIn()]).to.deep.equal([200, false])
    expect(response.body).to.include('Set up a second factor')
    expect(secretOf(response)).to.not.equal(secret)
  })

  it('is not completed with a factor that an administrator has removed since', async () => {
    setup.app.requiredGroups.push('dev')
    const page = await setup.browser.logIn('alice', 'right')
    const code = totpCode(secretOf(page))
    const codes = await setup.browser.post('/oauth/factor/totp', { ...hiddenFieldsOf(page.body), code })
    await reset()
    const response = await setup.browser.post('/oauth/factor', hiddenFieldsOf(codes.body))
    expect([response.code, isLoggedIn()]).to.deep.equal([400, false])
    expect(response.body).to.include('The second factor was removed in the meantime: log in again')
    expect(audited('second-factor').at(-1)).to.equal('failure second_factor_removed')
  })

  it('does not accept a passkey that was removed since, which counts as a failure', async () => {
    const key = createAuthenticator(new URL(issuer).origin)
    await setup.browser.logIn('alice', 'right')
    const { fields, secret } = await setUpApp(setup.browser)
    await setup.browser.post('/oauth/factor', fields)
    await makePasskey(setup.browser, await changeFactors(setup.browser, 'set-up-passkey'), key)
    setup.browser.cookies.delete(session)
    const page = await setup.browser.logIn('alice', 'right')
    await setup.app.tools.factors.removePasskey(memoryUser('alice'), key.id)
    const response = await takePasskey(setup.browser, page, key)
    expect([response.code, response.body.includes('data-passkey'), isLoggedIn()]).to.deep.equal([
      400,
      false,
      false,
    ])
    expect(response.body).to.include('The passkey was not accepted.')
    pass(30)
    const code = totpCode(secret)
    expect(
      (await setup.browser.post('/oauth/factor', { ...hiddenFieldsOf(response.body), code })).code,
    ).to.equal(303)
  })

  it('is not completed by a user who was disabled or whose password has changed', async () => {
    const { fields, secret } = await pending()
    const alice = setup.app.users.get('alice')
    if (alice === undefined) return expect.fail()
    const code = totpCode(secret, 1)
    setup.app.users.set('alice', { ...alice, state: 'Disabled' })
    const disabled = await setup.browser.post('/oauth/factor', { ...fields, code })
    expect([disabled.code, isLoggedIn()]).to.deep.equal([400, false])
    setup.app.users.set('alice', { ...alice, credential: 'another' })
    expectLoginPage(await setup.browser.post('/oauth/factor', { ...fields, code }))
    setup.app.users.set('alice', alice)
    expect((await setup.browser.post('/oauth/factor', { ...fields, code })).code).to.equal(303)
  })

  it('belongs to one user: the ticket of another user in the same browser changes nothing', async () => {
    const { secret } = await pending()
    setup.app.users.set('bob', memoryUser('bob'))
    const bob = createBrowser(setup.app)
    await bob.logIn('bob', 'right')
    const page = await changeFactors(bob, 'set-up-totp')
    // Alice then logs in with this browser, which still shows the page.
    bob.cookies.delete(session)
    pass(30)
    const asked = await bob.logIn('alice', 'right')
    const code = totpCode(secret, 1)
    expect((await bob.post('/oauth/factor', { ...hiddenFieldsOf(asked.body), code })).code).to.equal(303)
    const late = { ...hiddenFieldsOf(page.body), code: totpCode(secretOf(page)) }
    const response = await bob.post('/oauth/factor/totp', late)
    expect([response.code, locationOf(response).pathname]).to.deep.equal([303, '/oauth/login'])
    expect(await setup.app.tools.factors.read(memoryUser('bob'))).to.deep.equal(noFactors)
    expect((await bob.get('/oauth/session')).body).to.include('You are <strong>alice</strong>')
  })
})
