import { expect } from 'chai'
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { createIdTokenVerifier, type IdTokenVerifierOptions, InvalidIdToken } from './provider-id-token.ts'

const issuer = 'https://id.test'
const clientId = 'kapis'
const nonce = 'n-1'

type Claims = Readonly<Record<string, unknown>>

describe('an ID token of an OpenID provider (OpenID Connect Core 3.1.3.7)', () => {
  let published: Claims[]
  let keys: Readonly<
    Record<'RS256' | 'ES256', { readonly sign: (header: object, claims: Claims) => Promise<string> }>
  >

  before(async () => {
    published = []
    const make = async (alg: 'RS256' | 'ES256') => {
      const { publicKey, privateKey } = await generateKeyPair(alg)
      published.push({ ...(await exportJWK(publicKey)), kid: alg, use: 'sig' })
      return {
        sign: (header: object, claims: Claims) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg, kid: alg, ...header })
            .sign(privateKey, { crit: { x: true } }),
      }
    }
    keys = { RS256: await make('RS256'), ES256: await make('ES256') }
  })

  const now = () => Math.floor(Date.now() / 1000)
  const good = (): Claims => ({ iss: issuer, sub: 'u1', aud: clientId, iat: now(), exp: now() + 60, nonce })

  function verify(token: string, changes: Partial<IdTokenVerifierOptions> = {}) {
    const verifier = createIdTokenVerifier({
      issuer,
      clientId,
      jwksUri: `${issuer}/keys`,
      algorithms: undefined,
      clockToleranceSeconds: 10,
      timeoutMs: 1_000,
      fetch: async () => Response.json({ keys: published }),
      ...changes,
    })
    return verifier(token, nonce)
  }

  const verifyClaims = async (changes: Claims) => verify(await keys.RS256.sign({}, { ...good(), ...changes }))

  const believed: readonly (readonly [string, () => Claims])[] = [
    ['only its own claims', () => ({})],
    ['a list of one audience', () => ({ aud: [clientId] })],
    ['several audiences, issued to this client', () => ({ aud: ['x', clientId], azp: clientId })],
    ['one audience, issued to this client', () => ({ azp: clientId })],
    ['an exp within the clock skew', () => ({ exp: now() - 5 })],
    ['an nbf within the clock skew', () => ({ iat: now() + 5, nbf: now() + 5 })],
    ['a subject of 255 characters', () => ({ sub: 'é'.repeat(255) })],
    ['an acr, which was not requested', () => ({ acr: '0' })],
    ['an auth_time, for which max_age was not sent', () => ({ auth_time: 1 })],
    ['an auth_time that is a string (AD FS)', () => ({ auth_time: '2026-11-26T15:00:00.000Z' })],
  ]
  for (const [what, changes] of believed) {
    it(`is accepted with ${what}`, async () => {
      const claims = { ...good(), ...changes() }
      expect(await verify(await keys.RS256.sign({}, claims))).to.deep.equal(claims)
    })
  }

  const refused: readonly (readonly [string, () => Claims, RegExp])[] = [
    ['another issuer', () => ({ iss: `${issuer}/` }), /claim iss .*expected "https:\/\/id\.test", got/],
    ['no issuer', () => ({ iss: undefined }), /claim iss .*got none/],
    ['another audience', () => ({ aud: 'x' }), /claim aud .*expected "kapis", got "x"/],
    ['an audience in another letter case', () => ({ aud: 'Kapis' }), /claim aud .*got "Kapis"/],
    ['a list without this client', () => ({ aud: ['x', 'y'] }), /claim aud .*got \["x","y"\]/],
    ['no audience', () => ({ aud: undefined }), /claim aud .*got none/],
    ['several audiences and no azp', () => ({ aud: [clientId, 'x'] }), /claim azp .*got none/],
    [
      'several audiences, issued to another client',
      () => ({ aud: [clientId, 'x'], azp: 'x' }),
      /claim azp .*got "x"/,
    ],
    ['one audience, issued to another client', () => ({ azp: 'x' }), /claim azp .*expected "kapis", got "x"/],
    ['an azp that is a list', () => ({ azp: [clientId] }), /claim azp .*got \["kapis"\]/],
    ['an exp in the past', () => ({ exp: now() - 60 }), /claim exp .*the time is \d+, got \d+/],
    ['a missing exp', () => ({ exp: undefined }), /claim exp .*got none/],
    ['an exp that is a string', () => ({ exp: '9999999999' }), /claim exp .*got "9{10}"/],
    ['an iat in the future', () => ({ iat: now() + 60 }), /claim iat .*the time is \d+, got \d+/],
    ['a missing iat', () => ({ iat: undefined }), /claim iat .*got none/],
    ['an iat that is a string', () => ({ iat: '1' }), /claim iat .*got "1"/],
    ['an nbf in the future', () => ({ nbf: now() + 60 }), /claim nbf .*got \d+/],
    ['another nonce', () => ({ nonce: 'n-2' }), /claim nonce .*expected "n-1", got "n-2"/],
    ['a list of nonces', () => ({ nonce: [nonce] }), /claim nonce .*got \["n-1"\]/],
    ['no nonce', () => ({ nonce: undefined }), /claim nonce .*got none/],
    ['no subject', () => ({ sub: undefined }), /claim sub .*got none/],
    ['an empty subject', () => ({ sub: '' }), /claim sub .*got ""/],
    [
      'a subject of 300 characters',
      () => ({ sub: 'x'.repeat(300) }),
      /claim sub .*expected "1 to 255 characters", got "x{255}$/,
    ],
    ['a subject with a line break', () => ({ sub: 'a\nb' }), /claim sub .*got "a\\nb"/],
    ['a subject that is not well-formed', () => ({ sub: 'a\ud800' }), /claim sub .*got "a\\ud800"/],
    ['a subject that is a list', () => ({ sub: ['u1'] }), /claim sub .*got \["u1"\]/],
    ['an audience that is a number', () => ({ aud: 7 }), /claim aud .*got 7/],
    [
      'an audience list with other types',
      () => ({ aud: [{ kapis: 1 }, null] }),
      /claim aud .*got \[\{"kapis":1\},null\]/,
    ],
    ['the right audience in a nested list', () => ({ aud: [[clientId]] }), /claim aud .*got \[\["kapis"\]\]/],
    ['a list of issuers', () => ({ iss: [issuer] }), /claim iss .*got \["https:\/\/id\.test"\]/],
    ['a subject that is a number', () => ({ sub: 1 }), /claim sub .*got 1/],
  ]
  for (const [what, changes, why] of refused) {
    it(`is rejected with ${what}`, async () => {
      await rejected(verifyClaims(changes()), why)
    })
  }

  it('is verified with the algorithms of the metadata, or else RS256', async () => {
    const es256 = await keys.ES256.sign({}, good())
    const rs256 = await keys.RS256.sign({}, good())
    expect(await verify(es256, { algorithms: ['ES256'] })).to.include({ sub: 'u1' })
    await rejected(verify(es256), /alg "ES256"/)
    await rejected(verify(rs256, { algorithms: ['ES256'] }), /alg "RS256"/)
    await rejected(verify(rs256, { algorithms: [] }), /alg "RS256"/)
  })

  it('is rejected with a shared-secret signature, even if the metadata lists it', async () => {
    const key = await importJWK({ kty: 'oct', k: Buffer.alloc(32).toString('base64url') }, 'HS256')
    const token = await new SignJWT(good()).setProtectedHeader({ alg: 'HS256', kid: 'RS256' }).sign(key)
    await rejected(verify(token, { algorithms: ['HS256'] }), /alg "HS256"/)
  })

  it('is verified with a key that the provider publishes', async () => {
    const token = await keys.RS256.sign({}, good())
    const [head, , signature] = token.split('.')
    const body = Buffer.from(JSON.stringify({ ...good(), sub: 'u2' })).toString('base64url')
    await rejected(verify(`${head}.${body}.${signature}`), /signature/)
    await rejected(verify(await keys.RS256.sign({ kid: 'other' }, good())), /key.*kid "other"/)
    await rejected(verify(await keys.RS256.sign({ x: 1, crit: ['x'] }, good())), /"x"/)
    await rejected(verify('garbage'), /Compact JWS/)
  })

  it('causes 503 while the keys cannot be fetched', async () => {
    const token = await keys.RS256.sign({}, good())
    const error = await verify(token, { fetch: async () => new Response('', { status: 500 }) }).catch(e => e)
    expect(error).to.be.an('error').and.not.instanceOf(InvalidIdToken)
  })
})

async function rejected(work: Promise<unknown>, why: RegExp): Promise<void> {
  const error = await work.then(
    () => new Error('it was believed'),
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(InvalidIdToken).with.property('message').which.matches(why)
}
