import { expect } from 'chai'
import { type HttpResponse, sendToKapis, uniqueName } from './cluster.ts'
import { expectStatus, statusBody } from './http.ts'
import { createUser, credentials, loginAs, parseResponse, removeUser, type Tokens, token } from './oauth.ts'
import { sendRaw } from './raw-https.ts'
import { setting } from './run.ts'

/** A token of another issuer with an invalid signature. */
const foreign = [{ alg: 'RS256', kid: 'x' }, { iss: 'https://id.example.org', sub: 'alice' }, {}]
  .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } }

function withoutRandom(text: string | readonly string[]): string {
  return String(text)
    .replaceAll(/[\w-]{40,}/g, '…')
    .replaceAll(/\b[A-Z]{4}-[A-Z]{4}\b/g, '…')
}

/**
 * Authorization headers at endpoints of /oauth: an endpoint that uses the header rejects an invalid
 * one.
 */
describe('the Authorization header at /oauth', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('bearing'), password: 'Correct horse 1' }
  const client = String(new URLSearchParams(credentials))
  let tokens: Tokens

  before(async () => {
    await createUser(user)
    tokens = await loginAs(user)
  })
  after(() => removeUser(user.username))

  const usual = 'application/x-www-form-urlencoded'
  type Row = readonly [method: string, path: string, body?: string, type?: string]
  const send = ([method, path, body, type = usual]: Row, more: Readonly<Record<string, string>> = {}) =>
    sendToKapis(path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': type }), ...more },
      ...(body === undefined ? {} : { body }),
    })
  const titleOf = ([method, path]: Row) => `${method} ${path.split('?')[0]}`
  /** Returns the parts of a response that do not change from one request to the next. */
  const gist = ({ code, headers, body }: HttpResponse) => {
    const { location = '', 'content-type': type, 'www-authenticate': challenge } = headers
    return [code, type, challenge, withoutRandom(location), withoutRandom(body)]
  }

  const using: readonly Row[] = [
    ['GET', '/oauth/userinfo'],
    ['POST', '/oauth/userinfo', ''],
    ['GET', '/oauth/personal-access-tokens'],
    ['POST', '/oauth/personal-access-tokens', '{}', 'application/json'],
    ['DELETE', '/oauth/personal-access-tokens/x'],
  ]
  for (const row of using) {
    it(`is rejected at ${titleOf(row)} when it is invalid`, async () => {
      for (const authorization of ['Bearer garbage', 'Bearer', 'Nonsense x', tokens.access_token]) {
        const response = await send(row, { authorization })
        expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
        expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      }
    })
  }

  const ignoring: readonly Row[] = [
    ['GET', '/oauth/.well-known/openid-configuration'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/oauth-authorization-server/oauth'],
    ['GET', '/oauth/keys'],
    ['GET', `/kapis/config.${setting('KAPIS_GROUP_DOMAIN')}/v1alpha2/configs/oauth`],
    ['POST', '/oauth/authenticate', JSON.stringify(review), 'application/json'],
    ['GET', '/oauth/authorize?client_id=kapis&response_type=code'],
    ['POST', '/oauth/authorize', 'client_id=kapis&response_type=code'],
    ['POST', '/oauth/token', `${client}&grant_type=refresh_token&refresh_token=x`],
    ['POST', '/oauth/token', 'grant_type=password'],
    ['POST', '/oauth/revoke', `${client}&token=x`],
    ['POST', '/oauth/introspect', `${client}&token=x`],
    ['POST', '/oauth/device_authorization', client],
    ['GET', '/oauth/login'],
    ['GET', '/oauth/login/nonexistent'],
    ['POST', '/oauth/login/nonexistent', client],
    ['GET', '/oauth/callback/nonexistent?code=x'],
    ['GET', '/oauth/logout'],
    ['POST', '/oauth/logout', ''],
    ['GET', '/oauth/device'],
    ['GET', '/oauth/session'],
    ['GET', '/oauth/nothing'],
    ['PUT', '/oauth/token', ''],
  ]
  for (const row of ignoring) {
    it(`is ignored at ${titleOf(row)}, which does not use it`, async () => {
      const expected = gist(await send(row))
      // Tokens of another issuer, headers that proxies add, and other invalid credentials.
      for (const authorization of [
        `Bearer ${foreign}`,
        'Bearer garbage',
        'Bearer',
        'Bearer  two words',
        'Negotiate YII=',
        'Digest username="x"',
        'Nonsense',
        tokens.access_token,
        `Bearer ${tokens.refresh_token}`,
      ])
        expect(gist(await send(row, { authorization })), authorization.slice(0, 20)).to.deep.equal(expected)
    })
  }

  it('is ignored in token requests of a client whose previous issuer was another one', async () => {
    const response = await token({ grant_type: 'password', ...user }, { authorization: `Bearer ${foreign}` })
    expect(response.code, response.body).to.equal(200)
  })

  it('is rejected if there are two, wherever it is used', async () => {
    const basic = Buffer.from(Object.values(credentials).join(':')).toString('base64')
    for (const [path, code] of [
      ['/oauth/token', 400],
      ['/oauth/revoke', 400],
      ['/oauth/introspect', 400],
      ['/oauth/userinfo', 401],
    ] as const) {
      const head = [
        `POST ${path} HTTP/1.1`,
        'Host: kapis',
        `Authorization: Basic ${basic}`,
        'Authorization: Basic eDp5',
        `Content-Type: ${usual}`,
        'Content-Length: 0',
        'Connection: close',
      ]
      const { codes } = await sendRaw(`${head.join('\r\n')}\r\n\r\n`)
      expect(codes, path).to.deep.equal([code])
    }
  })

  it('may not contain a user’s password, except at userinfo', async () => {
    for (const path of ['/oauth/keys', '/oauth/logout', '/oauth/authorize?client_id=kapis']) {
      const expected = gist(await sendToKapis(path))
      for (const password of [user.password, 'Wrong horse 1']) {
        const credential = Buffer.from(`${user.username}:${password}`).toString('base64')
        const response = await sendToKapis(path, { headers: { authorization: `Basic ${credential}` } })
        expect(gist(response)).to.deep.equal(expected)
      }
    }
  })

  it('may contain an access token where none is required', async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const known = await sendToKapis('/oauth/keys')
    expect(parseResponse(await sendToKapis('/oauth/keys', { headers }))).to.deep.equal(parseResponse(known))
    const response = await token({ grant_type: 'none' }, headers)
    expect(parseResponse(response)).to.deep.equal([400, { error: 'unsupported_grant_type' }])
  })

  it('returns the user from userinfo, and omits empty claims', async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const response = await sendToKapis('/oauth/userinfo', { headers })
    expect(parseResponse(response)).to.deep.equal([
      200,
      { sub: user.username, email: `${user.username}@e2e.test`, preferred_username: user.username },
    ])
    expect(response.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    })
  })

  it('is not required for the public keys', async () => {
    const response = await sendToKapis('/oauth/keys')
    const { keys, ...rest } = JSON.parse(response.body)
    expect([response.code, rest]).to.deep.equal([200, {}])
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
