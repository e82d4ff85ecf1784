import { expect } from 'chai'
import type { UserAgent } from '../peers/user-agent.ts'
import { sendToKapis, uniqueName } from './cluster.ts'
import { claimsOf, createUser, form, loginAs, parseResponse, removeUser } from './oauth.ts'
import { logInBrowser, pkce, redirectUri, responseTo, verifier } from './oauth-browser.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'

/** Which client can redeem which code, and the tokens that it gets. */
describe('an authorization code', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('coded'), password: 'Correct horse 1' }
  const secret = 'client secret'
  const one = { name: uniqueName('one'), secret, redirectURIs: [redirectUri] }
  const several = { name: uniqueName('several'), secret, redirectURIs: [redirectUri, `${redirectUri}/2`] }
  const native = { name: uniqueName('native'), public: true, redirectURIs: [redirectUri] }
  const asking = { name: uniqueName('asking'), secret, grantMethod: 'prompt', redirectURIs: [redirectUri] }
  const es256 = { name: uniqueName('es256'), secret, idTokenSigningAlg: 'ES256', redirectURIs: [redirectUri] }
  const clients = [one, several, native, asking, es256]
  let agent: UserAgent
  let iss: string

  before(async () => {
    iss = await issuerUrl()
    await createUser(user, { displayName: 'Co Ded', groups: ['e2e-code'] })
    for (const client of clients) await createClient(client)
    await loginAs(user)
    agent = await logInBrowser(user)
  })
  after(async () => {
    await removeUser(user.username)
    for (const { name } of clients) await removeClient(name)
  })

  const invalidGrant = (error_description: string) => ({ error: 'invalid_grant', error_description })
  const invalidRequest = (error_description: string) => ({ error: 'invalid_request', error_description })
  async function newCode(request: Readonly<Record<string, string>>): Promise<string> {
    const { code = '', ...rest } = await responseTo(agent, { state: 's', ...request })
    expect(rest).to.deep.equal({ state: 's', iss })
    return code
  }
  const exchange = (name: string, code: string, fields: Readonly<Record<string, string>> = {}) =>
    form('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: name,
      ...(name === native.name ? {} : { client_secret: secret }),
      code,
      ...fields,
    })

  it('is sent to the only redirect URI of a client without the parameter, and exchanged without it', async () => {
    const code = await newCode({ client_id: one.name })
    const response = await exchange(one.name, code)
    const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
    // Without the scope openid, the response contains no ID token. Without a requested scope, it
    // contains no scope.
    expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200 }])
    expect(claimsOf(access_token)).to.include({ sub: user.username, scope: '' })
    expect(claimsOf(refresh_token)).to.include({ sub: user.username, token_type: 'refresh_token' })
  })

  it('is not sent without redirect_uri if the client has several', async () => {
    const query = new URLSearchParams({ client_id: several.name, response_type: 'code' })
    const response = await sendToKapis(`/oauth/authorize?${query}`)
    expect(parseResponse(response)).to.deep.equal([
      400,
      invalidRequest('the parameter redirect_uri is required'),
    ])
    expect(response.headers).to.not.have.property('location')
  })

  it('that is used twice ends its session', async () => {
    const code = await newCode({ client_id: one.name })
    const { refresh_token } = JSON.parse((await exchange(one.name, code)).body)
    const again = invalidGrant('the code was used before; the login has ended')
    expect(parseResponse(await exchange(one.name, code))).to.deep.equal([400, again])
    const refreshed = await exchange(one.name, '', { grant_type: 'refresh_token', refresh_token })
    expect(parseResponse(refreshed)).to.deep.equal([400, invalidGrant('the login has ended')])
  })

  it('is sent to a public client only with PKCE', async () => {
    expect(await responseTo(agent, { client_id: native.name, state: 's' })).to.deep.equal({
      ...invalidRequest('the parameter code_challenge is required for public clients'),
      state: 's',
      iss,
    })
    const code = await newCode({ client_id: native.name, ...pkce })
    const wrong = invalidGrant('the parameter code_verifier does not match the code_challenge')
    expect(parseResponse(await exchange(native.name, code))).to.deep.equal([400, wrong])
    expect(await exchange(native.name, code, { code_verifier: verifier })).to.include({ code: 200 })
  })

  it('is not sent without a prompt to a client with grantMethod prompt', async () => {
    expect(await responseTo(agent, { client_id: asking.name, prompt: 'none', state: 's' })).to.deep.equal({
      error: 'consent_required',
      state: 's',
      iss,
    })
  })

  it('returns an empty scope if none of the requested scopes was granted', async () => {
    const response = await exchange(one.name, await newCode({ client_id: one.name, scope: 'unknown' }))
    const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
    expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200, scope: '' }])
  })

  const shown = { sub: user.username, amr: ['pwd'], acr: 'sfa' }
  const profile = { name: 'Co Ded', preferred_username: user.username, groups: ['e2e-code'] }
  const email = { email: `${user.username}@e2e.test`, email_verified: true }
  const rows: readonly [string, string, string, object, string][] = [
    ['contains only the subject for openid alone', one.name, 'openid', {}, 'RS256'],
    ['contains the e-mail address for the scope email', one.name, 'openid email', email, 'RS256'],
    ['contains the name for the scope profile', one.name, 'openid profile', profile, 'RS256'],
    ['is signed with ES256 for a client that requests it', es256.name, 'openid', {}, 'ES256'],
    ['ignores an unknown scope', one.name, 'openid unknown', {}, 'RS256'],
  ]
  for (const [what, name, scope, claims, alg] of rows) {
    it(`returns an ID token that ${what}`, async () => {
      const response = await exchange(name, await newCode({ client_id: name, scope }))
      const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
      const granted = scope === 'openid unknown' ? 'openid' : scope
      expect([response.code, rest]).to.deep.equal([
        200,
        { token_type: 'Bearer', expires_in: 7200, scope: granted },
      ])
      const { iat, exp, jti, sid, auth_time, at_hash, ...said } = claimsOf(id_token)
      expect(said).to.deep.equal({ ...shown, iss, aud: name, ...claims })
      const header = JSON.parse(Buffer.from(id_token.split('.')[0], 'base64url').toString('utf8'))
      const { keys } = JSON.parse((await sendToKapis('/oauth/keys')).body)
      expect(keys.map(({ kid }: { kid: string }) => kid)).to.include(header.kid)
      expect({ ...header, kid: '' }).to.deep.equal({ alg, kid: '', typ: 'JWT' })
    })
  }
})
