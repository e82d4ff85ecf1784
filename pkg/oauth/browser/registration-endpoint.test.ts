import { expect } from 'chai'
import { readProviderConfig } from '../../iam/identityprovider/config.ts'
import type { ProviderClient } from '../../iam/identityprovider/external-identity.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'
import { createBrowser, hiddenFieldsOf, locationOf } from './fixtures.ts'

/** A directory in which the password of each user is the user name. */
const directory: ProviderClient = {
  kind: 'password',
  authenticate: async ({ username }) => ({
    uid: `uid-of-${username}`,
    username,
    email: `${username}@corp.test`,
    displayName: '',
    groups: Array.from({ length: 200 }, (_, i) => `a-group-with-a-rather-long-name-${i}`),
  }),
}

describe('pages for first logins through an identity provider', () => {
  let app: TestApp
  function configure(changes: object): void {
    const document = {
      name: 'corp',
      displayName: 'Corp <1>',
      type: 'OIDCIdentityProvider',
      disableLoginConfirmation: false,
      provider: { issuer: 'https://id.example.com', clientID: 'kapis' },
      ...changes,
    }
    const config = readProviderConfig(document, [])
    if (config === undefined) throw new Error('not read')
    app.providers.set('corp', { config, client: directory })
  }
  beforeEach(async () => {
    app = await startApp()
    configure({})
  })
  afterEach(() => app.close())

  /** Opens the registration page in a new browser. */
  async function arrive(name: string, browser = createBrowser(app)) {
    const login = await browser.get('/oauth/login?provider=corp&return_to=/oauth/device')
    const response = await browser.post('/oauth/login', {
      ...hiddenFieldsOf(login.body),
      username: name,
      password: name,
    })
    return { browser, response, fields: hiddenFieldsOf(response.body) }
  }

  it('prompt for a user name, suggest one, and log the user in', async () => {
    const { browser, response, fields } = await arrive('Zoë')
    expect(response.code).to.equal(200)
    expect(response.headers['content-security-policy']).to.match(/^default-src 'none'/)
    expect(response.headers['cache-control']).to.equal('no-store')
    expect(app.lines.findLast(({ audit }) => audit === 'login')).to.include({
      provider: 'corp',
      outcome: 'pending',
      reason: 'registration_not_confirmed',
    })
    expect(response.body).to.include('at <strong>Corp &lt;1&gt;</strong>').and.include('value="zoe"')
    const done = await browser.post('/oauth/register', { ...fields, username: 'zoe' })
    expect([done.code, locationOf(done).pathname]).to.deep.equal([303, '/oauth/device'])
    expect((await browser.get('/oauth/session')).body).to.include('You are <strong>zoe</strong>')
    expect(app.lines.findLast(({ audit }) => audit === 'register')).to.include({
      user: 'zoe',
      provider: 'corp',
      outcome: 'success',
    })
    // The submitted form is invalid now: it is useless to an attacker who finds it.
    const again = await browser.post('/oauth/register', { ...fields, username: 'other' })
    expect(again.code).to.equal(400)
    expect(app.users.has('other')).to.equal(false)
  })

  it('keep the input when the name is taken', async () => {
    const { browser, fields } = await arrive('zoe')
    const taken = await browser.post('/oauth/register', { ...fields, username: 'alice' })
    expect(taken.code).to.equal(400)
    expect(taken.body)
      .to.include('The user name alice is taken; choose another one.')
      .and.include('value="alice"')
    expect(app.lines.findLast(({ audit }) => audit === 'register')).to.include({ reason: 'user_name_taken' })
  })

  it('limit how many names an account can test', async () => {
    const { browser, fields } = await arrive('zoe')
    const tryName = (username: string) => browser.post('/oauth/register', { ...fields, username })
    for (let i = 0; i < 20; i++) expect((await tryName('alice')).code).to.equal(400)
    const refused = await tryName('zoe')
    expect([refused.code, app.users.has('zoe')]).to.deep.equal([429, false])
    expect(refused.headers['retry-after']).to.match(/^\d+$/)
    expect(refused.body).to.include('Too many user names were tried')
    const other = await arrive('yan')
    expect((await other.browser.post('/oauth/register', { ...other.fields, username: 'yan' })).code).to.equal(
      303,
    )
  })

  it('link a user whose password is known, and count wrong passwords', async () => {
    configure({ mappingMethod: 'manual' })
    const { browser, fields } = await arrive('zoe')
    for (let i = 0; i < 5; i++) {
      const wrong = await browser.post('/oauth/link', { ...fields, username: 'nonexistent', password: 'x' })
      expect(wrong.body).to.include('The user name or the password is wrong.')
    }
    const locked = await browser.post('/oauth/link', { ...fields, username: 'nonexistent', password: 'x' })
    expect(locked.code).to.equal(429)
    expect(locked.headers['retry-after']).to.match(/^\d+$/)
    const inactive = await browser.post('/oauth/link', { ...fields, username: 'disabled', password: 'right' })
    expect(inactive.body).to.include('This account is not active.')
    const done = await browser.post('/oauth/link', { ...fields, username: 'alice', password: 'right' })
    expect(done.code).to.equal(303)
    expect([...app.sessions.values()].at(-1)).to.include({ user: 'alice', provider: 'corp', credential: '' })
  })

  it('neither link nor log in a user whose password an administrator has set', async () => {
    const message =
      'The password of this user was set by an administrator: log in with it and change it first.'
    configure({ mappingMethod: 'manual' })
    const { browser, fields } = await arrive('zoe')
    const given = memoryUser('given', { mustChangePassword: true })
    app.users.set('given', given)
    const link = await browser.post('/oauth/link', { ...fields, username: 'given', password: 'right' })
    expect([link.code, app.users.has('uid-of-zoe')]).to.deep.equal([400, false])
    expect(link.body).to.include(message)
    // An administrator links the account to a user.
    app.users.set('uid-of-zoe', given)
    const { response } = await arrive('zoe', browser)
    expect(response.code).to.equal(400)
    expect(response.body).to.include(message)
    expect(app.lines.findLast(({ audit }) => audit === 'login')).to.include({
      user: 'given',
      reason: 'password_to_change',
    })
    expect(browser.cookies.has('__Host-kapis-session')).to.equal(false)
  })

  it('reject a form of another browser, or without the token', async () => {
    const { fields } = await arrive('zoe')
    const other = createBrowser(app)
    await other.get('/oauth/login')
    for (const form of [fields, { ...fields, csrf: '' }]) {
      expect(await other.post('/oauth/register', { ...form, username: 'zoe' })).to.include({ code: 403 })
      expect(await other.post('/oauth/link', { ...form, username: 'alice', password: 'right' })).to.include({
        code: 403,
      })
    }
  })

  const changed: readonly [string, () => unknown][] = [
    ['links users instead of creating them', () => configure({ mappingMethod: 'manual' })],
    ['accepts only linked users', () => configure({ mappingMethod: 'lookup' })],
    ['was removed', () => app.providers.delete('corp')],
  ]
  for (const [what, change] of changed) {
    it(`start again when the provider ${what} in the meantime`, async () => {
      const { browser, fields } = await arrive('zoe')
      change()
      const response = await browser.post('/oauth/register', { ...fields, username: 'zoe' })
      expect([response.code, locationOf(response).pathname]).to.deep.equal([303, '/oauth/login'])
      expect(app.users.has('zoe')).to.equal(false)
    })
  }

  it('reject a ticket that was issued for another purpose', async () => {
    configure({ mappingMethod: 'manual' })
    const { browser, fields } = await arrive('zoe')
    const response = await browser.post('/oauth/register', { ...fields, username: 'zoe' })
    expect([response.code, locationOf(response).pathname]).to.deep.equal([303, '/oauth/login'])
  })

  const refused: readonly [string, string][] = [
    ['auto', 'the first login with Corp <1> must be confirmed; log in with a browser'],
    ['manual', 'no user is linked to this account of Corp <1>; log in with a browser to link one'],
  ]
  for (const [mappingMethod, error_description] of refused) {
    it(`are required by the password grant with mappingMethod ${mappingMethod}`, async () => {
      configure({ mappingMethod })
      const response = await app.token({
        grant_type: 'password',
        provider: 'corp',
        username: 'zoe',
        password: 'zoe',
      })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description },
      ])
    })
  }
})
