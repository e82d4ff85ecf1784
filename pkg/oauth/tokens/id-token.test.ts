import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { issuer } from '../../jwt/fixtures.ts'
import { type Authorization, decode, startAuthorization, web } from '../authorize/fixtures.ts'
import type { HttpResponse } from '../request-fixtures.ts'

/** The rules of OpenID Connect Core sections 3.1.3.3 and 12.2. */
describe('the ID token of a token response', () => {
  let setup: Authorization
  beforeEach(async () => {
    setup = await startAuthorization()
  })
  afterEach(() => setup.app.close())

  const tokensOf = ({ code, body }: HttpResponse): Record<string, string> => {
    expect(code, body).to.equal(200)
    return JSON.parse(body)
  }
  const refresh = async (token = '', more: Record<string, string> = {}) =>
    tokensOf(await setup.app.token({ grant_type: 'refresh_token', refresh_token: token, ...web, ...more }))
  const password = async (scope: string) =>
    tokensOf(
      await setup.app.token({ grant_type: 'password', username: 'alice', password: 'right', scope, ...web }),
    )
  const halfHash = (token = '') =>
    createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url')

  it('names the same login at each refresh, without its nonce', async () => {
    const code = await setup.codeOf({ scope: 'openid email', nonce: 'n' })
    const first = tokensOf(await setup.exchange(code))
    const { nonce, jti, ...claims } = decode(first.id_token ?? '')
    expect([nonce, claims.iss, claims.sub, claims.aud]).to.deep.equal(['n', issuer, 'alice', 'web'])
    // Moves the time of the login one hour into the past.
    const session = setup.app.sessions.get(claims.sid)
    if (session === undefined) throw new Error('no session')
    const authenticatedAtMs = session.authenticatedAtMs - 3_600_000
    setup.app.sessions.set(claims.sid, { ...session, authenticatedAtMs })
    let token = first.refresh_token
    for (let i = 0; i < 2; i++) {
      const { id_token, access_token, refresh_token } = await refresh(token)
      const again = decode(id_token ?? '')
      const { iat, exp, jti: its, ...rest } = again
      expect(its).to.be.a('string').and.not.equal(jti)
      expect({ ...rest, iat, exp }).to.deep.equal({
        ...claims,
        ...{ iat, exp, auth_time: claims.auth_time - 3_600, at_hash: halfHash(access_token) },
      })
      expect([exp - iat, iat >= claims.iat]).to.deep.equal([7200, true])
      token = refresh_token
    }
  })

  it('is issued by the password grant, with the current time as the login', async () => {
    const { id_token, access_token } = await password('openid profile')
    const { iat, exp, auth_time, sid, ...claims } = decode(id_token ?? '')
    expect(claims).to.include({ iss: issuer, sub: 'alice', aud: 'web', at_hash: halfHash(access_token) })
    expect(claims).to.not.have.property('nonce')
    expect(Math.abs(auth_time - iat)).to.be.at.most(1)
    expect(sid).to.equal(decode(access_token ?? '').sid)
  })

  it('requires openid, and is omitted if a refresh narrows the scope', async () => {
    for (const scope of ['', 'email', 'profile email'])
      expect(await password(scope), scope).to.not.have.property('id_token')
    const { refresh_token } = await password('openid email')
    expect(await refresh(refresh_token, { scope: 'email' })).to.not.have.property('id_token')
  })

  it('omits auth_time if the session has no time of login', async () => {
    const { id_token, refresh_token } = await password('openid')
    const { sid } = decode(id_token ?? '')
    const session = setup.app.sessions.get(sid)
    if (session === undefined) throw new Error('no session')
    setup.app.sessions.set(sid, { ...session, authenticatedAtMs: 0 })
    const again = decode((await refresh(refresh_token)).id_token ?? '')
    expect(again).to.include({ sid, sub: 'alice' }).and.not.have.property('auth_time')
  })

  it('is a valid hint for the logout of its session, at any refresh', async () => {
    const first = await password('openid')
    const second = await refresh(first.refresh_token)
    for (const token of [second.id_token, first.id_token]) {
      const { sid } = decode(token ?? '')
      const session = setup.app.sessions.get(sid)
      if (session === undefined) throw new Error('no session')
      setup.app.sessions.set(sid, { ...session, ended: '' })
      expect((await setup.app.send('GET', `/oauth/logout?id_token_hint=${token}`)).code).to.equal(200)
      expect(setup.app.sessions.get(sid)?.ended).to.equal('logout')
    }
  })
})
