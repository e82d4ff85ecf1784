import { expect } from 'chai'
import { type HttpResponse, kubectlJson, sendToKapis, uniqueName } from './cluster.ts'
import { expectStatus, groupDomain, statusBody } from './http.ts'
import { claimsOf, createUser, loginAs, parseResponse, removeUser, type Tokens } from './oauth.ts'

const v1 = 'authentication.k8s.io/v1'
const v1beta1 = 'authentication.k8s.io/v1beta1'

/** POST /oauth/authenticate, with the contract of the authentication webhook of Kubernetes. */
describe('a TokenReview', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('reviewed'), password: 'Correct horse 1' }
  let tokens: Tokens
  let uid: string

  before(async () => {
    await createUser(user, { groups: ['e2e-review'] })
    uid = Object(await kubectlJson('get', `users.iam.${groupDomain}`, user.username)).metadata.uid
    tokens = await loginAs(user)
  })
  after(() => removeUser(user.username))

  const send = (body: unknown, type = 'application/json'): Promise<HttpResponse> =>
    sendToKapis('/oauth/authenticate', {
      method: 'POST',
      headers: { 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const review = (apiVersion: string, spec: object) => send({ apiVersion, kind: 'TokenReview', spec })
  const no = (apiVersion: string) => [
    200,
    { apiVersion, kind: 'TokenReview', status: { authenticated: false } },
  ]

  for (const apiVersion of [v1, v1beta1]) {
    it(`of ${apiVersion} is answered in that version: with user and audiences`, async () => {
      const { access_token } = tokens
      const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${claimsOf(access_token).jti}`] }
      const yes = {
        authenticated: true,
        user: { username: user.username, uid, groups: ['e2e-review'], extra },
      }
      const response = await review(apiVersion, { token: access_token })
      expect(parseResponse(response)).to.deep.equal([200, { apiVersion, kind: 'TokenReview', status: yes }])
      expect(response.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      })
      const audiences = ['https://elsewhere.test', groupDomain]
      expect(parseResponse(await review(apiVersion, { token: access_token, audiences }))).to.deep.equal([
        200,
        { apiVersion, kind: 'TokenReview', status: { ...yes, audiences: [groupDomain] } },
      ])
    })

    it(`of ${apiVersion} rejects anything but an access token, and one for another audience`, async () => {
      const audiences = ['https://elsewhere.test']
      expect(
        parseResponse(await review(apiVersion, { token: tokens.access_token, audiences })),
      ).to.deep.equal(no(apiVersion))
      for (const bad of [
        'x',
        tokens.refresh_token,
        tokens.access_token.slice(0, -3),
        `${'a.'.repeat(9_000)}`,
      ])
        expect(parseResponse(await review(apiVersion, { token: bad }))).to.deep.equal(no(apiVersion))
    })
  }

  it('returns unauthenticated for a token of a session that has ended', async () => {
    const { access_token } = await loginAs(user)
    const headers = { authorization: `Bearer ${access_token}` }
    expect(parseResponse(await sendToKapis('/oauth/logout', { headers }))).to.deep.equal([
      200,
      { message: 'success' },
    ])
    expect(parseResponse(await review(v1, { token: access_token }))).to.deep.equal(no(v1))
  })

  const bad = (message: string) => statusBody(400, 'BadRequest', message)
  const another = bad(`the body must be a TokenReview of ${v1} or ${v1beta1}`)
  const required = bad('token is required for TokenReview in authentication')
  const spec = { token: 'x' }
  const rows: readonly [string, () => Promise<HttpResponse>, ReturnType<typeof statusBody>][] = [
    ['no JSON', () => send('{'), bad('the body is not valid JSON')],
    ['a list', () => send([]), another],
    ['another kind', () => send({ apiVersion: v1, kind: 'Pod', spec }), another],
    ['another version', () => review('authentication.k8s.io/v2', spec), another],
    ['a missing spec', () => send({ apiVersion: v1, kind: 'TokenReview' }), required],
    ['an empty token', () => review(v1, { token: '' }), required],
    ['a token that is a number', () => review(v1, { token: 5 }), required],
    [
      'audiences that are not a list',
      () => review(v1, { ...spec, audiences: groupDomain }),
      bad('spec.audiences must be a list of strings'),
    ],
    [
      'text',
      () => send({ apiVersion: v1, kind: 'TokenReview', spec }, 'text/plain'),
      statusBody(415, 'UnsupportedMediaType', 'the body must be application/json'),
    ],
  ]
  for (const [what, send, body] of rows) {
    it(`is rejected with ${body.code} for ${what}`, async () => {
      const response = await send()
      expectStatus(response, body)
      expect(response.headers['accept-post']).to.equal(body.code === 415 ? 'application/json' : undefined)
    })
  }
})
