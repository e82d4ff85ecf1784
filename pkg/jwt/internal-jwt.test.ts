import { expect } from 'chai'
import { SignJWT, UnsecuredJWT } from 'jose'
import { audience, forge, issuer, memoryKeys } from './fixtures.ts'
import { createInternalJwts, type InternalJwts } from './internal-jwt.ts'
import { createTokenIssuer } from './issue.ts'
import { generateKey } from './key-set.ts'

describe('createInternalJwts', () => {
  let keys: Awaited<ReturnType<typeof memoryKeys>>
  let internalJwts: InternalJwts
  before(async () => {
    keys = await memoryKeys()
    internalJwts = createInternalJwts({ issuer, keys })
  })

  it('verifies what it has signed', async () => {
    const token = await internalJwts.sign('code', { sub: 'alice', uid: 'u1' }, { lifeSeconds: 60, jti: 'j1' })
    const { iat = 0, exp, ...rest } = (await internalJwts.verify('code', token)) ?? {}
    expect(rest).to.deep.equal({ iss: issuer, aud: `${issuer}#code`, sub: 'alice', uid: 'u1', jti: 'j1' })
    expect(exp).to.equal(iat + 60)
  })

  it('distinguishes kinds of tokens', async () => {
    const token = await internalJwts.sign('code', { sub: 'alice' }, { lifeSeconds: 60 })
    for (const kind of ['browser', 'device', 'login-progress'] as const)
      expect(await internalJwts.verify(kind, token), kind).to.equal(undefined)
  })

  it('rejects everything else', async () => {
    const [es256 = raise(), rs256 = raise()] = keys.stored
    const tokens = createTokenIssuer({ issuer, audience, keys })
    const subject = { username: 'alice', uid: 'uid-alice', groups: [], sid: 's', clientId: 'c', scope: '' }
    const good = await internalJwts.sign('code', { sub: 'alice' }, { lifeSeconds: 60 })
    const code = { aud: `${issuer}#code` }
    const refused = {
      'an access token': (await tokens.access(subject, 60)).token,
      'a refresh token': (await tokens.refresh(subject, 60)).token,
      expired: await internalJwts.sign('code', {}, { lifeSeconds: -1 }),
      'another algorithm': await forge(rs256, code, { typ: 'code+jwt' }),
      'another issuer': await forge(es256, { ...code, iss: 'https://evil' }, { typ: 'code+jwt' }),
      'an unknown key': await forge(es256, code, { typ: 'code+jwt', kid: 'x' }),
      'no signature (alg none)': new UnsecuredJWT({ ...code, iss: issuer, sub: 'alice' })
        .setExpirationTime('1m')
        .encode(),
      'our public key as a secret (HS256)': await new SignJWT({
        ...code,
        iss: issuer,
        sub: 'alice',
        jti: 'j',
      })
        .setProtectedHeader({ alg: 'HS256', kid: es256.kid, typ: 'code+jwt' })
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(Buffer.from(JSON.stringify({ ...es256.jwk, d: undefined }))),
      'a key of someone else under our kid': await forge(await generateKey('ES256', 0), code, {
        typ: 'code+jwt',
        kid: es256.kid,
      }),
      'not good yet': await forge(
        es256,
        { ...code, nbf: Math.floor(Date.now() / 1000) + 600 },
        { typ: 'code+jwt' },
      ),
      'cut short': good.slice(0, -2),
      'no token': 'x',
      empty: '',
      huge: 'x'.repeat(100_000),
    }
    for (const [what, token] of Object.entries(refused))
      expect(await internalJwts.verify('code', token), what).to.equal(undefined)
  })
})

function raise(): never {
  throw new Error('no key')
}
