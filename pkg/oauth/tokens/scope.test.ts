import { expect } from 'chai'
import { authorizePath, redirectUri } from '../authorize/fixtures.ts'
import { locationOf } from '../browser/fixtures.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient } from '../memory-fixtures.ts'
import { exchangeScope, grantScope, narrowScope } from './scope.ts'

const onlyForOthers = 'the scope read is only for personal access tokens and token exchange'
const free = { scopeRestrictions: [] }
const limited = { scopeRestrictions: ['openid'] }
const orError = (work: () => string) => {
  try {
    return work()
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}

describe('grantScope', () => {
  const cases: readonly [requested: string | undefined, client: typeof limited, expected: string][] = [
    [undefined, free, ''],
    ['openid email', free, 'openid email'],
    ['openid openid', free, 'openid'],
    ['openid unknown', free, 'openid'],
    ['openid email', limited, 'openid'],
    ['reader', free, ''],
    ['read', free, onlyForOthers],
    ['openid read', free, onlyForOthers],
    ['read', { scopeRestrictions: ['read'] }, onlyForOthers],
    ['', free, 'the parameter scope is malformed'],
    ['openid  email', free, 'the parameter scope is malformed'],
    ['"', free, 'the parameter scope is malformed'],
    ['x'.repeat(1025), free, 'the parameter scope is malformed'],
  ]
  for (const [requested, client, expected] of cases)
    it(`grants ${expected} for ${requested?.slice(0, 20)} and ${client.scopeRestrictions.join() || 'any'}`, () =>
      expect(orError(() => grantScope(requested, client))).to.equal(expected))
})

describe('narrowScope', () => {
  const wider = 'the parameter scope exceeds the scope of the login'
  const cases: readonly [granted: string, requested: string | undefined, expected: string][] = [
    ['openid email', undefined, 'openid email'],
    ['openid email', 'openid', 'openid'],
    ['openid', 'openid email', wider],
    ['openid', 'unknown', wider],
    ['', 'unknown', ''],
    ['openid', 'read', onlyForOthers],
    ['openid', 'openid read', onlyForOthers],
    ['', 'read', onlyForOthers],
  ]
  for (const [granted, requested, expected] of cases)
    it(`narrows "${granted}" for ${requested} to ${expected}`, () =>
      expect(orError(() => narrowScope(granted, requested, free))).to.equal(expected))
})

describe('exchangeScope', () => {
  const malformed = 'the parameter scope is malformed'
  const cases: readonly [granted: string | undefined, requested: string | undefined, expected: string][] = [
    [undefined, undefined, ''],
    [undefined, 'openid read', 'openid read'],
    [undefined, 'read', 'read'],
    ['openid email', 'read', 'openid email read'],
    ['openid email', 'openid read', 'openid read'],
    ['openid read', undefined, 'openid read'],
    ['openid read', 'openid', 'openid read'],
    ['openid', ' read', malformed],
    ['openid', 'read  openid', malformed],
    ['openid', `read ${'x'.repeat(1024)}`, malformed],
  ]
  for (const [granted, requested, expected] of cases)
    it(`returns ${expected} for "${granted}" and ${requested?.slice(0, 20)}`, () =>
      expect(orError(() => exchangeScope(requested, free, { granted, mustBeRead: false }))).to.equal(
        expected,
      ))

  it('returns a read-only scope if the policy requires it, for any request', () => {
    for (const requested of [undefined, 'openid'])
      expect(
        exchangeScope(requested, free, { granted: 'openid', mustBeRead: true }),
        String(requested),
      ).to.equal('openid read')
  })
})

describe('a login with the scope read only', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
    const client = memoryClient('ci', {
      grantTypes: ['client_credentials', 'authorization_code'],
      redirectURIs: [redirectUri],
      user: 'alice',
    })
    app.clients.set('ci', { client, secret: 's' })
  })
  after(() => app.close())

  const refused = { error: 'invalid_scope', error_description: onlyForOthers }
  const password = { grant_type: 'password', username: 'alice', password: 'right' }

  for (const scope of ['read', 'openid read']) {
    it(`is rejected by every grant: ${scope}`, async () => {
      const { refresh_token } = await app.login('alice', { scope: 'openid' })
      const before = app.sessions.size
      const ci = { client_id: 'ci', client_secret: 's' }
      const responses = [
        await app.token({ ...password, scope }),
        await app.token({ grant_type: 'client_credentials', ...ci, scope }),
        await app.token({ grant_type: 'refresh_token', refresh_token, scope }),
        await app.form('/oauth/device_authorization', { client_id: 'kapis', client_secret: 'kapis', scope }),
      ]
      for (const { code, body } of responses) expect([code, JSON.parse(body)]).to.deep.equal([400, refused])
      const redirect = locationOf(await app.send('GET', authorizePath({ client_id: 'ci', scope })))
      expect(Object.fromEntries(redirect.searchParams)).to.include(refused)
      expect(app.sessions.size).to.equal(before)
      // The refresh token is still valid.
      expect((await app.token({ grant_type: 'refresh_token', refresh_token })).code).to.equal(200)
    })
  }
})
