import { expect } from 'chai'
import { hasFactors, noFactors, parseFactors } from './factors.ts'

const totp = { secret: 'GEZDGNBVGY3TQOJQ', lastStep: 1 }
const passkey = {
  ...{ id: 'AQ', publicKey: 'pQ', counter: 3, transports: ['usb'], userHandle: 'dQ', name: 'key' },
  ...{ createdAtMs: 1, lastUsedAtMs: 2 },
}

describe('parseFactors', () => {
  it('parses what it has serialized', () => {
    const factors = {
      totp,
      passkeys: [passkey],
      usedChallenges: [{ challenge: 'c', atMs: 1 }],
      recoveryCodes: [{ selector: 'AB', hash: '$2b$' }],
    }
    expect(parseFactors(JSON.stringify(factors))).to.deep.equal(factors)
    expect(parseFactors(JSON.stringify(noFactors))).to.deep.equal(noFactors)
    expect([
      hasFactors(factors),
      hasFactors({ ...factors, totp: undefined }),
      hasFactors({ ...factors, passkeys: [] }),
      hasFactors({ ...factors, totp: undefined, passkeys: [] }),
    ]).to.deep.equal([true, true, true, false])
  })

  // Invalid content must not mean that the user has no factor.
  for (const text of [
    ...['', 'undefined', 'null', '[]', '{}', '{"totp":null,"recoveryCodes":[]}', '{"recoveryCodes":{}}'],
    ...['{"totp":{"secret":"A"},"recoveryCodes":[]}', '{"recoveryCodes":[{"selector":"AB"}]}'],
    ...['{"passkeys":null,"recoveryCodes":[]}', '{"passkeys":[{"id":"AQ"}],"recoveryCodes":[]}'],
    JSON.stringify({ ...noFactors, passkeys: [{ ...passkey, counter: '3' }] }),
    JSON.stringify({ ...noFactors, passkeys: [{ ...passkey, transports: [1] }] }),
    JSON.stringify({ ...noFactors, usedChallenges: ['c'] }),
  ])
    it(`throws for ${text}`, () => {
      expect(() => parseFactors(text)).to.throw()
    })
})
