import { expect } from 'chai'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { audience, issuer, memoryKeys } from './fixtures.ts'
import { createLogoutTokenSigner } from './logout-token.ts'
import { createTokenVerifier } from './verify.ts'

describe('createLogoutTokenSigner', () => {
  const subject = { username: 'alice', sid: 'sid-1', clientId: 'console' }

  for (const alg of ['ES256', 'RS256'] as const) {
    it(`signs a token that a client can validate, with ${alg}`, async () => {
      const keys = await memoryKeys()
      const before = Math.floor(Date.now() / 1000)
      const token = await createLogoutTokenSigner({ issuer, keys })(subject, alg)
      const { kid, publicKey } = keys.set.signer(alg, before)
      expect(decodeProtectedHeader(token)).to.deep.equal({ alg, kid, typ: 'logout+jwt' })
      const { payload } = await jwtVerify(token, publicKey, {
        issuer,
        audience: 'console',
        typ: 'logout+jwt',
      })
      const { iat = 0, exp, jti, ...rest } = payload
      expect(rest).to.deep.equal({
        iss: issuer,
        sub: 'alice',
        aud: 'console',
        sid: 'sid-1',
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      })
      expect(iat).to.be.within(before, before + 5)
      expect(exp).to.equal(iat + 120)
      expect(jti).to.match(/^[0-9a-f-]{36}$/)
    })
  }

  it('gives each token a unique jti', async () => {
    const sign = createLogoutTokenSigner({ issuer, keys: await memoryKeys() })
    expect(await sign(subject, 'ES256')).to.not.equal(await sign(subject, 'ES256'))
  })

  it('signs tokens that no endpoint accepts as another token', async () => {
    const keys = await memoryKeys()
    // Client names equal to the audience of access tokens or refresh tokens.
    for (const clientId of [audience, issuer]) {
      const token = await createLogoutTokenSigner({ issuer, keys })({ ...subject, clientId }, 'ES256')
      const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds: 10, keys })
      for (const verify of [verifier.verifyAccess, verifier.verifyIssued, verifier.verifyRefresh])
        expect(await verify(token).catch(error => error)).to.include({ code: 401 })
      expect(await verifier.readIdTokenHint(token)).to.equal(undefined)
    }
  })

  it('signs no token for a system user of Kubernetes', async () => {
    const sign = createLogoutTokenSigner({ issuer, keys: await memoryKeys() })
    const error = await sign({ ...subject, username: 'system:admin' }, 'ES256').catch(thrown => thrown)
    expect(error.message).to.equal('a token for system:admin must never be issued')
  })
})
