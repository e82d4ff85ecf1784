import { expect } from 'chai'
import { type HttpResponse, sendToKapis, uniqueName } from './cluster.ts'
import { form, parseResponse } from './oauth.ts'
import { createClient, removeClient } from './oauth-clients.ts'

/** Client authentication at every endpoint (RFC 6749 sections 2.3, 3.2 and 5.2). */
describe('client authentication at /oauth', function () {
  this.timeout(60_000)
  const client = { name: uniqueName('basic'), secret: 'a: secret%' }
  const native = { name: uniqueName('native'), public: true, redirectURIs: ['http://localhost/cb'] }
  const challenge = 'Basic realm="kapis", charset="UTF-8"'
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  const good = basic(`${client.name}:${encodeURIComponent(client.secret)}`)
  const inForm = { client_id: client.name, client_secret: client.secret }

  before(async () => {
    for (const each of [client, native]) await createClient(each)
  })
  after(async () => {
    for (const { name } of [client, native]) await removeClient(name)
  })

  const invalidClient = (error_description: string) => ({ error: 'invalid_client', error_description })
  const invalidRequest = (error_description: string) => ({ error: 'invalid_request', error_description })
  const unknown = invalidClient('the OAuth client was not found')
  const wrong = invalidClient('invalid client credential')
  const unreadable = invalidClient('invalid Basic credential')
  const twoWays = invalidRequest('the client must use only one authentication method')
  const post = (fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) =>
    form('/oauth/token', { grant_type: 'nonsense', ...fields }, headers)

  // Each row requests an unknown grant, an error that follows successful client authentication.
  const rows: readonly [string, () => Promise<HttpResponse>, number, object, string?][] = [
    ['a valid Basic credential', () => post({}, good), 400, { error: 'unsupported_grant_type' }],
    ['a Basic credential of another client', () => post({}, basic('nonexistent:x')), 401, unknown, challenge],
    ['a wrong secret in Basic', () => post({}, basic(`${client.name}:wrong`)), 401, wrong, challenge],
    ['an empty secret in Basic', () => post({}, basic(`${client.name}:`)), 401, wrong, challenge],
    ['Basic without a colon', () => post({}, basic('nonexistent')), 401, unreadable, challenge],
    ['Basic that is not base64', () => post({}, { authorization: 'Basic !' }), 401, unreadable, challenge],
    ['Basic and a secret in the form', () => post(inForm, good), 400, twoWays],
    ['Basic and another client_id in the form', () => post({ client_id: native.name }, good), 400, twoWays],
    [
      'Basic and the same client_id in the form',
      () => post({ client_id: client.name }, good),
      400,
      { error: 'unsupported_grant_type' },
    ],
    ['an unknown client in the form', () => post({ ...inForm, client_id: 'nonexistent' }), 401, unknown],
    ['a wrong secret in the form', () => post({ ...inForm, client_secret: 'wrong' }), 401, wrong],
    ['a missing secret in the form', () => post({ client_id: client.name }), 401, wrong],
    ['a public client with a secret', () => post({ client_id: native.name, client_secret: 'x' }), 401, wrong],
    ['a public client', () => post({ client_id: native.name }), 400, { error: 'unsupported_grant_type' }],
    [
      'a grant that the client may not use',
      () => post({ ...inForm, grant_type: 'client_credentials' }),
      400,
      { error: 'unauthorized_client', error_description: 'the client may not use this grant type' },
    ],
    [
      'introspection with a public client',
      () => form('/oauth/introspect', { client_id: native.name, token: 'x' }),
      401,
      invalidClient('public clients cannot use introspection'),
    ],
  ]
  for (const [what, send, code, body, authenticate] of rows) {
    it(`returns ${code} for ${what}`, async () => {
      const response = await send()
      expect(parseResponse(response)).to.deep.equal([code, body])
      expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
      expect(response.headers['www-authenticate']).to.equal(authenticate)
    })
  }

  const type = 'application/x-www-form-urlencoded'
  for (const endpoint of ['token', 'revoke', 'introspect', 'device_authorization', 'userinfo', 'logout']) {
    const send = (contentType: string, body: string) =>
      sendToKapis(`/oauth/${endpoint}`, { method: 'POST', headers: { 'content-type': contentType }, body })

    it(`is checked at ${endpoint} before anything else`, async () => {
      const response = await send('application/json', JSON.stringify(inForm))
      expect(parseResponse(response)).to.deep.equal([415, invalidRequest(`the body must be ${type}`)])
      expect(response.headers['accept-post']).to.equal(type)
    })

    it(`accepts each parameter of ${endpoint} once`, async () => {
      const { name } = client
      const response = await send(type, `client_id=${name}&client_id=${name}`)
      expect(parseResponse(response)).to.deep.equal([
        400,
        invalidRequest('the parameter client_id is given more than once'),
      ])
    })
  }

  for (const endpoint of ['revoke', 'introspect']) {
    it(`must include a token at ${endpoint}`, async () => {
      const response = await form(`/oauth/${endpoint}`, inForm)
      expect(parseResponse(response)).to.deep.equal([400, invalidRequest('the parameter token is required')])
    })
  }
})
