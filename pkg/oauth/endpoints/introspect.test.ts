import { expect } from 'chai'
import { forge, issuer } from '../../jwt/fixtures.ts'
import { kapis, startApp, type TestApp, type TestTokens } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'
import { issueAccessToken } from '../tokens/issue-access-token.ts'

describe('POST /oauth/introspect', () => {
  let app: TestApp
  let tokens: TestTokens
  before(async () => {
    app = await startApp()
    app.clients.set('other', { client: memoryClient('other', { trusted: false }), secret: 's' })
    app.clients.set('trusted', { client: memoryClient('trusted'), secret: 's' })
  })
  after(() => app.close())
  beforeEach(async () => {
    app.users.set('alice', memoryUser('alice'))
    tokens = await app.login('alice', { scope: 'openid email' })
  })

  const introspect = (fields: Record<string, string>) =>
    app.form('/oauth/introspect', { ...kapis, ...fields })
  async function expectInactive(fields: Record<string, string>) {
    const response = await introspect(fields)
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([200, { active: false }])
  }

  it('returns the claims of an access token', async () => {
    const response = await introspect({ token: tokens.access_token, token_type_hint: 'access_token' })
    const { iat, exp, jti, sid } = await app.tools.verifier.verifyAccess(tokens.access_token)
    const login = {
      acr: 'sfa',
      amr: ['pwd'],
      auth_time: (app.sessions.get(sid)?.authenticatedAtMs ?? 0) / 1000,
    }
    expect(response.code).to.equal(200)
    expect(response.headers['cache-control']).to.equal('no-store')
    expect(JSON.parse(response.body)).to.deep.equal({
      active: true,
      token_type: 'Bearer',
      scope: 'openid email',
      client_id: 'kapis',
      username: 'alice',
      sub: 'alice',
      iss: issuer,
      aud: ['kapis.io'],
      iat,
      exp,
      jti,
      ...login,
    })
  })

  it('returns how and when a user with two factors has logged in (RFC 9470)', async () => {
    const subject = { username: 'alice', uid: 'uid-alice', groups: [], clientId: 'kapis', scope: '' }
    const { sid } = await app.tools.verifier.verifyAccess(tokens.access_token)
    const login = { amr: 'pwd otp mfa', authTime: 1_790_000_000 }
    const { token } = await app.tools.issuer.access({ ...subject, sid, login }, 60)
    expect(JSON.parse((await introspect({ token })).body)).to.deep.include({
      ...{ active: true, acr: 'mfa', amr: ['pwd', 'otp', 'mfa'], auth_time: 1_790_000_000 },
    })
  })

  it('describes a refresh token to its client while it is the newest', async () => {
    const { iat, exp, jti } = await app.tools.verifier.verifyRefresh(tokens.refresh_token)
    expect(JSON.parse((await introspect({ token: tokens.refresh_token })).body)).to.deep.equal({
      active: true,
      scope: 'openid email',
      client_id: 'kapis',
      username: 'alice',
      sub: 'alice',
      iss: issuer,
      aud: [issuer],
      iat,
      exp,
      jti,
    })
    await app.token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
    await expectInactive({ token: tokens.refresh_token })
  })

  it('describes access tokens of other clients to a trusted client, but no refresh tokens', async () => {
    const trusted = { client_id: 'trusted', client_secret: 's' }
    const response = await introspect({ ...trusted, token: tokens.access_token })
    expect(JSON.parse(response.body)).to.include({ active: true, client_id: 'kapis' })
    await expectInactive({ ...trusted, token: tokens.refresh_token })
  })

  it('describes to any other client only its own tokens', async () => {
    const other = { client_id: 'other', client_secret: 's' }
    await expectInactive({ ...other, token: tokens.access_token })
    await expectInactive({ ...other, token: tokens.refresh_token })
  })

  /** Returns an access token of a token exchange for another audience. */
  async function issueFor(audience: string, clientId: string) {
    const { issued, session } = await issueAccessToken(app.tools, {
      user: memoryUser('alice'),
      ...{ type: 'TokenExchange', clientId, scope: 'read', lifeSeconds: 60, isLive: true, audience },
    })
    return { token: issued.token, session }
  }

  it('describes a token for another audience only to its client and that audience', async () => {
    const { token } = await issueFor('other', 'kapis')
    const introspection = JSON.parse((await introspect({ token })).body)
    expect(introspection).to.include({ active: true, client_id: 'kapis', scope: 'read' })
    // No user has logged in for this token.
    expect(introspection).to.not.have.any.keys('acr', 'amr', 'auth_time')
    const other = { client_id: 'other', client_secret: 's' }
    expect(JSON.parse((await introspect({ ...other, token })).body)).to.deep.include({
      ...{ active: true, client_id: 'kapis', aud: ['other'] },
    })
    // A trusted client accepts tokens for Kapis, and might not check the audience.
    await expectInactive({ client_id: 'trusted', client_secret: 's', token })
  })

  it('returns inactive for a token with another audience after its session has ended', async () => {
    const { token, session } = await issueFor('other', 'kapis')
    app.sessions.set(session.sid, { ...session, ended: 'revoked' })
    await expectInactive({ token })
    await expectInactive({ client_id: 'other', client_secret: 's', token })
  })

  const over: readonly [string, () => unknown][] = [
    ['has logged out', () => app.form('/oauth/revoke', { ...kapis, token: tokens.refresh_token })],
    ['is disabled', () => app.users.set('alice', memoryUser('alice', { state: 'Disabled' }))],
    ['was deleted', () => app.users.delete('alice')],
  ]
  for (const [what, end] of over) {
    it(`returns inactive for tokens of a user who ${what}`, async () => {
      await end()
      await expectInactive({ token: tokens.access_token })
      await expectInactive({ token: tokens.refresh_token })
    })
  }

  it('returns inactive for every other token', async () => {
    const [key] = app.keys.stored
    if (key === undefined) throw new Error('no key')
    const unsigned = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const hostile = [
      'garbage',
      'x'.repeat(60_000),
      tokens.access_token.slice(0, -4),
      `${unsigned({ alg: 'none', typ: 'at+jwt' })}.${tokens.access_token.split('.')[1]}.`,
      await forge(key, { exp: 1, iat: 0 }),
      await forge(key, { aud: ['other'], client_id: 'x' }),
      await forge(key, { aud: ['other'], token_type: 'refresh_token' }),
      await forge(key, { iss: 'https://evil.example.org' }),
      await forge(key, { sub: 'system:masters' }),
    ]
    for (const token of hostile) await expectInactive({ token })
  })

  const refused: readonly [string, Record<string, string>, number, object][] = [
    [
      'a public client, which any program can claim to be',
      { client_id: 'cli', client_secret: '' },
      401,
      { error: 'invalid_client', error_description: 'public clients cannot use introspection' },
    ],
    [
      'a stranger',
      { client_secret: 'wrong' },
      401,
      { error: 'invalid_client', error_description: 'invalid client credential' },
    ],
    [
      'a request without a token',
      { token: '' },
      400,
      { error: 'invalid_request', error_description: 'the parameter token is required' },
    ],
  ]
  for (const [who, fields, code, body] of refused) {
    it(`rejects ${who}`, async () => {
      const response = await introspect({ token: tokens.access_token, ...fields })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([code, body])
    })
  }
})
