import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { issuer } from '../../jwt/fixtures.ts'
import {
  type Authorization,
  decode,
  pkce,
  redirectUri,
  startAuthorization,
  verifier,
  web,
} from '../authorize/fixtures.ts'
import { hiddenFieldsOf, locationOf } from '../browser/fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'

describe('authorizationCodeGrant', () => {
  let setup: Authorization
  beforeEach(async () => {
    setup = await startAuthorization()
  })
  afterEach(() => setup.app.close())

  it('returns tokens for the code, and an ID token with the user and the time of the login', async () => {
    const code = await setup.codeOf({ scope: 'openid profile email unknown', nonce: 'n1', ...pkce })
    const response = await setup.exchange(code, { code_verifier: verifier, ...web })
    expect(response.code).to.equal(200)
    const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200, scope: 'openid profile email' })
    expect(refresh_token).to.be.a('string')
    const { iat, exp, jti, auth_time, sid, ...claims } = decode(id_token)
    expect(claims).to.deep.equal({
      iss: issuer,
      sub: 'alice',
      aud: 'web',
      nonce: 'n1',
      amr: ['pwd'],
      acr: 'sfa',
      at_hash: createHash('sha256').update(access_token).digest().subarray(0, 16).toString('base64url'),
      name: 'alice',
      preferred_username: 'alice',
      groups: ['dev'],
      email: 'alice@kapis.io',
      email_verified: true,
    })
    expect(jti).to.match(/^[\da-f-]{36}$/)
    expect(exp - iat).to.equal(7200)
    expect(iat - auth_time).to.be.within(0, 5)
    expect(setup.app.sessions.get(sid)).to.include({
      type: '',
      clientId: 'web',
      scope: 'openid profile email',
    })
    expect(JSON.parse(Buffer.from(id_token.split('.')[0], 'base64url').toString()).alg).to.equal('RS256')
  })

  it('signs with ES256 for a client that requests it, and includes only the claims of the scope', async () => {
    const code = await setup.codeOf({ client_id: 'es256', scope: 'openid' })
    const response = await setup.exchange(code, {
      client_id: 'es256',
      client_secret: 's',
      grant_type: 'code',
    })
    const { id_token } = JSON.parse(response.body)
    expect(JSON.parse(Buffer.from(id_token.split('.')[0], 'base64url').toString()).alg).to.equal('ES256')
    expect(Object.keys(decode(id_token))).to.have.members([
      ...['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'auth_time', 'amr', 'acr', 'sid', 'at_hash'],
    ])
  })

  it('returns no ID token without openid, and accepts none as an access token', async () => {
    const plain = JSON.parse((await setup.exchange(await setup.codeOf())).body)
    expect(plain).to.not.have.property('id_token')
    const { id_token } = JSON.parse((await setup.exchange(await setup.codeOf({ scope: 'openid' }))).body)
    const response = await setup.app.send('GET', '/oauth/userinfo', {
      headers: { authorization: `Bearer ${id_token}` },
    })
    expect(response.code).to.equal(401)
    const refreshed = await setup.app.token({
      grant_type: 'refresh_token',
      refresh_token: id_token,
      client_id: 'web',
      client_secret: 's',
    })
    expect(refreshed.code).to.equal(400)
  })

  const scopes: readonly [string, Record<string, string>, object][] = [
    ['omits scope from the response if none was requested, since it must not be empty', {}, {}],
    ['returns an empty scope if nothing was granted', { scope: 'unknown' }, { scope: '' }],
    ['returns the granted scope even if it equals the requested one', { scope: 'email' }, { scope: 'email' }],
  ]
  for (const [what, request, said] of scopes) {
    it(what, async () => {
      const response = await setup.exchange(await setup.codeOf(request))
      const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
      expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200, ...said }])
    })
  }

  describe('a code', () => {
    const invalid = (response: { code: number; body: string }) => {
      expect(response.code).to.equal(400)
      expect(JSON.parse(response.body).error).to.equal('invalid_grant')
      return JSON.parse(response.body).error_description
    }

    it('is valid once: a second use ends the session of the first', async () => {
      const code = await setup.codeOf()
      const { refresh_token } = JSON.parse((await setup.exchange(code)).body)
      expect(invalid(await setup.exchange(code))).to.equal('the code was used before; the login has ended')
      const refreshed = await setup.app.token({
        grant_type: 'refresh_token',
        refresh_token,
        ...web,
      })
      expect(invalid(refreshed)).to.equal('the login has ended')
    })

    it('creates one session for two concurrent uses, and ends it', async () => {
      const code = await setup.codeOf()
      const responses = await Promise.all([setup.exchange(code), setup.exchange(code), setup.exchange(code)])
      expect(responses.filter(response => response.code === 200)).to.have.length(1)
      expect(setup.app.sessions.get(decode(code).jti)?.ended).to.equal('authorization code used twice')
    })

    const bindings: readonly [string, Record<string, string>, string][] = [
      ['another client', { client_id: 'es256', client_secret: 's' }, 'the code was issued to another client'],
      [
        'another redirect_uri',
        { redirect_uri: `${redirectUri}2` },
        'the parameter redirect_uri does not match the authorization request',
      ],
      [
        'a missing redirect_uri',
        { redirect_uri: '' },
        'the parameter redirect_uri does not match the authorization request',
      ],
      ['a missing verifier', {}, 'the parameter code_verifier does not match the code_challenge'],
      [
        'another verifier',
        { code_verifier: 'w'.repeat(43) },
        'the parameter code_verifier does not match the code_challenge',
      ],
    ]
    for (const [what, more, description] of bindings) {
      it(`is rejected with ${what}, but stays valid`, async () => {
        const code = await setup.codeOf(pkce)
        const form = { ...web, ...more }
        expect(invalid(await setup.exchange(code, form))).to.equal(description)
        const good = { ...web, code_verifier: verifier }
        expect((await setup.exchange(code, good)).code).to.equal(200)
      })
    }

    it('that was issued without PKCE is rejected with a verifier (downgrade)', async () => {
      const response = await setup.exchange(await setup.codeOf(), {
        code_verifier: verifier,
        ...web,
      })
      expect(invalid(response)).to.equal('the parameter code_verifier does not match the code_challenge')
    })

    it('is not accepted as a token of another kind', async () => {
      const session = setup.browser.cookies.get('__Host-kapis-session')
      for (const code of ['x', session ?? 'y', (await setup.codeOf()).slice(0, -3)])
        expect(invalid(await setup.exchange(code))).to.equal('the code is invalid or expired')
      const response = await setup.app.send('GET', '/oauth/userinfo', {
        headers: { authorization: `Bearer ${await setup.codeOf()}` },
      })
      expect(response.code).to.equal(401)
    })

    it('becomes invalid with the browser session, and with the user', async () => {
      const code = await setup.codeOf()
      const page = await setup.browser.get('/oauth/session')
      await setup.browser.post('/oauth/session', hiddenFieldsOf(page.body))
      expect(invalid(await setup.exchange(code))).to.equal('the login has ended')
      const other = await setup.codeOf()
      setup.app.users.set('alice', memoryUser('alice', { state: 'Disabled' }))
      expect(invalid(await setup.exchange(other))).to.equal('account is not active')
      setup.app.users.delete('alice')
      expect(invalid(await setup.exchange(other))).to.equal('authenticated user does not exist')
    })

    it('starts no session for a user who must use a second factor by then', async () => {
      const code = await setup.codeOf()
      setup.app.requiredGroups.push('dev')
      expect(invalid(await setup.exchange(code))).to.equal('this user needs a second factor: log in again')
    })

    it('is sent to any loopback port of a native app, with PKCE', async () => {
      await setup.browser.logIn('alice', 'right')
      const uri = 'http://127.0.0.1:51004/cb'
      const response = await setup.authorize({ client_id: 'spa', redirect_uri: uri, ...pkce })
      expect(response.headers.location).to.match(/^http:\/\/127\.0\.0\.1:51004\/cb\?code=/)
      const code = locationOf(response).searchParams.get('code') ?? ''
      const form = { client_id: 'spa', redirect_uri: uri, code_verifier: verifier }
      expect((await setup.exchange(code, form)).code).to.equal(200)
    })
  })
})
