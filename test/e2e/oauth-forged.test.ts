import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type CryptoKey, exportSPKI, importJWK, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { type HttpResponse, kubectlJson, sendToKapis, uniqueName, withToken } from './cluster.ts'
import { eventually, expectStatus, statusBody } from './http.ts'
import { bearer, claimsOf, createUser, credentials, form, loginAs, refresh, removeUser } from './oauth.ts'
import { output, setting } from './run.ts'

const parsed = ({ code, body }: HttpResponse) => [code, body === '' ? '' : JSON.parse(body)]
const domain = setting('KAPIS_GROUP_DOMAIN')

type Key = { readonly kid: string; readonly alg: string; readonly jwk: JWK }

/**
 * Tokens with one invalid part each. They are signed with the keys of the platform, unless the
 * signature is the invalid part.
 */
describe('forged tokens', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('forged'), password: 'Correct horse 1' }
  const nodesPath = `/kapis/resources.${domain}/v1alpha3/nodes`
  let access: JWTPayload
  let refreshClaims: JWTPayload
  let key: Key
  let signing: CryptoKey | Uint8Array

  before(async () => {
    await createUser(user)
    const tokens = await loginAs(user)
    access = claimsOf(tokens.access_token)
    refreshClaims = claimsOf(tokens.refresh_token)
    const { kid } = JSON.parse(Buffer.from(tokens.access_token.split('.')[0] ?? '', 'base64url').toString())
    const namespace = setting('KAPIS_NAMESPACE')
    const { data } = Object(await kubectlJson('-n', namespace, 'get', 'secret', 'kapis-signing-keys'))
    const keys: Key[] = JSON.parse(Buffer.from(data['keys.json'], 'base64').toString('utf8'))
    const found = keys.find(each => each.kid === kid)
    if (found === undefined) throw new Error('the key of the token was not found')
    key = found
    signing = await importJWK({ ...key.jwk }, key.alg)
  })
  after(() => removeUser(user.username))

  const sign = (claims: JWTPayload, header: object = {}, by: CryptoKey | Uint8Array = signing) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
      .sign(by, { crit: { 'urn:unknown': true } })
  const now = () => Math.floor(Date.now() / 1000)
  const foreign = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  async function publicPem(): Promise<Uint8Array> {
    const { d: _, ...jwk } = key.jwk
    const pem = await exportSPKI((await importJWK({ ...jwk }, key.alg, { extractable: true })) as CryptoKey)
    return new TextEncoder().encode(pem)
  }

  it('are valid without the forgery, so that each of the following fails for one reason', async () => {
    expect((await bearer(await sign(access), '/api')).code).to.equal(200)
    expect((await bearer(await sign({ ...access, exp: now() - 3, iat: now() + 3 }), '/api')).code).to.equal(
      200,
    )
  })

  it('are valid without a uid, as in earlier releases: in kapis-apiserver and directly in kube-apiserver', async () => {
    const { uid, ...rest } = access
    const earlier = await sign(rest)
    expect(uid).to.be.a('string').and.not.equal('')
    expect((await bearer(earlier, '/api')).code).to.equal(200)
    const whoAmI = async (given: string) => {
      const args = [...(await withToken(given)), 'auth', 'whoami', '-o', 'json']
      return JSON.parse(await output('kubectl', args)).status.userInfo
    }
    // kube-apiserver loads the keys some seconds after its start.
    await eventually(() => whoAmI(earlier), 30_000)
    expect(await whoAmI(earlier))
      .to.deep.include({ username: user.username })
      .and.not.have.property('uid')
    expect(await whoAmI(await sign(access))).to.deep.include({ username: user.username, uid })
  })

  const rows: readonly [string, () => Promise<string> | string][] = [
    ['have no signature (alg none)', () => new UnsecuredJWT(access).encode()],
    [
      'are signed with the public key as a secret (HS256)',
      async () => sign(access, { alg: 'HS256' }, await publicPem()),
    ],
    [
      'declare RS256',
      async () => (await sign(access)).replace(/^[^.]+/, () => encode({ alg: 'RS256', kid: key.kid })),
    ],
    ['are signed with another key under our kid', () => sign(access, {}, signKey(foreign()))],
    ['have an unknown kid', () => sign(access, { kid: 'someone-elses' })],
    ['have no kid', () => sign(access, { kid: undefined })],
    [
      'embed their own key (jwk)',
      () => {
        const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
        const jwk = pair.publicKey.export({ format: 'jwk' })
        return sign(access, { jwk, kid: undefined }, signKey(pair.privateKey))
      },
    ],
    ['have an unknown critical header', () => sign(access, { crit: ['urn:unknown'], 'urn:unknown': 1 })],
    ['are for another audience', () => sign({ ...access, aud: ['elsewhere'] })],
    ['are for no audience', () => sign({ ...access, aud: [] })],
    ['are of another issuer', () => sign({ ...access, iss: 'https://evil.test/oauth' })],
    ['have expired', () => sign({ ...access, exp: now() - 60 })],
    [
      'never expire',
      () => {
        const { exp: _, ...rest } = access
        return sign(rest)
      },
    ],
    ['come from the future', () => sign({ ...access, iat: now() + 600 })],
    ['are not valid yet', () => sign({ ...access, nbf: now() + 600 })],
    ['name a system user', () => sign({ ...access, sub: 'system:admin' })],
    ['name an unknown user', () => sign({ ...access, sub: 'nonexistent-user' })],
    ['belong to an earlier user with the same name', () => sign({ ...access, uid: randomUUID() })],
    ['have a uid that is not a string', () => sign({ ...access, uid: 7 })],
    ['belong to no session', () => sign({ ...access, sid: '' })],
    ['are refresh tokens that are sent as access tokens', () => sign(refreshClaims)],
    ['have another token type', () => sign({ ...access, token_type: 'id_token' })],
    ['have another typ header', () => sign(access, { typ: 'code+jwt' })],
    ['are truncated', async () => (await sign(access)).slice(0, -1)],
    ['are longer than any token of Kapis', async () => `${await sign(access)}AAAA`],
    ['have 12 KB', () => sign({ ...access, pad: 'x'.repeat(9_000) }, {}, signKey(foreign()))],
  ]
  for (const [what, forge] of rows) {
    it(`are rejected when they ${what}`, async () => {
      const forged = await forge()
      for (const path of ['/oauth/userinfo', nodesPath]) {
        const response = await bearer(forged, path)
        expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
        expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
      }
    })
  }

  it('of 50 KB are rejected on every path, quickly', async () => {
    const huge = `${encode({ alg: 'ES256', kid: key.kid })}.${'x'.repeat(50_000)}.y`
    const startedAt = performance.now()
    expectStatus(await bearer(huge, nodesPath), statusBody(401, 'Unauthorized', 'Unauthorized'))
    expectStatus(
      await form('/oauth/userinfo', { access_token: huge }),
      statusBody(401, 'Unauthorized', 'Unauthorized'),
    )
    expect(parsed(await refresh(huge))).to.deep.equal([
      400,
      { error: 'invalid_grant', error_description: 'the refresh token is invalid or expired' },
    ])
    expect(parsed(await form('/oauth/introspect', { ...credentials, token: huge }))).to.deep.equal([
      200,
      { active: false },
    ])
    expect(parsed(await form('/oauth/revoke', { ...credentials, token: huge }))).to.deep.equal([200, ''])
    const hint = await sendToKapis('/oauth/logout', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams({ id_token_hint: huge })),
    })
    expect(parsed(hint)).to.deep.equal([
      400,
      {
        error: 'invalid_request',
        error_description: 'the parameter id_token_hint is not an ID token of this issuer',
      },
    ])
    expect(performance.now() - startedAt).to.be.below(10_000)
  })

  it('are not accepted as codes either, but the genuine code is', async () => {
    const { uid } = Object(await kubectlJson('get', `users.iam.${domain}`, user.username)).metadata
    const code = (changes: JWTPayload = {}): JWTPayload => ({
      iss: access.iss ?? '',
      aud: `${access.iss}#code`,
      iat: now(),
      exp: now() + 60,
      jti: randomUUID(),
      sub: user.username,
      uid,
      client_id: credentials.client_id,
      redirect: createHash('sha256').update('').digest('base64url'),
      scope: '',
      challenge: '',
      nonce: '',
      auth_time: now(),
      idp: '',
      bsid: randomUUID(),
      ...changes,
    })
    const typ = 'code+jwt'
    const exchange = (given: string) =>
      form('/oauth/token', { ...credentials, grant_type: 'authorization_code', code: given })
    expect((await exchange(await sign(code(), { typ }))).code).to.equal(200)
    const forged = [
      new UnsecuredJWT(code()).encode(),
      await sign(code(), { typ, alg: 'HS256' }, await publicPem()),
      await sign(code(), { typ }, signKey(foreign())),
      await sign(code(), { typ, kid: 'someone-elses' }),
      await sign(code(), { typ: 'at+jwt' }),
      await sign(code({ exp: now() - 60 }), { typ }),
      await sign(code({ nbf: now() + 600 }), { typ }),
      await sign(code({ aud: `${access.iss}#device` }), { typ }),
      await sign(code({ iss: 'https://evil.test/oauth' }), { typ }),
      (await sign(code(), { typ })).slice(0, -2),
      await sign(access),
      'x'.repeat(100_000),
    ]
    for (const each of forged)
      expect(parsed(await exchange(each))).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'the code is invalid or expired' },
      ])
  })

  it('are not accepted as refresh tokens either', async () => {
    const as = (claims: JWTPayload, header: object = {}) => sign(claims, { typ: 'JWT', ...header })
    const forged = [
      await as({ ...refreshClaims, exp: now() - 60 }),
      await as({ ...refreshClaims, iat: now() + 600 }),
      await as({ ...refreshClaims, aud: [domain] }),
      await as({ ...refreshClaims, iss: 'https://evil.test/oauth' }),
      await sign(refreshClaims, { typ: 'JWT' }, signKey(foreign())),
      await sign(refreshClaims, { typ: 'JWT', alg: 'HS256' }, await publicPem()),
      new UnsecuredJWT(refreshClaims).encode(),
      await sign(access),
    ]
    for (const each of forged)
      expect(parsed(await refresh(each))).to.deep.equal([
        400,
        { error: 'invalid_grant', error_description: 'the refresh token is invalid or expired' },
      ])
    // The forged tokens have not ended the login.
    expect((await refresh(await as(refreshClaims))).code).to.equal(200)
  })
})

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function signKey(key: ReturnType<typeof generateKeyPairSync>['privateKey']): CryptoKey {
  return key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
}
