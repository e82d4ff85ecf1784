import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'

describe('client_credentials', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(() => {
    app.users.set('robot', memoryUser('robot', { inlineHash: undefined, credential: '' }))
    const client = memoryClient('ci', {
      trusted: false,
      grantTypes: ['client_credentials'],
      user: 'robot',
      accessTokenMaxAgeSeconds: 600,
    })
    app.clients.set('ci', { client, secret: 's' })
  })

  const send = (more: Record<string, string> = {}) =>
    app.form('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: 'ci',
      client_secret: 's',
      ...more,
    })

  it('returns a token with the permissions of the client’s user, for a limited time, and no refresh token', async () => {
    const response = await send({ scope: 'openid' })
    expect(response.code).to.equal(200)
    const { access_token, ...rest } = JSON.parse(response.body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 600 })
    const { sid, exp, iat, jti, ...claims } = await app.tools.verifier.verifyAccess(access_token)
    expect(exp - iat).to.equal(600)
    const who = { sub: 'robot', uid: 'uid-robot' }
    expect(claims).to.deep.equal({ ...who, clientId: 'ci', scope: 'openid', aud: ['kapis.io'] })
    expect(app.sessions.get(sid)).to.include({
      type: 'ClientCredentials',
      user: 'robot',
      userUid: 'uid-robot',
      credential: '',
      refreshId: '',
      expiresAtMs: exp * 1000,
    })
  })

  it('is available only to clients with this grant', async () => {
    const response = await app.token({ grant_type: 'client_credentials' })
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      400,
      { error: 'unauthorized_client', error_description: 'the client may not use this grant type' },
    ])
  })

  it('requires the secret of the client', async () => {
    const response = await send({ client_secret: 'wrong' })
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      401,
      { error: 'invalid_client', error_description: 'invalid client credential' },
    ])
  })

  const gone: readonly [string, () => void, string][] = [
    ['does not exist', () => app.users.delete('robot'), 'the user of the client does not exist'],
    [
      'is disabled',
      () => app.users.set('robot', memoryUser('robot', { state: 'Disabled' })),
      'account is not active',
    ],
  ]
  for (const [what, change, description] of gone) {
    it(`returns no token when the user ${what}`, async () => {
      change()
      const response = await send()
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: description },
      ])
    })
  }
})
