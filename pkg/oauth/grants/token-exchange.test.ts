import { expect } from 'chai'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import { audience, issuer } from '../../jwt/fixtures.ts'
import { kapis, startApp, type TestApp } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'

const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`
const ci = 'https://ci.example.org'
const usual: ExchangePolicy = {
  ...{ name: 'deploy', source: 'OIDC', subjects: [], claims: {}, clients: ['ci'], scope: '', audiences: [] },
  maxSeconds: 300,
}
const ofCi: ExchangePolicy = { ...usual, issuer: ci, user: 'robot', claims: { repository: 'acme/shop' } }
const ofAccount: ExchangePolicy = {
  ...usual,
  source: 'ServiceAccount',
  subjects: ['system:serviceaccount:ci:runner'],
  user: 'robot',
}
const ofUser: ExchangePolicy = { ...usual, source: 'User', audiences: [audience, 'https://wiki.example.org'] }

describe('token exchange', () => {
  let app: TestApp
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(() => {
    app.workloads.policies.length = 0
    app.workloads.policies.push(ofCi, ofAccount, ofUser)
    app.workloads.state.isDown = false
    app.workloads.serviceAccounts.clear()
    app.users.set('robot', memoryUser('robot', { inlineHash: undefined, credential: '' }))
    const client = memoryClient('ci', { public: true, trusted: false, grantTypes: [grant] })
    app.clients.set('ci', { client, secret: undefined })
  })

  const exchange = async (token: string, more: Record<string, string> = {}) => {
    const form = { grant_type: grant, client_id: 'ci', subject_token: token, subject_token_type: type('jwt') }
    const { code, body } = await app.form('/oauth/token', { ...form, ...more })
    return { code, body: JSON.parse(body) }
  }
  const ciToken = (claims: Record<string, unknown> = {}) =>
    app.workloads.sign({ iss: ci, sub: 'repo:acme/shop', aud: issuer, repository: 'acme/shop', ...claims })

  it('gives a workload of another issuer a short token of the user of the policy', async () => {
    const { code, body } = await exchange(await ciToken())
    const { access_token: token, ...rest } = body
    expect([code, rest]).to.deep.equal([
      200,
      { issued_token_type: type('access_token'), token_type: 'Bearer', expires_in: 300 },
    ])
    const { sub, uid, scope, aud, sid } = await app.tools.verifier.verifyAccess(token)
    // Only where the session is looked at for each request.
    expect([sub, uid, scope, aud]).to.deep.equal(['robot', 'uid-robot', '', [`${audience}:live`]])
    const session = app.sessions.get(sid)
    expect(session).to.include({ type: 'TokenExchange', displayName: 'deploy', parent: '' })
    const line = app.lines.findLast(({ audit }) => audit === 'token')
    expect(line).to.include({
      policy: 'deploy',
      subject: 'repo:acme/shop',
      user: 'robot',
      outcome: 'success',
    })
  })

  it('gives a service account of the cluster a token', async () => {
    const token = await app.workloads.sign({ iss: 'https://kubernetes.default.svc' })
    app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:runner')
    expect((await exchange(token)).code).to.equal(200)
    app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:other')
    expect(await exchange(token)).to.deep.equal({
      code: 400,
      body: {
        error: 'invalid_request',
        error_description: 'no policy accepts the subject token of system:serviceaccount:ci:other',
      },
    })
    app.workloads.serviceAccounts.clear()
    expect((await exchange(token)).body.error_description).to.equal(
      'kube-apiserver rejected the subject token',
    )
  })

  it('narrows a token of a user, which ends with its login', async () => {
    const { access_token: own } = await app.login('alice')
    const given = { subject_token_type: type('access_token'), scope: 'read' }
    const { code, body } = await exchange(own, given)
    expect([code, body.scope]).to.deep.equal([200, undefined])
    const claims = await app.tools.verifier.verifyAccess(body.access_token)
    expect([claims.sub, claims.scope]).to.deep.equal(['alice', 'read'])
    const parent = (await app.tools.verifier.verifyAccess(own)).sid
    expect(app.sessions.get(claims.sid)).to.include({ parent, credential: 'c1' })
    expect((await exchange(body.access_token, given)).body.error_description).to.equal(
      'an exchanged token cannot be exchanged again',
    )
    await app.form('/oauth/revoke', { token: own, client_id: 'kapis', client_secret: 'kapis' })
    expect((await exchange(own, given)).body.error_description).to.equal(
      'the subject token is invalid, expired or revoked',
    )
  })

  it('never widens a read-only token', async () => {
    const { access_token: login } = await app.login('alice')
    const made = await app.ask('POST', '/oauth/personal-access-tokens', {
      headers: { authorization: `Bearer ${login}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scope: 'read' }),
    })
    const { token } = JSON.parse(made.body)
    const { body } = await exchange(token)
    expect((await app.tools.verifier.verifyAccess(body.access_token)).scope).to.equal('read')
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
    // A token without a scope has every claim.
    ['openid', 'unknown', undefined],
    ['', 'openid', undefined],
  ]
  for (const [login, asked, got] of widths) {
    it(`gives ${got ?? 'nothing'} for a login with "${login}" if asked for ${asked}`, async () => {
      const { access_token: own } = await app.login('alice', login === '' ? {} : { scope: login })
      const { code, body } = await exchange(own, asked === undefined ? {} : { scope: asked })
      if (got === undefined) {
        const error_description = 'the parameter scope exceeds the scope of the login'
        expect([code, body]).to.deep.equal([400, { error: 'invalid_scope', error_description }])
        return
      }
      const claims = await app.tools.verifier.verifyAccess(body.access_token)
      expect([claims.scope, body.scope ?? asked ?? '']).to.deep.equal([got, got])
      expect(app.sessions.get(claims.sid)).to.include({ scope: got, refreshId: '' })
    })
  }

  it('keeps to its scope wherever the token is taken', async () => {
    const { access_token: own } = await app.login('alice', { scope: 'openid' })
    const { body } = await exchange(own, { scope: 'read' })
    const { access_token: token } = body
    expect(body).to.not.have.property('refresh_token')
    const authorization = `Bearer ${token}`
    const userinfo = await app.ask('GET', '/oauth/userinfo', { headers: { authorization } })
    expect(JSON.parse(userinfo.body)).to.deep.equal({ sub: 'alice' })
    const seen = await app.form('/oauth/introspect', { ...kapis, token })
    expect(JSON.parse(seen.body)).to.include({ active: true, scope: 'openid read', client_id: 'ci' })
    const made = await app.ask('POST', '/oauth/personal-access-tokens', {
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scope: 'full' }),
    })
    expect([made.code, JSON.parse(made.body).error]).to.deep.equal([403, 'access_denied'])
    const refreshed = await app.form('/oauth/token', {
      ...kapis,
      grant_type: 'refresh_token',
      refresh_token: token,
    })
    expect([refreshed.code, JSON.parse(refreshed.body).error]).to.deep.equal([400, 'invalid_grant'])
    expect((await exchange(token)).code).to.equal(400)
  })

  it('lets the client have only its own scopes of a login', async () => {
    const ci = { public: true, trusted: false, grantTypes: [grant] } as const
    const setRestrictions = (scopeRestrictions: readonly string[]) =>
      app.clients.set('ci', { client: memoryClient('ci', { ...ci, scopeRestrictions }), secret: undefined })
    const { access_token: own } = await app.login('alice', { scope: 'openid email' })
    setRestrictions(['openid'])
    expect((await exchange(own)).body.scope).to.equal('openid')
    setRestrictions(['profile'])
    expect((await exchange(own)).body.error).to.equal('invalid_scope')
  })

  it('issues a token for another audience, which Kapis rejects', async () => {
    const { access_token: own } = await app.login('alice')
    const { body } = await exchange(own, { audience: 'https://wiki.example.org' })
    const [, payload = ''] = body.access_token.split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).aud).to.deep.equal([
      'https://wiki.example.org',
    ])
    expect(await app.tools.verifier.verifyAccess(body.access_token).catch(error => error.code)).to.equal(401)
  })

  it('does not outlive the subject token', async () => {
    const soon = Math.floor(Date.now() / 1000) + 60
    const { body } = await exchange(await ciToken({ exp: soon }))
    expect(body.expires_in).to.be.within(50, 60)
  })

  const refused: readonly (readonly [string, () => Promise<string>, Record<string, string>, string])[] = [
    [
      'a wrong claim',
      () => ciToken({ repository: 'acme/other' }),
      {},
      'no policy accepts the subject token of repo:acme/shop',
    ],
    [
      'a claim of another type',
      () => ciToken({ repository: ['acme/shop'] }),
      {},
      'no policy accepts the subject token of repo:acme/shop',
    ],
    [
      'another audience',
      () => ciToken({ aud: 'https://other.example.org' }),
      {},
      'the subject token is invalid: unexpected "aud" claim value',
    ],
    [
      'no subject',
      () => ciToken({ sub: undefined }),
      {},
      'the subject token is invalid: missing required "sub" claim',
    ],
    [
      'an expired token',
      () => ciToken({ exp: 1 }),
      {},
      'the subject token is invalid: "exp" claim timestamp check failed',
    ],
    [
      'a token without an end',
      () => ciToken({ exp: undefined }),
      {},
      'the subject token is invalid: missing required "exp" claim',
    ],
    [
      'an unknown issuer',
      () => ciToken({ iss: 'https://evil.example.org' }),
      {},
      'kube-apiserver rejected the subject token',
    ],
    ['no JWT', async () => 'x', {}, 'no policy is for the issuer of the subject token'],
    [
      'another signature',
      async () => `${(await ciToken()).slice(0, -8)}AAAAAAAA`,
      {},
      'the subject token is invalid: signature verification failed',
    ],
    ['an actor', ciToken, { actor_token: 'x' }, 'the parameter actor_token is not supported'],
    [
      'SAML',
      ciToken,
      { subject_token_type: type('saml2') },
      `invalid parameter subject_token_type; supported: ${['access_token', 'jwt', 'id_token'].map(type).join(', ')}`,
    ],
    [
      'a refresh token',
      ciToken,
      { requested_token_type: type('refresh_token') },
      `invalid parameter requested_token_type; supported: ${['access_token', 'jwt'].map(type).join(', ')}`,
    ],
    [
      'an audience that the policy does not name',
      ciToken,
      { audience: 'https://wiki.example.org' },
      `invalid audience; supported: ${audience}`,
    ],
    [
      'two targets',
      ciToken,
      { audience, resource: 'https://wiki.example.org' },
      `invalid audience; supported: ${audience}`,
    ],
  ]
  for (const [what, token, more, description] of refused) {
    it(`refuses ${what}`, async () => {
      const { code, body } = await exchange(await token(), more)
      const error = description.startsWith('invalid audience') ? 'invalid_target' : 'invalid_request'
      expect([code, body]).to.deep.equal([400, { error, error_description: description }])
    })
  }

  const other: ExchangePolicy = { ...ofCi, name: 'other', user: 'alice' }
  const orders: readonly (readonly [string, readonly ExchangePolicy[], string | undefined])[] = [
    ['the first of two', [other, ofCi], 'other'],
    ['the second if the claims differ', [{ ...other, claims: { repository: 'x' } }, ofCi], 'deploy'],
    ['the second if the client differs', [{ ...other, clients: ['x'] }, ofCi], 'deploy'],
    ['the second if the audience differs', [{ ...other, subjectAudience: 'https://x' }, ofCi], 'deploy'],
    [
      'the first, whatever audience is asked for',
      [{ ...other, audiences: ['https://wiki.example.org'] }, ofCi],
      undefined,
    ],
  ]
  for (const [what, policies, expected] of orders) {
    it(`is decided by ${what}`, async () => {
      app.workloads.policies.splice(0, app.workloads.policies.length, ...policies)
      const { code } = await exchange(await ciToken())
      expect(code).to.equal(expected === undefined ? 400 : 200)
      const line = app.lines.findLast(({ audit }) => audit === 'token')
      expect(line?.policy).to.equal(expected)
    })
  }

  it('is decided in the order of the policies for a token of several audiences', async () => {
    const token = await app.workloads.sign({ iss: 'https://kubernetes.default.svc' })
    for (const name of [issuer, 'https://second'])
      app.workloads.serviceAccounts.set(`${token} ${name}`, 'system:serviceaccount:ci:runner')
    app.workloads.policies.splice(
      ...([0, app.workloads.policies.length] as const),
      { ...ofAccount, name: 'nobody', subjects: ['system:serviceaccount:ci:other'] },
      { ...ofAccount, name: 'second', subjectAudience: 'https://second' },
      { ...ofAccount, name: 'third' },
    )
    expect((await exchange(token)).code).to.equal(200)
    expect(app.lines.findLast(({ audit }) => audit === 'token')?.policy).to.equal('second')
  })

  it('asks the policies of the cluster after those of its issuer', async () => {
    const cluster = 'https://kubernetes.default.svc'
    const token = await app.workloads.sign({ iss: cluster, sub: 'x', aud: issuer })
    app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:runner')
    app.workloads.policies.splice(0, 3, { ...ofCi, name: 'oidc', issuer: cluster }, ofAccount)
    expect((await exchange(token)).code).to.equal(200)
    expect(app.lines.findLast(({ audit }) => audit === 'token')?.policy).to.equal('deploy')
    // The first might be the one that decides.
    app.workloads.state.isDown = true
    expect((await exchange(token)).code).to.equal(503)
  })

  it('says when the keys of the issuer cannot be read', async () => {
    app.workloads.state.isDown = true
    const { code, body } = await exchange(await ciToken())
    expect([code, body.error]).to.deep.equal([503, 'temporarily_unavailable'])
  })

  it('is for the clients of a policy', async () => {
    app.workloads.policies.length = 0
    expect(await exchange(await ciToken())).to.deep.equal({
      code: 400,
      body: {
        error: 'unauthorized_client',
        error_description: 'no policy of token exchange is for this client',
      },
    })
  })

  it('gives nothing for a user who is disabled, unknown, or must change the password', async () => {
    app.users.set('robot', memoryUser('robot', { state: 'Disabled' }))
    expect((await exchange(await ciToken())).body.error_description).to.equal('account is not active')
    app.users.delete('robot')
    expect((await exchange(await ciToken())).body.error_description).to.equal(
      'the user of the policy does not exist',
    )
    app.users.set('new', memoryUser('new', { mustChangePassword: true }))
    const { access_token: own } = await app.login('new')
    expect((await exchange(own)).body.error).to.equal('invalid_grant')
  })
})
