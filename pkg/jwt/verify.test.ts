import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { exportSPKI, importJWK } from 'jose'
import { rejectedStatus } from '../apierrors/fixtures.ts'
import { Status } from '../apierrors/status.ts'
import { audience, forge, issuer, memoryKeys } from './fixtures.ts'
import { createTokenIssuer } from './issue.ts'
import { generateKey } from './key-set.ts'
import { createTokenVerifier } from './verify.ts'

const alice = {
  username: 'alice',
  uid: 'u-1',
  groups: ['dev'],
  sid: 'sid-1',
  clientId: 'kapis',
  scope: 'openid',
}
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const keys = await memoryKeys()
const [es, rs] = keys.stored
if (es === undefined || rs === undefined) throw new Error('no keys')
const tokens = createTokenIssuer({ issuer, audience, keys })
const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds: 10, keys })

function decode(token: string): unknown[] {
  return token
    .split('.')
    .slice(0, 2)
    .map(part => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')))
}

describe('createTokenIssuer', () => {
  it('puts the claims of kube-apiserver and consoles into an access token', async () => {
    const { token, jti, expiresAt } = await tokens.access(alice, 7200)
    const [header, payload] = decode(token)
    expect(header).to.deep.equal({ alg: 'ES256', kid: es.kid, typ: 'at+jwt' })
    expect(payload).to.deep.equal({
      iss: issuer,
      sub: 'alice',
      username: 'alice',
      aud: [audience],
      exp: expiresAt,
      iat: expiresAt - 7200,
      jti,
      sid: 'sid-1',
      client_id: 'kapis',
      scope: 'openid',
      uid: 'u-1',
      groups: ['dev'],
      token_type: 'access_token',
    })
  })

  it('issues a refresh token with the issuer as its only audience', async () => {
    const { token, jti, expiresAt } = await tokens.refresh(alice, 14_400)
    const [header, payload] = decode(token)
    expect(header).to.deep.equal({ alg: 'ES256', kid: es.kid, typ: 'JWT' })
    expect(payload).to.deep.equal({
      iss: issuer,
      sub: 'alice',
      username: 'alice',
      aud: [issuer],
      exp: expiresAt,
      iat: expiresAt - 14_400,
      jti,
      sid: 'sid-1',
      client_id: 'kapis',
      scope: 'openid',
      token_type: 'refresh_token',
    })
  })

  it('gives every token a unique ID, unless it replaces another', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await tokens.refresh(alice, 60)).jti))
    expect(new Set(ids).size).to.equal(2)
    expect((await tokens.refresh(alice, 60, 'jti-7')).jti).to.equal('jti-7')
  })

  it('omits system: groups, and issues no token for system: users', async () => {
    const { token } = await tokens.access({ ...alice, groups: ['system:masters', 'dev'] }, 60)
    expect(decode(token)[1]).to.have.property('groups').that.deep.equals(['dev'])
    let message = ''
    await tokens.access({ ...alice, username: 'system:admin' }, 60).catch(error => {
      message = error.message
    })
    expect(message).to.equal('a token for system:admin must never be issued')
  })
})

describe('createTokenVerifier', () => {
  it('verifies an access token', async () => {
    const { token, jti, expiresAt } = await tokens.access(alice, 60)
    expect(await verifier.verifyAccess(token)).to.deep.equal({
      sub: 'alice',
      uid: 'u-1',
      sid: 'sid-1',
      jti,
      exp: expiresAt,
      iat: expiresAt - 60,
      clientId: 'kapis',
      scope: 'openid',
      aud: [audience],
    })
  })

  it('accepts a token without a uid from an earlier release', async () => {
    expect(await verifier.verifyAccess(await forge(es))).to.deep.include({ sub: 'alice', uid: '' })
    expect(await rejectedStatus(verifier.verifyAccess(await forge(es, { uid: 7 })))).to.include({ code: 401 })
  })

  it('gives a read-only or long-lived token an audience that kube-apiserver rejects', async () => {
    const { token } = await tokens.access({ ...alice, scope: 'read' }, 60)
    const aud = [`${audience}:live`]
    expect(await verifier.verifyAccess(token)).to.deep.include({ scope: 'read', aud })
    const long = await tokens.access({ ...alice, scope: 'full', isLive: true }, 60)
    expect(await verifier.verifyAccess(long.token)).to.deep.include({ scope: 'full', aud })
    const wide = verifier.verifyAccess(await forge(es, { scope: 'read' }))
    expect(await rejectedStatus(wide)).to.include({ code: 401 })
  })

  describe('readIdTokenHint', () => {
    const idToken = { aud: ['kapis'], token_type: 'id_token' }
    const read = async (changes: object, header: object = { typ: 'JWT' }) =>
      verifier.readIdTokenHint(await forge(es, { ...idToken, ...changes }, { ...header }))
    it('accepts an ID token, expired or not', async () => {
      const hint = { sub: 'alice', sid: 'sid-1', clientId: 'kapis' }
      expect(await read({})).to.deep.equal(hint)
      expect(await read({ exp: 1000, iat: 900 })).to.deep.equal(hint)
      expect(await read({ aud: 'kapis', token_type: undefined })).to.deep.equal(hint)
    })

    const wrong: readonly [string, object, object?][] = [
      ['an access token', { token_type: 'access_token' }, { typ: 'at+jwt' }],
      ['a refresh token', { token_type: 'refresh_token' }],
      ['an ID token of another issuer', { iss: 'https://evil/oauth' }],
      ['an ID token without a session', { sid: undefined }],
      ['an ID token without a client', { aud: undefined }],
      ['an ID token of another key', {}, { typ: 'JWT', kid: 'other' }],
    ]
    for (const [what, changes, header] of wrong) {
      it(`ignores ${what}`, async () => {
        expect(await read(changes, header)).to.equal(undefined)
      })
    }

    it('ignores an ID token that Kapis has not signed', async () => {
      const [, payload = ''] = (await forge(es, idToken, { typ: 'JWT' })).split('.')
      const hint = `${encode({ alg: 'HS256', typ: 'JWT', kid: es.kid })}.${payload}`
      const secret = JSON.stringify({ ...es.jwk, d: undefined })
      for (const token of [
        `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
        `${hint}.${createHmac('sha256', secret).update(hint).digest('base64url')}`,
        await forge(await generateKey('ES256', 0), idToken, { typ: 'JWT', kid: es.kid }),
        (await forge(es, idToken, { typ: 'JWT' })).slice(0, -4),
      ])
        expect(await verifier.readIdTokenHint(token)).to.equal(undefined)
    })

    it('ignores a text that is not a token', async () => {
      for (const token of ['', 'garbage', '.'.repeat(100_000)])
        expect(await verifier.readIdTokenHint(token)).to.equal(undefined)
    })
  })

  it('verifies a refresh token, and never confuses it with an access token', async () => {
    const access = await tokens.access(alice, 60)
    const refresh = await tokens.refresh(alice, 60)
    expect(await verifier.verifyRefresh(refresh.token)).to.include({ sub: 'alice', jti: refresh.jti })
    expect(await rejectedStatus(verifier.verifyAccess(refresh.token))).to.include({ code: 401 })
    expect(await rejectedStatus(verifier.verifyRefresh(access.token))).to.include({ code: 401 })
  })

  it('accepts RS256 with its key', async () => {
    expect(await verifier.verifyAccess(await forge(rs))).to.include({ sub: 'alice' })
  })

  const now = Math.floor(Date.now() / 1000)
  it('tolerates the clock skew for exp, nbf and iat', async () => {
    const moment = Math.floor(Date.now() / 1000)
    for (const changes of [{ exp: moment - 5 }, { nbf: moment + 8 }, { iat: moment + 8 }])
      expect(await verifier.verifyAccess(await forge(es, changes))).to.include({ sub: 'alice' })
  })

  it('throws 503 while the keys are not loaded', async () => {
    const none = createTokenVerifier({
      issuer,
      audience,
      clockSkewSeconds: 10,
      keys: {
        current() {
          throw new Status(503, 'ServiceUnavailable', 'not yet')
        },
      },
    })
    expect(await rejectedStatus(none.verifyAccess(await forge(es)))).to.include({ code: 503 })
  })

  const claims: readonly [string, Readonly<Record<string, unknown>>][] = [
    ['that is expired beyond the skew', { exp: now - 30 }],
    ['without exp', { exp: undefined }],
    ['with an exp that is a string', { exp: '9999999999' }],
    ['that is not valid yet', { nbf: now + 3_600 }],
    ['from the future', { iat: now + 3_600 }],
    ['without iat', { iat: undefined }],
    ['for another audience', { aud: ['other'] }],
    ['for the issuer only', { aud: [issuer] }],
    ['without an audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://evil/oauth' }],
    ['of an issuer with the same prefix', { iss: `${issuer}/` }],
    ['without sub', { sub: undefined }],
    ['with an empty sub', { sub: '' }],
    ['with a list as sub', { sub: ['alice'] }],
    ['of a system user', { sub: 'system:admin' }],
    ['without a session', { sid: undefined }],
    ['with a number as the session', { sid: 7 }],
    ['without a jti', { jti: undefined }],
    ['without a client', { client_id: undefined }],
    ['of another type', { token_type: 'id_token' }],
    ['without a type', { token_type: undefined }],
  ]
  for (const [what, changes] of claims) {
    it(`rejects a token ${what}`, async () => {
      const status = await rejectedStatus(verifier.verifyAccess(await forge(es, changes)))
      expect(status).to.include({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
    })
  }

  const hostile: readonly [string, () => Promise<string> | string][] = [
    ['nothing', () => ''],
    ['garbage', () => 'garbage'],
    ['three dots', () => '...'],
    ['a JWE of five parts', () => 'a.b.c.d.e'],
    ['a token of typ JWT', () => forge(es, {}, { typ: 'JWT' })],
    ['a token without typ', () => forge(es, {}, { typ: undefined })],
    ['a token without kid', () => forge(es, {}, { kid: undefined })],
    ['a token with an unknown kid', () => forge(es, {}, { kid: 'other' })],
    ['a token with the kid of another key', () => forge(es, {}, { kid: rs.kid })],
    ['a token with an unknown critical header', () => forge(es, {}, { crit: ['x'], x: 1 })],
    [
      'a token signed by an attacker’s key under our kid',
      async () => forge(await generateKey('ES256', 0), {}, { kid: es.kid }),
    ],
    [
      'a token that embeds its own key',
      async () => {
        const own = await generateKey('ES256', 0)
        return forge(own, {}, { jwk: { ...own.jwk, d: undefined }, jku: 'https://evil/keys' })
      },
    ],
    [
      'alg none',
      async () => {
        const [, payload] = (await forge(es)).split('.')
        return `${encode({ alg: 'none', typ: 'at+jwt', kid: es.kid })}.${payload}.`
      },
    ],
    [
      'HS256 keyed with our public key',
      async () => {
        const publicKey = await importJWK({ kty: 'RSA', n: rs.jwk.n ?? '', e: rs.jwk.e ?? '' }, 'RS256')
        if (publicKey instanceof Uint8Array) throw new Error('symmetric')
        const [, payload] = (await forge(rs)).split('.')
        const input = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: rs.kid })}.${payload}`
        return `${input}.${createHmac('sha256', await exportSPKI(publicKey))
          .update(input)
          .digest('base64url')}`
      },
    ],
    [
      'a signature of zeros (CVE-2022-21449)',
      async () => (await forge(es)).replace(/[^.]*$/, Buffer.alloc(64).toString('base64url')),
    ],
    ['a truncated token', async () => (await forge(es)).slice(0, -4)],
    ['a token without its signature', async () => (await forge(es)).replace(/[^.]*$/, '')],
    [
      'a token whose claims were replaced',
      async () => (await forge(es)).replace(/\.[^.]*\./, `.${encode({ sub: 'admin' })}.`),
    ],
    ['100 KB in a valid token', () => forge(es, { pad: 'x'.repeat(100_000) })],
    ['100 KB of dots', () => '.'.repeat(100_000)],
  ]
  for (const [what, make] of hostile) {
    it(`rejects ${what}`, async () => {
      expect(await rejectedStatus(verifier.verifyAccess(await make()))).to.include({ code: 401 })
    })
  }

  describe('isOurs', () => {
    it('decides by the issuer that the token claims, verified or not', async () => {
      expect(verifier.isOurs(await forge(es))).to.equal(true)
      expect(verifier.isOurs(await forge(await generateKey('ES256', 0)))).to.equal(true)
      expect(verifier.isOurs(await forge(es, { iss: 'https://kubernetes.default.svc' }))).to.equal(false)
    })

    const foreign = [
      '',
      'opaque',
      '..',
      'a.b.c',
      `a.${encode(null)}.c`,
      `a.${encode([issuer])}.c`,
      `a.${encode({ iss: [issuer] })}.c`,
      `a.${encode({ iss: issuer })}`,
      `a.${encode({ iss: issuer })}.c.d`,
      `a.${encode({ iss: issuer, pad: 'x'.repeat(100_000) })}.c`,
    ]
    for (const token of foreign) {
      it(`returns false for ${token.slice(0, 40) || 'an empty text'}`, () => {
        expect(verifier.isOurs(token)).to.equal(false)
      })
    }
  })
})
