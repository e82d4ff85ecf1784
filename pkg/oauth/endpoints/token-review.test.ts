import { expect } from 'chai'
import { kapis, startApp, type TestApp, type TestTokens } from '../fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'

describe('POST /oauth/authenticate', () => {
  const apiVersion = 'authentication.k8s.io/v1'
  let app: TestApp
  let tokens: TestTokens
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(async () => {
    app.users.set('alice', memoryUser('alice'))
    tokens = await app.login('alice')
  })

  const send = (body: string, type = 'application/json') =>
    app.send('POST', '/oauth/authenticate', { headers: { 'content-type': type }, body })
  const review = (spec: object, version = apiVersion) =>
    send(JSON.stringify({ apiVersion: version, kind: 'TokenReview', spec }))
  async function statusOf(spec: object) {
    const response = await review(spec)
    expect(response.code).to.equal(200)
    const { status, ...rest } = JSON.parse(response.body)
    expect(rest).to.deep.equal({ apiVersion, kind: 'TokenReview' })
    return status
  }

  for (const version of [apiVersion, 'authentication.k8s.io/v1beta1']) {
    it(`returns the user of a token: ${version}`, async () => {
      const response = await review({ token: tokens.access_token }, version)
      const { jti } = await app.tools.verifier.verifyAccess(tokens.access_token)
      expect(response.code).to.equal(200)
      expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(JSON.parse(response.body)).to.deep.equal({
        apiVersion: version,
        kind: 'TokenReview',
        status: {
          authenticated: true,
          user: {
            username: 'alice',
            uid: 'uid-alice',
            groups: ['dev'],
            extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] },
          },
        },
      })
    })
  }

  it('returns which of the audiences the token is for', async () => {
    const { authenticated, audiences } = await statusOf({
      token: tokens.access_token,
      audiences: ['https://kubernetes.default.svc', 'kapis.io'],
    })
    expect([authenticated, audiences]).to.deep.equal([true, ['kapis.io']])
    const other = await statusOf({ token: tokens.access_token, audiences: ['other'] })
    expect(other).to.deep.equal({ authenticated: false })
  })

  const bad: readonly [string, () => Promise<string> | string][] = [
    ['garbage', () => 'garbage'],
    ['100 KB', () => 'x'.repeat(100_000)],
    ['a refresh token', () => tokens.refresh_token],
    ['a truncated token', () => tokens.access_token.slice(0, -4)],
    [
      'a read-only token, which a kube-apiserver could not restrict',
      async () => {
        const { sid } = await app.tools.verifier.verifyAccess(tokens.access_token)
        const subject = {
          username: 'alice',
          uid: 'uid-alice',
          groups: [],
          sid,
          clientId: 'kapis',
          scope: 'read',
        }
        return (await app.tools.issuer.access(subject, 60)).token
      },
    ],
    [
      'a token of a session that has ended',
      async () => {
        await app.form('/oauth/revoke', { ...kapis, token: tokens.refresh_token })
        return tokens.access_token
      },
    ],
    [
      'a token of a disabled user',
      () => {
        app.users.set('alice', memoryUser('alice', { state: 'Disabled' }))
        return tokens.access_token
      },
    ],
    [
      'a token of a deleted user',
      () => {
        app.users.delete('alice')
        return tokens.access_token
      },
    ],
  ]
  for (const [what, make] of bad) {
    it(`does not authenticate ${what}`, async () => {
      expect(await statusOf({ token: await make() })).to.deep.equal({ authenticated: false })
    })
  }

  const one = 'the body must be a TokenReview of authentication.k8s.io/v1 or authentication.k8s.io/v1beta1'
  const required = 'token is required for TokenReview in authentication'
  const kind = 'TokenReview'
  const malformed: readonly [string, string, number, string][] = [
    ['no JSON', '{', 400, 'the body is not valid JSON'],
    ['nothing', '', 400, 'the body is not valid JSON'],
    ['a list', '[]', 400, one],
    ['an unknown kind', JSON.stringify({ apiVersion, kind: 'User' }), 400, one],
    ['an unknown apiVersion', JSON.stringify({ apiVersion: 'v1', kind }), 400, one],
    ['a missing spec', JSON.stringify({ apiVersion, kind }), 400, required],
    ['an empty token', JSON.stringify({ apiVersion, kind, spec: { token: '' } }), 400, required],
    ['a number for a token', JSON.stringify({ apiVersion, kind, spec: { token: 1 } }), 400, required],
    [
      'a string for the audiences',
      JSON.stringify({ apiVersion, kind, spec: { token: 'x', audiences: 'x' } }),
      400,
      'spec.audiences must be a list of strings',
    ],
  ]
  for (const [what, body, code, message] of malformed) {
    it(`rejects ${what} as Kubernetes does`, async () => {
      const response = await send(body)
      expect(response.code).to.equal(code)
      expect(JSON.parse(response.body)).to.deep.equal({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message,
        reason: 'BadRequest',
        code,
      })
    })
  }

  it('rejects another content type', async () => {
    const response = await send('token=x', 'application/x-www-form-urlencoded')
    expect([response.code, JSON.parse(response.body).message]).to.deep.equal([
      415,
      'the body must be application/json',
    ])
    expect(response.headers['accept-post']).to.equal('application/json')
  })
})
