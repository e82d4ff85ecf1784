import { expect } from 'chai'
import { issuer } from '../jwt/fixtures.ts'
import { createClientAssertions } from './client-assertion.ts'
import { startApp, type TestApp } from './fixtures.ts'
import { memoryClient, memoryUser } from './memory-fixtures.ts'
import { createUsedAssertions } from './used-assertions.ts'

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

describe('client_assertion', () => {
  let app: TestApp
  let count = 0
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(() => {
    app.users.set('robot', memoryUser('robot', { inlineHash: undefined, credential: '' }))
    const { jwks } = app.workloads
    const grants = { trusted: false, grantTypes: ['client_credentials'], user: 'robot' } as const
    app.clients.set('signer', { client: memoryClient('signer', { ...grants, jwks }), secret: undefined })
    const jwksURI = 'https://signer.example.org/keys'
    app.clients.set('remote', { client: memoryClient('remote', { ...grants, jwksURI }), secret: undefined })
    const account = memoryClient('account', { ...grants, serviceAccounts: ['ci/runner'] })
    app.clients.set('account', { client: account, secret: undefined })
  })

  const sign = (claims: Record<string, unknown> = {}) =>
    app.workloads.sign({ iss: 'signer', sub: 'signer', aud: issuer, jti: `jti-${++count}`, ...claims })
  const send = async (assertion: string, more: Record<string, string> = {}) => {
    const form = { client_assertion_type: assertionType, client_assertion: assertion }
    const { code, body } = await app.form('/oauth/token', {
      grant_type: 'client_credentials',
      ...form,
      ...more,
    })
    return [code, JSON.parse(body).error ?? 'none']
  }

  it('authenticates a client by its key, once per assertion', async () => {
    const assertion = await sign()
    expect(await send(assertion)).to.deep.equal([200, 'none'])
    expect(await send(assertion)).to.deep.equal([401, 'invalid_client'])
    expect(await send(await sign({ aud: `${issuer}/token` }), { client_id: 'signer' })).to.deep.equal([
      200,
      'none',
    ])
    expect(await send(await sign({ iss: 'remote', sub: 'remote' }))).to.deep.equal([200, 'none'])
  })

  it('separates the assertion IDs of clients', async () => {
    const jti = 'shared'
    expect(await send(await sign({ jti }))).to.deep.equal([200, 'none'])
    expect(await send(await sign({ jti, iss: 'remote', sub: 'remote' }))).to.deep.equal([200, 'none'])
    expect(await send(await sign({ jti }))).to.deep.equal([401, 'invalid_client'])
  })

  it('does not forget the ID of an assertion that is still valid', async () => {
    const { jwks, ...workloads } = app.workloads
    const assertions = createClientAssertions({
      ...{ ...workloads, issuer, clockSkewSeconds: 10 },
      used: createUsedAssertions({ max: 1 }),
    })
    const problemOf = async (name: string) =>
      assertions
        .problemOf(memoryClient(name, { jwks }), await sign({ iss: name, sub: name }))
        .catch(error => [error.code, error.headers])
    expect(await problemOf('a')).to.equal(undefined)
    expect(await problemOf('a')).to.deep.equal([429, { 'retry-after': '5' }])
    expect(await problemOf('b')).to.equal(undefined)
  })

  it('remembers an assertion until a fractional exp', async () => {
    const until: number[] = []
    const assertions = createClientAssertions({
      ...{ ...app.workloads, issuer, clockSkewSeconds: 10 },
      used: {
        use(_client, _id, untilMs) {
          until.push(untilMs)
          return 'new'
        },
      },
    })
    const exp = Math.floor(Date.now() / 1000) + 60.25
    const token = await sign({ exp })
    await assertions.problemOf(memoryClient('signer', { jwks: app.workloads.jwks }), token)
    expect(until).to.deep.equal([(Math.ceil(exp) + 10) * 1000])
  })

  it('authenticates a client by a service account token', async () => {
    const token = await app.workloads.sign({ iss: 'https://kubernetes.default.svc', sub: 'x' })
    app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:runner')
    expect(await send(token, { client_id: 'account' })).to.deep.equal([200, 'none'])
    expect(await send(token, { client_id: 'signer' })).to.deep.equal([401, 'invalid_client'])
    app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:other')
    expect(await send(token, { client_id: 'account' })).to.deep.equal([401, 'invalid_client'])
  })

  const future = Math.floor(Date.now() / 1000) + 7_200
  const jti = 'the claim jti must be a text of 1 to 256 characters'
  const audience = "unexpected 'aud' claim value"
  const wrong: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['another subject', { sub: 'kapis' }, 'the claim sub must be the client_id'],
    ['another issuer', { iss: 'kapis' }, 'the claim iss must be the client_id'],
    ['another audience', { aud: 'https://other.example.org' }, audience],
    ['a list of other audiences', { aud: ['https://other.example.org', `${issuer}/`] }, audience],
    ['a missing jti', { jti: undefined }, jti],
    ['an empty jti', { jti: '' }, jti],
    ['a jti that is not a string', { jti: 1 }, jti],
    ['a jti that is too long', { jti: 'x'.repeat(257) }, jti],
    ['a missing exp', { exp: undefined }, "missing required 'exp' claim"],
    [
      'an exp that is too far in the future',
      { exp: future },
      'the claim exp must be at most 3600 seconds away',
    ],
    ['an exp in the past', { exp: 1 }, "'exp' claim timestamp check failed"],
    ['an iat in the future', { iat: future, exp: future + 60 }, 'invalid claim iat: it is in the future'],
    ['an nbf in the future', { nbf: future }, "'nbf' claim timestamp check failed"],
    ['an assertion of 40 KB', { padding: 'x'.repeat(30_000) }, 'the claim iss must be the client_id'],
  ]
  for (const [what, claims, problem] of wrong) {
    it(`rejects ${what}, with the reason`, async () => {
      const { code, body } = await app.form('/oauth/token', {
        grant_type: 'client_credentials',
        client_assertion_type: assertionType,
        client_assertion: await sign(claims),
        client_id: 'signer',
      })
      expect([code, JSON.parse(body)]).to.deep.equal([
        401,
        { error: 'invalid_client', error_description: `invalid client assertion: ${problem}` },
      ])
    })
  }

  it('reports that an assertion was used before', async () => {
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: assertionType,
      client_assertion: await sign({ aud: [issuer, 'https://other.example.org'] }),
    }
    expect((await app.form('/oauth/token', form)).code).to.equal(200)
    expect(JSON.parse((await app.form('/oauth/token', form)).body)).to.deep.equal({
      error: 'invalid_client',
      error_description: 'invalid client assertion: the claim jti was used before',
    })
  })

  it('rejects an assertion whose typ is for another purpose', async () => {
    const typed = (typ: string) =>
      app.workloads.sign({ iss: 'signer', sub: 'signer', aud: issuer, jti: `jti-${++count}` }, { typ })
    for (const typ of ['JWT', 'jwt', 'client-authentication+jwt', 'application/client-authentication+jwt'])
      expect(await send(await typed(typ)), typ).to.deep.equal([200, 'none'])
    for (const typ of ['logout+jwt', 'application/logout+jwt', 'at+jwt', 'dpop+jwt', '', 'JWT+x'])
      expect(await send(await typed(typ)), typ).to.deep.equal([401, 'invalid_client'])
  })

  it('accepts one client authentication method per request', async () => {
    for (const more of [{ client_secret: 's' }, { client_assertion_type: 'x' }, { client_assertion: '' }]) {
      expect(await send(await sign(), more)).to.deep.equal([400, 'invalid_request'])
    }
    // A client with a secret has no key, so it cannot authenticate by an assertion.
    expect(await send(await sign({ iss: 'kapis', sub: 'kapis' }))).to.deep.equal([401, 'invalid_client'])
  })
})
