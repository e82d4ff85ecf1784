import { expect } from 'chai'
import { type HttpResponse, kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually, expectStatus, statusBody } from './http.ts'
import {
  bearer,
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  parseResponse,
  patchUser,
  refresh,
  removeUser,
  type Tokens,
  token,
} from './oauth.ts'
import { setting } from './run.ts'

const withinMs = 2_000
const domain = setting('KAPIS_GROUP_DOMAIN')

/** Complete responses of /oauth/token, contents of tokens, and discovery, in tables. */
describe('HTTP responses of /oauth', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('wire'), password: 'Correct horse 1' }
  const grant = { grant_type: 'password', ...user }
  let tokens: Tokens

  before(async () => {
    await createUser(user)
    tokens = await loginAs(user)
  })
  after(() => removeUser(user.username))

  const invalidGrant = (text: string) => ({ error: 'invalid_grant', error_description: text })
  const invalidRequest = (text: string) => ({ error: 'invalid_request', error_description: text })
  const refused = invalidGrant('the refresh token is invalid or expired')
  const rows: readonly [string, () => Promise<HttpResponse>, number, object][] = [
    ['a missing grant type', () => token({}), 400, invalidRequest('the parameter grant_type is required')],
    [
      'an unknown grant type',
      () => token({ grant_type: 'implicit' }),
      400,
      { error: 'unsupported_grant_type' },
    ],
    [
      'a missing client',
      () => form('/oauth/token', grant),
      401,
      { error: 'invalid_client', error_description: 'the OAuth client was not found' },
    ],
    [
      'a wrong secret',
      () => token({ ...grant, client_secret: 'wrong' }),
      401,
      { error: 'invalid_client', error_description: 'invalid client credential' },
    ],
    [
      'a missing user',
      () => token({ ...grant, username: '' }),
      400,
      invalidRequest('the parameter username is required'),
    ],
    [
      'a missing password',
      () => token({ ...grant, password: '' }),
      400,
      invalidRequest('the parameter password is required'),
    ],
    [
      'a wrong password',
      () => token({ ...grant, password: 'wrong' }),
      400,
      invalidGrant('incorrect password'),
    ],
    [
      'an unknown user',
      () => token({ ...grant, username: uniqueName('nonexistent') }),
      400,
      invalidGrant('incorrect password'),
    ],
    [
      'a missing refresh token',
      () => token({ grant_type: 'refresh_token' }),
      400,
      invalidRequest('the parameter refresh_token is required'),
    ],
    ['an invalid refresh token', () => refresh('garbage'), 400, refused],
    ['an access token as a refresh token', () => refresh(tokens.access_token), 400, refused],
    ['a truncated refresh token', () => refresh(tokens.refresh_token.slice(0, -4)), 400, refused],
    [
      'a duplicate parameter',
      () =>
        sendToKapis('/oauth/token', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `${new URLSearchParams({ ...credentials, ...grant })}&username=admin`,
        }),
      400,
      invalidRequest('the parameter username is given more than once'),
    ],
    [
      'JSON',
      () =>
        sendToKapis('/oauth/token', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(grant),
        }),
      415,
      invalidRequest('the body must be application/x-www-form-urlencoded'),
    ],
    ['GET', () => sendToKapis('/oauth/token'), 405, invalidRequest('method not allowed; supported: POST')],
    ['an unknown path', () => sendToKapis('/oauth/nothing'), 404, invalidRequest('unknown endpoint')],
  ]
  for (const [what, send, code, body] of rows) {
    it(`respond to ${what} with ${code}`, async () => {
      const response = await send()
      expect(parseResponse(response)).to.deep.equal([code, body])
      expect(response.headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(response.headers['cache-control']).to.equal('no-store')
    })
  }

  it('report to disabled users that they are disabled, for a password and for a refresh token', async () => {
    const patch = (state: string) => patchUser(user.username, { status: { state } }, '--subresource=status')
    await patch('Disabled')
    try {
      const inactive = [400, invalidGrant('account is not active')]
      await eventually(
        async () => void expect(parseResponse(await token(grant))).to.deep.equal(inactive),
        withinMs,
      )
      expect(parseResponse(await refresh(tokens.refresh_token))).to.deep.equal(inactive)
    } finally {
      await patch('Active')
      tokens = await loginAs(user)
    }
  })

  it('contain in tokens the claims that consoles read, and no token twice', async () => {
    const [a, b] = [await loginAs(user), await loginAs(user)]
    const { iat, exp, jti, sid, iss, ...claims } = claimsOf(a.refresh_token)
    expect(claims).to.deep.equal({
      sub: user.username,
      username: user.username,
      aud: [iss],
      client_id: credentials.client_id,
      scope: '',
      token_type: 'refresh_token',
    })
    expect(Number(exp) - Number(iat)).to.equal(14_400)
    for (const name of ['jti', 'sid'])
      expect(claimsOf(b.refresh_token)[name]).to.not.equal({ jti, sid }[name])
    expect(a.access_token).to.not.equal(b.access_token)
  })

  it('accept only access tokens for APIs', async () => {
    const nodes = `/kapis/resources.${domain}/v1alpha3/nodes`
    expectStatus(await bearer(tokens.refresh_token, nodes), statusBody(401, 'Unauthorized', 'Unauthorized'))
    expect(await bearer(tokens.access_token, nodes)).to.include({ code: 403 })
  })

  it('list in discovery every endpoint and grant', async () => {
    const response = await sendToKapis('/oauth/.well-known/openid-configuration')
    const document = JSON.parse(response.body)
    expect(parseResponse(await sendToKapis('/.well-known/openid-configuration/oauth'))).to.deep.equal([
      200,
      document,
    ])
    expect(document.subject_types_supported).to.deep.equal(['public'])
    expect(document.id_token_signing_alg_values_supported).to.deep.equal(['RS256', 'ES256'])
    const endpoints = Object.entries(document).filter(([name]) => /_(endpoint|uri)$/.test(name))
    expect(endpoints.length).to.be.greaterThan(6)
    for (const [name, url] of endpoints) {
      expect(url, name)
        .to.be.a('string')
        .that.satisfies((text: string) => text.startsWith(`${document.issuer}/`))
      const { code } = await sendToKapis(new URL(String(url)).pathname)
      expect(code, name).to.not.equal(404)
    }
    for (const grantType of document.grant_types_supported) {
      const { error } = JSON.parse((await token({ grant_type: grantType })).body)
      expect(error, grantType).to.not.equal('unsupported_grant_type')
    }
    const { keys } = JSON.parse((await sendToKapis('/oauth/keys')).body)
    for (const key of keys) {
      expect(key).to.include({ use: 'sig' })
      const members = key.kty === 'EC' ? ['crv', 'x', 'y'] : ['n', 'e']
      expect(key).to.have.all.keys('use', 'kty', 'kid', 'alg', ...members)
    }
  })

  it('grant to a recreated user nothing of the deleted one with the same name', async () => {
    const again = { username: uniqueName('again'), password: user.password }
    await createUser(again)
    const before = await loginAs(again)
    await removeUser(again.username)
    await createUser(again)
    try {
      const after = await loginAs(again)
      const status = async () => parseResponse(await refresh(before.refresh_token))
      expect(await status()).to.deep.equal([400, invalidGrant('the login has ended')])
      expect(await refresh(after.refresh_token)).to.include({ code: 200 })
      await kubectlOutput('get', 'loginsession', String(claimsOf(after.access_token).sid))
    } finally {
      await removeUser(again.username)
    }
  })
})
