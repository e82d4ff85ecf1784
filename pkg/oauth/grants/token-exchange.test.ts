import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { CompactSign, exportJWK, generateKeyPair } from 'jose'
import { audience, issuer } from '../../jwt/fixtures.ts'
import { memoryUser } from '../memory-fixtures.ts'
import { grant, type, useExchange } from './exchange-fixtures.ts'

describe('token exchange', () => {
  const setup = useExchange()
  const { exchange, ciToken } = setup

  it('returns to a workload of another issuer a short-lived token for the user of the policy', async () => {
    const { code, body } = await exchange(await ciToken())
    const { access_token: token, ...rest } = body
    expect([code, rest]).to.deep.equal([
      200,
      { issued_token_type: type('access_token'), token_type: 'Bearer', expires_in: 300 },
    ])
    const { sub, uid, scope, aud, sid } = await setup.app.tools.verifier.verifyAccess(token)
    // The audience is only accepted where each request checks the session.
    expect([sub, uid, scope, aud]).to.deep.equal(['robot', 'uid-robot', '', [`${audience}:live`]])
    const session = setup.app.sessions.get(sid)
    expect(session).to.include({ type: 'TokenExchange', displayName: 'deploy', parent: '' })
    const line = setup.app.lines.findLast(({ audit }) => audit === 'token')
    expect(line).to.include({
      policy: 'deploy',
      subject: 'repo:acme/shop',
      user: 'robot',
      outcome: 'success',
    })
  })

  it('returns a token to a service account of the cluster', async () => {
    const token = await setup.app.workloads.sign({ iss: 'https://kubernetes.default.svc' })
    setup.app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:runner')
    expect((await exchange(token)).code).to.equal(200)
    setup.app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:other')
    expect(await exchange(token)).to.deep.equal({
      code: 400,
      body: {
        error: 'invalid_request',
        error_description: 'no policy accepts the subject token of system:serviceaccount:ci:other',
      },
    })
    setup.app.workloads.serviceAccounts.clear()
    expect((await exchange(token)).body.error_description).to.equal(
      'kube-apiserver rejected the subject token',
    )
  })

  it('returns a narrowed token of a user, which ends with the session', async () => {
    const { access_token: own } = await setup.app.login('alice')
    const given = { subject_token_type: type('access_token'), scope: 'read' }
    const { code, body } = await exchange(own, given)
    expect([code, body.scope]).to.deep.equal([200, undefined])
    const claims = await setup.app.tools.verifier.verifyAccess(body.access_token)
    expect([claims.sub, claims.scope]).to.deep.equal(['alice', 'read'])
    const parent = (await setup.app.tools.verifier.verifyAccess(own)).sid
    expect(setup.app.sessions.get(claims.sid)).to.include({ parent, credential: 'c1' })
    expect((await exchange(body.access_token, given)).body.error_description).to.equal(
      'an exchanged token cannot be exchanged again',
    )
    await setup.app.form('/oauth/revoke', { token: own, client_id: 'kapis', client_secret: 'kapis' })
    expect((await exchange(own, given)).body.error_description).to.equal(
      'the subject token is invalid, expired or revoked',
    )
  })

  it('rejects a token of a session without the second factor that the policy requires', async () => {
    const { access_token: own } = await setup.app.login('alice')
    const { sid } = await setup.app.tools.verifier.verifyAccess(own)
    const session = setup.app.sessions.get(sid)
    if (session === undefined) throw new Error('no session')
    setup.app.requiredGroups.push('dev')
    try {
      expect(await exchange(own)).to.deep.equal({
        code: 400,
        body: { error: 'invalid_grant', error_description: 'this user needs a second factor: log in again' },
      })
      for (const changes of [{ amr: 'pwd otp mfa' }, { type: 'PersonalAccessToken', amr: '' }] as const) {
        setup.app.sessions.set(sid, { ...session, ...changes })
        expect((await exchange(own)).code).to.equal(200)
      }
    } finally {
      setup.app.requiredGroups.pop()
    }
  })

  it('returns a token for another audience, which Kapis rejects', async () => {
    const { access_token: own } = await setup.app.login('alice')
    const { body } = await exchange(own, { audience: 'https://wiki.example.org' })
    const [, payload = ''] = body.access_token.split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).aud).to.deep.equal([
      'https://wiki.example.org',
    ])
    expect(
      await setup.app.tools.verifier.verifyAccess(body.access_token).catch(error => error.code),
    ).to.equal(401)
  })

  it('names the requested type of the token in the response', async () => {
    const { body } = await exchange(await ciToken(), { requested_token_type: type('jwt') })
    expect(body.issued_token_type).to.equal(type('jwt'))
  })

  it('accepts access tokens with their typ (RFC 9068)', async () => {
    for (const typ of ['at+jwt', 'application/at+jwt', 'JWT'])
      expect((await exchange(await ciToken({}, { typ }))).code, typ).to.equal(200)
  })

  it('returns no token that outlives the subject token', async () => {
    const soon = Math.floor(Date.now() / 1000) + 60
    const { body } = await exchange(await ciToken({ exp: soon }))
    expect(body.expires_in).to.be.within(50, 60)
  })

  it('returns whole seconds for an exp with a fraction', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60.75
    expect((await exchange(await ciToken({ exp }))).body.expires_in)
      .to.be.within(50, 60)
      .and.satisfy(Number.isInteger)
  })

  it('rejects headers that choose the key or the algorithm (RFC 8725)', async () => {
    const [, payload = '', signature = ''] = (await ciToken()).split('.')
    const [jwk] = setup.app.workloads.jwks.keys
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const hmac = (header: object) =>
      createHmac('sha256', JSON.stringify(jwk))
        .update(`${encode(header)}.${payload}`)
        .digest('base64url')
    const hs256 = { alg: 'HS256', kid: '../../dev/null' }
    for (const [header, sign] of [
      [{ alg: 'none' }, ''],
      [{ alg: 'None', jwk }, ''],
      [hs256, hmac(hs256)],
      [{ alg: 'RS256', jwk, jku: 'https://evil.example.org', x5u: 'https://evil.example.org' }, signature],
      [{ alg: 'RS256', crit: ['b64'], b64: false }, signature],
      [{ alg: 'RS256', crit: ['exp'] }, signature],
      [{ alg: 'RS256', crit: [] }, signature],
      [{ alg: 'ES256' }, signature],
    ] as const) {
      const { code, body } = await exchange(`${encode(header)}.${payload}.${sign}`)
      expect([code, body.error], JSON.stringify(header)).to.deep.equal([400, 'invalid_request'])
      expect(body.error_description).to.match(/^the subject token is invalid: /)
    }
  })

  it('rejects the signature of a key that the token itself contains', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const [, payload = ''] = (await ciToken()).split('.')
    for (const header of [
      { jwk },
      { jwk, kid: 'x' },
      { x5c: ['MIIB'] },
      { jku: 'https://evil.example.org' },
    ]) {
      const token = await new CompactSign(Buffer.from(payload, 'base64url'))
        .setProtectedHeader({ alg: 'ES256', ...header })
        .sign(privateKey)
      const { code, body } = await exchange(token)
      expect([code, body.error_description]).to.deep.equal([
        400,
        'the subject token is invalid: no applicable key found in the JSON Web Key Set',
      ])
    }
  })

  const now = Math.floor(Date.now() / 1000)
  const claimsText = (more: string) =>
    `{"iss":"https://ci.example.org","sub":"repo:acme/shop","aud":"${issuer}","repository":"acme/shop",${more}}`
  const oddTexts: readonly (readonly [text: string, description: string])[] = [
    [claimsText(`"exp":"${now + 3600}"`), "the subject token is invalid: 'exp' claim must be a number"],
    [claimsText(`"exp":[${now + 3600}]`), "the subject token is invalid: 'exp' claim must be a number"],
    [claimsText('"exp":null'), "the subject token is invalid: 'exp' claim must be a number"],
    [claimsText('"exp":-1e999'), "the subject token is invalid: 'exp' claim timestamp check failed"],
    [
      claimsText(`"exp":${now + 7200},"nbf":${now + 3600}`),
      "the subject token is invalid: 'nbf' claim timestamp check failed",
    ],
    [
      claimsText(`"exp":${now + 3600},"nbf":"${now}"`),
      "the subject token is invalid: 'nbf' claim must be a number",
    ],
    [
      claimsText(`"exp":${now + 3600},"iat":"${now}"`),
      "the subject token is invalid: 'iat' claim must be a number",
    ],
    [
      claimsText(`"exp":${now + 3600},"sub":["repo:acme/shop"]`),
      'the subject token is invalid: invalid claim sub or exp',
    ],
    // JSON.parse returns the last of duplicate fields, for the issuer as well as its verification.
    [
      claimsText(`"exp":${now + 3600},"aud":"other"`),
      "the subject token is invalid: unexpected 'aud' claim value",
    ],
    [
      claimsText(`"exp":${now + 3600},"repository":"acme/other"`),
      'no policy accepts the subject token of repo:acme/shop',
    ],
    [
      claimsText(`"exp":${now + 3600},"iss":"https://ci.example.org/"`),
      'kube-apiserver rejected the subject token',
    ],
    ['"a JWT in a JWT"', 'no policy of token exchange accepts the issuer of the subject token'],
    ['[]', 'no policy of token exchange accepts the issuer of the subject token'],
  ]
  for (const [text, description] of oddTexts) {
    it(`rejects ${text}`, async () => {
      const { code, body } = await exchange(await setup.app.workloads.signText(text))
      expect([code, body.error_description]).to.deep.equal([400, description])
    })
  }

  it('returns a token with the lifetime of the policy for a subject token without an expiry', async () => {
    const text = claimsText('"exp":1e999')
    expect((await exchange(await setup.app.workloads.signText(text))).body.expires_in).to.equal(300)
  })

  const refused: readonly (readonly [string, () => Promise<string>, Record<string, string>, string])[] = [
    [
      'a wrong claim',
      () => ciToken({ repository: 'acme/other' }),
      {},
      'no policy accepts the subject token of repo:acme/shop',
    ],
    [
      'a claim of another type',
      () => ciToken({ repository: ['acme/shop'] }),
      {},
      'no policy accepts the subject token of repo:acme/shop',
    ],
    [
      'another audience',
      () => ciToken({ aud: 'https://other.example.org' }),
      {},
      "the subject token is invalid: unexpected 'aud' claim value",
    ],
    [
      'a missing subject',
      () => ciToken({ sub: undefined }),
      {},
      "the subject token is invalid: missing required 'sub' claim",
    ],
    [
      'an expired token',
      () => ciToken({ exp: 1 }),
      {},
      "the subject token is invalid: 'exp' claim timestamp check failed",
    ],
    [
      'a token without exp',
      () => ciToken({ exp: undefined }),
      {},
      "the subject token is invalid: missing required 'exp' claim",
    ],
    [
      'an iat in the future',
      () => ciToken({ iat: Math.floor(Date.now() / 1000) + 3_600 }),
      {},
      'the subject token is invalid: invalid claim iat: it is in the future',
    ],
    [
      'a token of an actor (RFC 8693 section 4.1)',
      () => ciToken({ act: { sub: 'robot', act: { sub: 'another' } } }),
      {},
      'the subject token has the claim act: actors are not supported',
    ],
    [
      'a token that only an actor may use (RFC 8693 section 4.4)',
      () => ciToken({ may_act: { sub: 'robot' } }),
      {},
      'the subject token has the claim may_act: actors are not supported',
    ],
    [
      'a token of 40 KB',
      () => ciToken({ padding: 'x'.repeat(30_000) }),
      {},
      'no policy of token exchange accepts the issuer of the subject token',
    ],
    [
      'a list of audiences without its own',
      () => ciToken({ aud: ['https://a.example.org', [issuer]] }),
      {},
      "the subject token is invalid: unexpected 'aud' claim value",
    ],
    [
      'a token for another purpose',
      () => ciToken({}, { typ: 'logout+jwt' }),
      {},
      'the subject token is invalid: the typ of the token is for another purpose',
    ],
    [
      'an unknown issuer',
      () => ciToken({ iss: 'https://evil.example.org' }),
      {},
      'kube-apiserver rejected the subject token',
    ],
    ['no JWT', async () => 'x', {}, 'no policy of token exchange accepts the issuer of the subject token'],
    [
      'an invalid signature',
      async () => `${(await ciToken()).slice(0, -8)}AAAAAAAA`,
      {},
      'the subject token is invalid: signature verification failed',
    ],
    ['an actor token', ciToken, { actor_token: 'x' }, 'the parameter actor_token is not supported'],
    [
      'SAML',
      ciToken,
      { subject_token_type: type('saml2') },
      `invalid parameter subject_token_type; supported: ${['access_token', 'jwt', 'id_token'].map(type).join(', ')}`,
    ],
    [
      'a refresh token',
      ciToken,
      { requested_token_type: type('refresh_token') },
      `invalid parameter requested_token_type; supported: ${['access_token', 'jwt'].map(type).join(', ')}`,
    ],
    [
      'an audience that the policy does not name',
      ciToken,
      { audience: 'https://wiki.example.org' },
      `invalid audience; supported: ${audience}`,
    ],
    [
      'two audiences',
      ciToken,
      { audience, resource: 'https://wiki.example.org' },
      `invalid audience; supported: ${audience}`,
    ],
  ]
  for (const [what, token, more, description] of refused) {
    it(`rejects ${what}`, async () => {
      const { code, body } = await exchange(await token(), more)
      const error = description.startsWith('invalid audience') ? 'invalid_target' : 'invalid_request'
      expect([code, body]).to.deep.equal([400, { error, error_description: description }])
    })
  }

  it('rejects several audiences as a target, not as a syntax error (RFC 8693 section 2.2.2)', async () => {
    const { body } = await exchange(await ciToken(), { audience })
    expect(body).to.include({ token_type: 'Bearer' })
    const fields = { subject_token: await ciToken(), subject_token_type: type('jwt'), client_id: 'ci' }
    const form = `${new URLSearchParams({ grant_type: grant, ...fields })}&audience=${audience}&audience=wiki`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await setup.app.send('POST', '/oauth/token', { headers, body: form })
    expect([response.code, JSON.parse(response.body)]).to.deep.equal([
      400,
      { error: 'invalid_target', error_description: `invalid audience; supported: ${audience}` },
    ])
  })

  it('reports that the keys of the issuer cannot be fetched', async () => {
    setup.app.workloads.state.isDown = true
    const { code, body } = await exchange(await ciToken())
    expect([code, body.error]).to.deep.equal([503, 'temporarily_unavailable'])
  })

  it('is available only to the clients of a policy', async () => {
    setup.app.workloads.policies.length = 0
    expect(await exchange(await ciToken())).to.deep.equal({
      code: 400,
      body: {
        error: 'unauthorized_client',
        error_description: 'no policy of token exchange allows this client',
      },
    })
  })

  it('returns no token for a user who is disabled, unknown, or must change the password', async () => {
    setup.app.users.set('robot', memoryUser('robot', { state: 'Disabled' }))
    expect((await exchange(await ciToken())).body.error_description).to.equal('account is not active')
    setup.app.users.delete('robot')
    expect((await exchange(await ciToken())).body.error_description).to.equal(
      'the user of the policy does not exist',
    )
    setup.app.users.set('new', memoryUser('new', { mustChangePassword: true }))
    const { access_token: own } = await setup.app.login('new')
    expect((await exchange(own)).body.error).to.equal('invalid_grant')
  })
})
