import { expect } from 'chai'
import { decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { generateKey, loadKeySet } from './key-set.ts'
import { signJwt } from './sign.ts'

describe('signJwt', () => {
  const claims: JWTPayload = {
    iss: 'https://kapis.example/oauth',
    sub: 'zoë',
    aud: ['kapis'],
    iat: 1_000,
    exp: 2_000,
    groups: ['a', 'b'],
  }

  for (const alg of ['ES256', 'RS256'] as const) {
    it(`creates tokens that any JWT library accepts, with ${alg}`, async () => {
      const set = await loadKeySet([await generateKey(alg, 0)])
      const signer = set.signer(alg, 1)
      const token = await signJwt('at+jwt', claims, signer)
      expect(decodeProtectedHeader(token)).to.deep.equal({ alg, kid: signer.kid, typ: 'at+jwt' })
      const options = { algorithms: [alg], currentDate: new Date(1_500_000) }
      const { payload } = await jwtVerify(token, signer.publicKey, options)
      expect(payload).to.deep.equal(claims)
      const other = (await loadKeySet([await generateKey(alg, 0)])).signer(alg, 1)
      const error = await jwtVerify(token, other.publicKey, options).catch(thrown => thrown)
      expect(error).to.include({ code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' })
    })
  }

  it('omits undefined claims', async () => {
    const signer = (await loadKeySet([await generateKey('ES256', 0)])).signer('ES256', 1)
    const token = await signJwt('JWT', { sub: 'a', nonce: undefined }, signer)
    const { payload } = await jwtVerify(token, signer.publicKey)
    expect(payload).to.deep.equal({ sub: 'a' })
  })
})
