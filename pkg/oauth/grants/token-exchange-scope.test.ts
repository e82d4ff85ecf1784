import { expect } from 'chai'
import { kapis } from '../fixtures.ts'
import { memoryClient } from '../memory-fixtures.ts'
import { grant, useExchange } from './exchange-fixtures.ts'

describe('the scope of an exchanged token', () => {
  const setup = useExchange()
  const { exchange } = setup

  it('never widens a read-only token', async () => {
    const { access_token: login } = await setup.app.login('alice')
    const made = await setup.app.send('POST', '/oauth/personal-access-tokens', {
      headers: { authorization: `Bearer ${login}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scope: 'read' }),
    })
    const { token } = JSON.parse(made.body)
    const { body } = await exchange(token)
    expect((await setup.app.tools.verifier.verifyAccess(body.access_token)).scope).to.equal('read')
    expect(body.scope).to.equal('read')
    expect((await exchange(token, { scope: 'openid' })).body.error).to.equal('invalid_scope')
  })

  const widths: readonly (readonly [login: string, asked: string | undefined, got: string | undefined])[] = [
    ['openid', undefined, 'openid'],
    ['openid email', 'openid', 'openid'],
    ['openid email', 'read', 'openid email read'],
    ['openid email', 'read openid', 'openid read'],
    ['', 'read', 'read'],
    ['', 'unknown', ''],
    ['openid', 'openid email', undefined],
    // The narrowed scope would be empty, and a token with an empty scope has every claim.
    ['openid', 'unknown', undefined],
    ['', 'openid', undefined],
  ]
  for (const [login, asked, got] of widths) {
    it(`is ${got ?? 'nothing'} for a session with "${login}" if ${asked} is requested`, async () => {
      const { access_token: own } = await setup.app.login('alice', login === '' ? {} : { scope: login })
      const { code, body } = await exchange(own, asked === undefined ? {} : { scope: asked })
      if (got === undefined) {
        const error_description = 'the parameter scope exceeds the scope of the login'
        expect([code, body]).to.deep.equal([400, { error: 'invalid_scope', error_description }])
        return
      }
      const claims = await setup.app.tools.verifier.verifyAccess(body.access_token)
      expect([claims.scope, body.scope ?? asked ?? '']).to.deep.equal([got, got])
      expect(setup.app.sessions.get(claims.sid)).to.include({ scope: got, refreshId: '' })
    })
  }

  it('is enforced at every endpoint that accepts the token', async () => {
    const { access_token: own } = await setup.app.login('alice', { scope: 'openid' })
    const { body } = await exchange(own, { scope: 'read' })
    const { access_token: token } = body
    expect(body).to.not.have.property('refresh_token')
    const authorization = `Bearer ${token}`
    const userinfo = await setup.app.send('GET', '/oauth/userinfo', { headers: { authorization } })
    expect(JSON.parse(userinfo.body)).to.deep.equal({ sub: 'alice' })
    const introspection = await setup.app.form('/oauth/introspect', { ...kapis, token })
    expect(JSON.parse(introspection.body)).to.include({ active: true, scope: 'openid read', client_id: 'ci' })
    const made = await setup.app.send('POST', '/oauth/personal-access-tokens', {
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scope: 'full' }),
    })
    expect([made.code, JSON.parse(made.body).error]).to.deep.equal([403, 'access_denied'])
    const refreshed = await setup.app.form('/oauth/token', {
      ...kapis,
      grant_type: 'refresh_token',
      refresh_token: token,
    })
    expect([refreshed.code, JSON.parse(refreshed.body).error]).to.deep.equal([400, 'invalid_grant'])
    expect((await exchange(token)).code).to.equal(400)
  })

  it('is limited to the client’s own scopes', async () => {
    const ci = { public: true, trusted: false, grantTypes: [grant] } as const
    const setRestrictions = (scopeRestrictions: readonly string[]) =>
      setup.app.clients.set('ci', {
        client: memoryClient('ci', { ...ci, scopeRestrictions }),
        secret: undefined,
      })
    const { access_token: own } = await setup.app.login('alice', { scope: 'openid email' })
    setRestrictions(['openid'])
    expect((await exchange(own)).body.scope).to.equal('openid')
    setRestrictions(['profile'])
    expect((await exchange(own)).body.error).to.equal('invalid_scope')
  })
})
