import { expect } from 'chai'
import { uniqueName } from './cluster.ts'
import {
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  parseResponse,
  refresh,
  removeUser,
  uidOfUser,
} from './oauth.ts'
import { createClient, issuerUrl, removeClient } from './oauth-clients.ts'
import { setting } from './run.ts'

/** RFC 6749 section 6: which client can use a refresh token, and the tokens that it gets. */
describe('a refresh token', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('refreshing'), password: 'Correct horse 1' }
  const other = { name: uniqueName('other'), secret: 'its own' }
  const login = { grant_type: 'password', ...user, ...credentials }

  before(async () => {
    await createUser(user, { groups: ['e2e-refresh'] })
    await createClient(other)
    await loginAs(user)
  })
  after(async () => {
    await removeUser(user.username)
    await removeClient(other.name)
  })

  it('returns the complete response of a login, and continues the session', async () => {
    const first = await loginAs(user)
    const response = await refresh(first.refresh_token)
    const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
    expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200 }])
    expect(response.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    })
    const issuer = await issuerUrl()
    const both = {
      iss: issuer,
      sub: user.username,
      username: user.username,
      client_id: credentials.client_id,
      scope: '',
      sid: claimsOf(first.access_token).sid,
    }
    const said = (jwt: string) => {
      const { iat, exp, jti, ...claims } = claimsOf(jwt)
      expect(jti).to.be.a('string').and.not.equal('')
      return { ...claims, seconds: Number(exp) - Number(iat) }
    }
    expect(said(access_token)).to.deep.equal({
      ...both,
      aud: [setting('KAPIS_GROUP_DOMAIN')],
      uid: await uidOfUser(user.username),
      groups: ['e2e-refresh'],
      auth_time: claimsOf(first.access_token).auth_time,
      amr: ['pwd'],
      acr: 'sfa',
      token_type: 'access_token',
      seconds: 7200,
    })
    expect(said(refresh_token)).to.deep.equal({
      ...both,
      aud: [issuer],
      token_type: 'refresh_token',
      seconds: 14_400,
    })
    const ids = [first.access_token, first.refresh_token, access_token, refresh_token].map(
      jwt => claimsOf(jwt).jti,
    )
    expect(new Set(ids).size).to.equal(4)
  })

  it('is valid only for its client, and remains valid after an attempt by another', async () => {
    const { refresh_token } = await loginAs(user)
    const fields = { grant_type: 'refresh_token', refresh_token }
    const response = await form('/oauth/token', {
      ...fields,
      client_id: other.name,
      client_secret: other.secret,
    })
    expect(parseResponse(response)).to.deep.equal([
      400,
      { error: 'invalid_grant', error_description: 'the refresh token was issued to another client' },
    ])
    expect(await refresh(refresh_token)).to.include({ code: 200 })
  })

  it('narrows the scope of an access token, and never widens it', async () => {
    const first = JSON.parse((await form('/oauth/token', { ...login, scope: 'openid email' })).body)
    const send = (refresh_token: string, scope: string) =>
      form('/oauth/token', { ...credentials, grant_type: 'refresh_token', refresh_token, scope })
    const response = await send(first.refresh_token, 'openid')
    const { access_token, refresh_token, id_token, ...rest } = JSON.parse(response.body)
    expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200 }])
    const { sub, aud, sid, auth_time } = claimsOf(first.id_token)
    expect(claimsOf(id_token)).to.include({ sub, aud, sid, auth_time }).and.not.have.property('email')
    expect([claimsOf(access_token).scope, claimsOf(refresh_token).scope]).to.deep.equal([
      'openid',
      'openid email',
    ])
    expect(parseResponse(await send(refresh_token, 'openid profile'))).to.deep.equal([
      400,
      {
        error: 'invalid_scope',
        error_description: 'the parameter scope exceeds the scope of the login',
      },
    ])
  })
})
