import { createPublicKey, verify } from 'node:crypto'
import { expect } from 'chai'
import {
  type HttpResponse,
  kubectlJson,
  kubectlOutput,
  sendToKapis,
  sendToKube,
  uniqueName,
} from './cluster.ts'
import {
  bearer,
  claimsOf,
  createUser,
  credentials,
  form,
  loginAs,
  patchUser,
  refresh,
  removeUser,
  type Tokens,
  token,
  uidOfUser,
} from './oauth.ts'
import { setting } from './run.ts'

const nodesPath = `/kapis/resources.${setting('KAPIS_GROUP_DOMAIN')}/v1alpha3/nodes`
const withinMs = 2_000

/** Repeats a request until the response has the code, for the maximum duration of a revocation. */
async function untilCode(code: number, send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const response = await send()
    if (response.code === code || Date.now() > deadline) return response
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

describe('tokens through kapis-apiserver', function () {
  this.timeout(60_000)
  const admin = { username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') }

  it('are returned for a password, with the complete response', async () => {
    const response = await token({ grant_type: 'password', ...admin })
    expect(response.code).to.equal(200)
    expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
    expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 7200 })
    const { exp, iat, jti, sid, iss, auth_time, ...claims } = claimsOf(access_token)
    expect(Number(auth_time)).to.be.within(Number(iat) - 5, Number(iat))
    expect(Number(exp) - Number(iat)).to.equal(7200)
    expect(claims).to.deep.equal({
      ...{ acr: 'sfa', amr: ['pwd'] },
      sub: admin.username,
      username: admin.username,
      aud: [setting('KAPIS_GROUP_DOMAIN')],
      client_id: setting('KAPIS_CLIENT_ID'),
      scope: '',
      uid: await uidOfUser(admin.username),
      groups: ['platform-admins'],
      token_type: 'access_token',
    })
    expect(claimsOf(refresh_token)).to.deep.include({ sid, iss, aud: [iss], token_type: 'refresh_token' })
  })

  it('are signed by a key of the published set', async () => {
    const { access_token } = await loginAs(admin)
    const [head = '', payload = '', signature = ''] = access_token.split('.')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))
    expect(header).to.include({ alg: 'ES256', typ: 'at+jwt' })
    const discovered = await sendToKapis('/oauth/.well-known/openid-configuration')
    const { issuer, jwks_uri } = JSON.parse(discovered.body)
    expect(claimsOf(access_token).iss).to.equal(issuer)
    const { keys } = JSON.parse((await sendToKapis(new URL(jwks_uri).pathname)).body)
    const key = createPublicKey({
      key: keys.find(({ kid }: { kid: string }) => kid === header.kid),
      format: 'jwk',
    })
    const input = Buffer.from(`${head}.${payload}`)
    const ieee = { key, dsaEncoding: 'ieee-p1363' } as const
    expect(verify('sha256', input, ieee, Buffer.from(signature, 'base64url'))).to.equal(true)
  })

  it('are accepted by every API: the platform API, the aggregated API, and kube-apiserver itself', async () => {
    const { access_token } = await loginAs(admin)
    expect(await bearer(access_token, nodesPath)).to.include({ code: 200 })
    const aggregated = `/apis/resources.${setting('KAPIS_GROUP_DOMAIN')}/v1alpha3/nodes`
    expect(await bearer(access_token, aggregated)).to.include({ code: 200 })
    expect(await sendToKube(access_token, '/api/v1/nodes')).to.include({ code: 200 })
    expect(await sendToKube(access_token, aggregated)).to.include({ code: 200 })
  })

  it('are rejected by every API if they are refresh tokens', async () => {
    const { refresh_token } = await loginAs(admin)
    expect(await bearer(refresh_token, nodesPath)).to.include({ code: 401 })
    expect(await sendToKube(refresh_token, '/api/v1/nodes')).to.include({ code: 401 })
  })

  it('are denied with the errors of RFC 6749', async () => {
    const rows: readonly [Record<string, string>, number, object][] = [
      [{ password: 'wrong' }, 400, { error: 'invalid_grant', error_description: 'incorrect password' }],
      [{ username: 'nonexistent' }, 400, { error: 'invalid_grant', error_description: 'incorrect password' }],
      [{ grant_type: 'implicit' }, 400, { error: 'unsupported_grant_type' }],
      [
        { client_id: 'nonexistent' },
        401,
        { error: 'invalid_client', error_description: 'the OAuth client was not found' },
      ],
      [
        { client_secret: 'wrong' },
        401,
        { error: 'invalid_client', error_description: 'invalid client credential' },
      ],
    ]
    for (const [changes, code, body] of rows) {
      const response = await token({ grant_type: 'password', ...admin, ...changes })
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([code, body])
    }
  })

  it('can be requested with HTTP Basic for the client', async () => {
    const { client_id, client_secret } = credentials
    const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
    const body = { grant_type: 'password', ...admin }
    const response = await form('/oauth/token', body, { authorization })
    expect(response.code).to.equal(200)
  })

  it('cannot be obtained with an identity asserted in headers', async () => {
    const headers = { 'x-remote-user': 'admin', 'impersonate-user': 'admin', 'x-forwarded-for': '127.0.0.1' }
    const grant = { grant_type: 'password', username: 'admin', password: 'wrong' }
    const response = await form('/oauth/token', { ...grant, ...credentials }, headers)
    expect([response.code, JSON.parse(response.body).error]).to.deep.equal([400, 'invalid_grant'])
  })

  it('cannot be requested with query parameters', async () => {
    const query = new URLSearchParams({ grant_type: 'password', ...admin, ...credentials })
    const response = await form(`/oauth/token?${query}`, {})
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      401,
      { error: 'invalid_client', error_description: 'the OAuth client was not found' },
    ])
  })

  describe('of a user', () => {
    const name = uniqueName('user')
    const user = { username: name, password: 'Correct horse 1' }
    let tokens: Tokens

    beforeEach(async () => {
      await createUser(user, { groups: ['e2e-group'] })
      tokens = await loginAs(user)
    })
    afterEach(() => removeUser(name))

    it('are issued immediately after the user was created', () => {
      expect(claimsOf(tokens.access_token)).to.deep.include({ sub: name, groups: ['e2e-group'] })
    })

    it('are issued for the e-mail address, too', async () => {
      const { access_token } = await loginAs({ ...user, username: `${name}@e2e.test` })
      expect(claimsOf(access_token).sub).to.equal(name)
    })

    it('grant no permissions but those of RBAC', async () => {
      const response = await bearer(tokens.access_token, nodesPath)
      expect(response.code).to.equal(403)
      expect(JSON.parse(response.body).message).to.include(`User "${name}" cannot list resource "nodes"`)
    })

    it('are recorded: the login, and its time', async () => {
      const { sid } = claimsOf(tokens.access_token)
      const session = Object(await kubectlJson('get', 'loginsessions', String(sid)))
      expect(session.spec).to.include({ user: name, clientId: setting('KAPIS_CLIENT_ID') })
      // Waits, since the login record is written after the response.
      const args = ['get', `users.iam.${setting('KAPIS_GROUP_DOMAIN')}`, name] as const
      let at: string | undefined
      for (let i = 0; i < 20 && at === undefined; i++)
        at = Object(await kubectlJson(...args)).status?.lastLoginTime
      expect(Date.now() - Date.parse(at ?? '')).to.be.within(-2_000, 30_000)
    })

    it('are rotated, with the refresh token as bearer token as consoles send it', async () => {
      const authorization = `Bearer ${tokens.refresh_token}`
      const response = await refresh(tokens.refresh_token, { authorization })
      expect(response.code).to.equal(200)
      const next: Tokens = JSON.parse(response.body)
      expect(claimsOf(next.refresh_token).jti).to.not.equal(claimsOf(tokens.refresh_token).jti)
      expect(claimsOf(next.access_token).sid).to.equal(claimsOf(tokens.access_token).sid)
      // A retry within the grace period gets the same tokens as the lost response.
      const retried: Tokens = JSON.parse((await refresh(tokens.refresh_token)).body)
      expect(claimsOf(retried.refresh_token).jti).to.equal(claimsOf(next.refresh_token).jti)
    })

    it('end with the session when a refresh token is reused', async () => {
      const second: Tokens = JSON.parse((await refresh(tokens.refresh_token)).body)
      const third: Tokens = JSON.parse((await refresh(second.refresh_token)).body)
      const response = await refresh(tokens.refresh_token)
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        400,
        {
          error: 'invalid_grant',
          error_description: 'the refresh token was used before; the login has ended',
        },
      ])
      expect(await untilCode(401, () => bearer(third.access_token, nodesPath))).to.include({ code: 401 })
      expect(await refresh(third.refresh_token)).to.include({ code: 400 })
    })

    const ends: readonly [string, () => Promise<unknown>, string][] = [
      [
        'is disabled',
        () => patchUser(name, { status: { state: 'Disabled' } }, '--subresource=status'),
        'account is not active',
      ],
      [
        'gets a new password',
        () => createUser({ ...user, password: 'Other horse 22' }),
        'the login has ended',
      ],
      ['is deleted', () => removeUser(name), 'authenticated user does not exist'],
    ]
    for (const [what, end, description] of ends) {
      it(`end within two seconds when the user ${what}`, async () => {
        expect(await bearer(tokens.access_token, nodesPath)).to.include({ code: 403 })
        await end()
        const response = await untilCode(401, () => bearer(tokens.access_token, nodesPath))
        expect(response.code).to.equal(401)
        const refused = await untilCode(400, () => refresh(tokens.refresh_token))
        expect(JSON.parse(refused.body)).to.deep.equal({
          error: 'invalid_grant',
          error_description: description,
        })
      })
    }

    it('end within two seconds when the session is deleted', async () => {
      await kubectlOutput('delete', 'loginsession', String(claimsOf(tokens.access_token).sid))
      const response = await untilCode(401, () => bearer(tokens.access_token, nodesPath))
      expect(response.code).to.equal(401)
      expect(await refresh(tokens.refresh_token)).to.include({ code: 400 })
    })

    it('stay valid for a user who is locked', async () => {
      await patchUser(name, { status: { state: 'AuthLimitExceeded' } }, '--subresource=status')
      const response = await untilCode(429, () => token({ grant_type: 'password', ...user }))
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([
        429,
        { error: 'invalid_grant', error_description: 'auth rate limit exceeded' },
      ])
      expect(Number(response.headers['retry-after'])).to.be.greaterThan(0)
      expect(await bearer(tokens.access_token, nodesPath)).to.include({ code: 403 })
      expect(await refresh(tokens.refresh_token)).to.include({ code: 200 })
    })
  })
})
