import { expect } from 'chai'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'

type Tokens = { access_token: string; refresh_token: string }

describe('refresh_token', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(() => void app.users.set('alice', memoryUser('alice')))

  async function login(scope = ''): Promise<Tokens> {
    const form = { grant_type: 'password', username: 'alice', password: 'right', scope }
    return JSON.parse((await app.token(form)).body)
  }
  const refresh = (token: string, more: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    app.token({ grant_type: 'refresh_token', refresh_token: token, ...more }, headers)
  async function refreshed(token: string): Promise<Tokens> {
    const response = await refresh(token)
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body)
  }
  const sidOf = async (token: string) => (await app.tools.verifier.verifyRefresh(token)).sid
  /** Moves the last refresh of a login `ms` milliseconds into the past. */
  async function age(token: string, ms: number): Promise<void> {
    const session = app.sessions.get(await sidOf(token))
    if (session) app.sessions.set(session.sid, { ...session, rotatedAtMs: session.rotatedAtMs - ms })
  }

  it('returns a new pair of tokens for the same session', async () => {
    const first = await login('openid')
    const response = await refresh(first.refresh_token)
    const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200 })
    expect(id_token).to.be.a('string')
    expect(response.headers['cache-control']).to.equal('no-store')
    const sid = await sidOf(first.refresh_token)
    expect(await app.tools.verifier.verifyAccess(access_token)).to.include({ sid, scope: 'openid' })
    expect(await app.tools.verifier.verifyRefresh(refresh_token)).to.include({ sid, scope: 'openid' })
  })

  it('is not issued to a client without this grant, whose session ends with its access token', async () => {
    const device = 'urn:ietf:params:oauth:grant-type:device_code' as const
    const client = memoryClient('once', { grantTypes: ['password', 'authorization_code', device] })
    app.clients.set('once', { client, secret: 's' })
    const form = {
      grant_type: 'password',
      username: 'alice',
      password: 'right',
      scope: 'openid offline_access',
    }
    const own = { client_id: 'once', client_secret: 's' }
    const { code, body } = await app.token({ ...form, ...own })
    const { access_token, id_token, ...rest } = JSON.parse(body)
    expect([code, typeof id_token, rest]).to.deep.equal([
      200,
      'string',
      { token_type: 'Bearer', expires_in: 7200, scope: 'openid' },
    ])
    const { sid, exp } = await app.tools.verifier.verifyAccess(access_token)
    expect(app.sessions.get(sid)).to.include({ refreshId: '', expiresAtMs: exp * 1000, ended: '' })
    await app.form('/oauth/revoke', { token: access_token, ...own })
    expect(app.sessions.get(sid)?.ended).to.equal('revoked by its client')
  })

  it('can be refreshed any number of times in sequence', async () => {
    let { refresh_token: token } = await login()
    for (let i = 0; i < 4; i++) token = (await refreshed(token)).refresh_token
  })

  it('uses the current groups of the user', async () => {
    const { refresh_token } = await login()
    app.users.set('alice', memoryUser('alice', { groups: ['ops'] }))
    const { access_token } = await refreshed(refresh_token)
    const payload = JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    expect(payload.groups).to.deep.equal(['ops'])
  })

  it('returns the same token again to a client that has lost the response', async () => {
    const { refresh_token: lost } = await login()
    const [a, b] = [await refreshed(lost), await refreshed(lost)]
    const jti = async (tokens: Tokens) => (await app.tools.verifier.verifyRefresh(tokens.refresh_token)).jti
    expect(await jti(a)).to.equal(await jti(b))
    // Both tokens continue the same login.
    await refreshed(b.refresh_token)
  })

  it('continues one session for concurrent requests, on any replica', async () => {
    const { refresh_token } = await login()
    const responses = await Promise.all(Array.from({ length: 5 }, () => refreshed(refresh_token)))
    const ids = await Promise.all(
      responses.map(async response => (await app.tools.verifier.verifyRefresh(response.refresh_token)).jti),
    )
    expect(new Set(ids).size).to.equal(1)
  })

  it('ends the session when an old token is used after the grace period, by any client', async () => {
    const { refresh_token: stolen } = await login()
    const { refresh_token: current } = await refreshed(stolen)
    await age(stolen, 11_000)
    const response = await refresh(stolen)
    expect(response.code).to.equal(400)
    expect(JSON.parse(response.body)).to.deep.equal({
      error: 'invalid_grant',
      error_description: 'the refresh token was used before; the login has ended',
    })
    expect(app.sessions.get(await sidOf(stolen))?.ended).to.equal('refresh token used twice')
    const after = await refresh(current)
    expect(JSON.parse(after.body)).to.deep.equal({
      error: 'invalid_grant',
      error_description: 'the login has ended',
    })
  })

  it('ends the session when a token is used that is two refreshes old, even within the grace period', async () => {
    const { refresh_token: stolen } = await login()
    await refreshed((await refreshed(stolen)).refresh_token)
    expect(await refresh(stolen)).to.include({ code: 400 })
    expect(app.sessions.get(await sidOf(stolen))?.ended).to.equal('refresh token used twice')
  })

  const ended = { error: 'invalid_grant', error_description: 'the login has ended' }
  const inactive = { error: 'invalid_grant', error_description: 'account is not active' }
  const gone = { error: 'invalid_grant', error_description: 'authenticated user does not exist' }
  const changes: readonly [string, () => void, object][] = [
    ['has a new password', () => app.users.set('alice', memoryUser('alice', { credential: 'c2' })), ended],
    ['was replaced by another user', () => app.users.set('alice', memoryUser('alice', { uid: 'u2' })), ended],
    ['is disabled', () => app.users.set('alice', memoryUser('alice', { state: 'Disabled' })), inactive],
    ['was deleted', () => app.users.delete('alice'), gone],
  ]
  for (const [what, change, body] of changes) {
    it(`is rejected for a user who ${what}`, async () => {
      const { refresh_token } = await login()
      change()
      const response = await refresh(refresh_token)
      expect(response.code).to.equal(400)
      expect(JSON.parse(response.body)).to.deep.equal(body)
    })
  }

  it('is accepted for a locked user: any caller could have caused the lock', async () => {
    const { refresh_token } = await login()
    app.users.set('alice', memoryUser('alice', { state: 'AuthLimitExceeded' }))
    await refreshed(refresh_token)
  })

  it('has the lifetimes of its client, limited by the maximum age of a session', async () => {
    const client = memoryClient('short', {
      accessTokenMaxAgeSeconds: 60,
      accessTokenInactivityTimeoutSeconds: 30,
      loginMaxAgeSeconds: 1000,
    })
    app.clients.set('short', { client, secret: 's' })
    const form = { username: 'alice', password: 'right', client_id: 'short', client_secret: 's' }
    const first = JSON.parse((await app.token({ grant_type: 'password', ...form })).body)
    expect(first.expires_in).to.equal(60)
    const { exp, iat, sid } = await app.tools.verifier.verifyRefresh(first.refresh_token)
    expect(exp - iat).to.equal(90)
    const session = app.sessions.get(sid)
    if (session) app.sessions.set(sid, { ...session, createdAtMs: session.createdAtMs - 960_000 })
    const near = JSON.parse((await refresh(first.refresh_token, form)).body)
    expect(near.expires_in).to.be.within(30, 40)
    const last = app.sessions.get(sid)
    if (last) app.sessions.set(sid, { ...last, createdAtMs: last.createdAtMs - 60_000 })
    expect(JSON.parse((await refresh(near.refresh_token, form)).body)).to.deep.equal(ended)
  })

  it('is rejected after its session was deleted', async () => {
    const { refresh_token } = await login()
    app.sessions.delete(await sidOf(refresh_token))
    expect(JSON.parse((await refresh(refresh_token)).body)).to.deep.equal(ended)
  })

  it('can narrow the scope, and never widen it', async () => {
    const { refresh_token } = await login('openid email')
    const narrowed = await refresh(refresh_token, { scope: 'openid' })
    const { access_token, refresh_token: next } = JSON.parse(narrowed.body)
    expect(await app.tools.verifier.verifyAccess(access_token)).to.include({ scope: 'openid' })
    expect(await app.tools.verifier.verifyRefresh(next)).to.include({ scope: 'openid email' })
    // The narrowed scope would be empty, and a token with an empty scope has every claim.
    expect(JSON.parse((await refresh(next, { scope: 'unknown' })).body).error).to.equal('invalid_scope')
    expect(JSON.parse((await refresh(next, { scope: 'openid profile' })).body)).to.deep.equal({
      error: 'invalid_scope',
      error_description: 'the parameter scope exceeds the scope of the login',
    })
  })

  it('is bound to its client', async () => {
    const { refresh_token } = await login()
    const response = await refresh(refresh_token, { client_id: 'cli' })
    expect(JSON.parse(response.body)).to.deep.equal({
      error: 'invalid_grant',
      error_description: 'the refresh token was issued to another client',
    })
  })

  it('is accepted next to a refresh token as the bearer token, even an old one, since consoles send it', async () => {
    const { refresh_token } = await login()
    const authorization = `Bearer ${refresh_token}`
    const form = { client_id: 'kapis', client_secret: 'kapis' }
    expect(await refresh(refresh_token, form, { authorization })).to.include({ code: 200 })
    const again = await refresh(refresh_token, form, { authorization })
    expect(again).to.include({ code: 200 })
  })

  const invalid = { error: 'invalid_grant', error_description: 'the refresh token is invalid or expired' }
  const hostile: readonly [string, () => Promise<string> | string, object][] = [
    [
      'nothing',
      () => '',
      { error: 'invalid_request', error_description: 'the parameter refresh_token is required' },
    ],
    ['garbage', () => 'garbage', invalid],
    ['an access token', async () => (await login()).access_token, invalid],
    ['a truncated token', async () => (await login()).refresh_token.slice(0, -3), invalid],
    ['60 KB', () => 'x'.repeat(60_000), invalid],
    [
      'an expired token',
      async () => {
        const { refresh_token } = await login()
        const { sid, clientId, scope } = await app.tools.verifier.verifyRefresh(refresh_token)
        const subject = { username: 'alice', uid: 'uid-alice', groups: [], sid, clientId, scope }
        return (await app.tools.issuer.refresh(subject, -60)).token
      },
      invalid,
    ],
  ]
  for (const [what, make, body] of hostile) {
    it(`rejects ${what}`, async () => {
      const response = await refresh(await make())
      expect(response.code).to.equal(400)
      expect(JSON.parse(response.body)).to.deep.equal(body)
    })
  }
})
