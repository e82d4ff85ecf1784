import { expect } from 'chai'
import { askKapis, uniqueName } from './cluster.ts'
import { expectStatus, statusBody } from './http.ts'
import { createUser, credentials, loginAs, parsed, removeUser, type Tokens, token } from './oauth.ts'

/** What a caller brings along in Authorization: a broken credential is never taken for none. */
describe('Authorization at /oauth', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('bearing'), password: 'Correct horse 1' }
  const client = String(new URLSearchParams(credentials))
  let tokens: Tokens

  before(async () => {
    await createUser(user)
    tokens = await loginAs(user)
  })
  after(() => removeUser(user.username))

  const rows: readonly [string, string, string?][] = [
    ['GET', '/oauth/.well-known/openid-configuration'],
    ['GET', '/.well-known/openid-configuration'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/oauth/keys'],
    ['GET', '/oauth/userinfo'],
    ['POST', '/oauth/userinfo', ''],
    ['POST', '/oauth/authenticate', ''],
    ['GET', '/oauth/authorize?client_id=kapis&response_type=code'],
    ['POST', '/oauth/authorize', 'client_id=kapis&response_type=code'],
    ['POST', '/oauth/token', `${client}&grant_type=password`],
    ['POST', '/oauth/revoke', `${client}&token=x`],
    ['POST', '/oauth/introspect', `${client}&token=x`],
    ['POST', '/oauth/device_authorization', client],
    ['GET', '/oauth/login'],
    ['GET', '/oauth/login/nobody'],
    ['POST', '/oauth/login/nobody', client],
    ['GET', '/oauth/callback/nobody?code=x'],
    ['GET', '/oauth/logout'],
    ['POST', '/oauth/logout', ''],
    ['GET', '/oauth/device'],
    ['GET', '/oauth/personal-access-tokens'],
    ['GET', '/oauth/nothing'],
  ]
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const [method, path, body] of rows) {
    it(`is refused at ${method} ${path.split('?')[0]} when it is no good`, async () => {
      for (const authorization of ['Bearer garbage', 'Bearer', 'Nonsense x', tokens.access_token]) {
        const headers = { ...(body === undefined ? {} : type), authorization }
        const answer = await askKapis(path, { method, headers, ...(body === undefined ? {} : { body }) })
        expectStatus(answer, statusBody(401, 'Unauthorized', 'Unauthorized'))
        expect(answer.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      }
    })
  }

  it('is no place for the password of a user, right or wrong, but at userinfo', async () => {
    for (const path of ['/oauth/keys', '/oauth/logout', '/oauth/authorize?client_id=kapis']) {
      for (const password of [user.password, 'Wrong horse 1']) {
        const credential = Buffer.from(`${user.username}:${password}`).toString('base64')
        const answer = await askKapis(path, { headers: { authorization: `Basic ${credential}` } })
        expectStatus(answer, statusBody(401, 'Unauthorized', 'Unauthorized'))
        expect(answer.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      }
    }
  })

  it('may be an access token wherever nothing is asked of it', async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const known = await askKapis('/oauth/keys')
    expect(parsed(await askKapis('/oauth/keys', { headers }))).to.deep.equal(parsed(known))
    const answer = await token({ grant_type: 'none' }, headers)
    expect(parsed(answer)).to.deep.equal([400, { error: 'unsupported_grant_type' }])
  })

  it('tells userinfo of whom, and leaves out what is empty', async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const answer = await askKapis('/oauth/userinfo', { headers })
    expect(parsed(answer)).to.deep.equal([
      200,
      { sub: user.username, email: `${user.username}@e2e.test`, preferred_username: user.username },
    ])
    expect(answer.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    })
  })

  it('is not needed for the keys, which are public ones alone', async () => {
    const answer = await askKapis('/oauth/keys')
    const { keys, ...rest } = JSON.parse(answer.body)
    expect([answer.code, rest]).to.deep.equal([200, {}])
    const base64url = /^[A-Za-z0-9_-]+$/
    for (const { kid, ...key } of keys) {
      expect(kid).to.match(base64url)
      const { x, y, n, ...fixed } = key
      if (key.kty === 'EC') {
        expect(fixed).to.deep.equal({ use: 'sig', kty: 'EC', alg: 'ES256', crv: 'P-256' })
        for (const coordinate of [x, y]) expect(Buffer.from(coordinate, 'base64url')).to.have.length(32)
      } else {
        expect(fixed).to.deep.equal({ use: 'sig', kty: 'RSA', alg: 'RS256', e: 'AQAB' })
        expect(Buffer.from(n, 'base64url').length).to.be.at.least(256)
      }
    }
    const algorithms = keys.map(({ alg }: { alg: string }) => alg)
    expect(algorithms).to.include.members(['ES256', 'RS256'])
    expect(new Set(keys.map(({ kid }: { kid: string }) => kid)).size).to.equal(keys.length)
  })
})
