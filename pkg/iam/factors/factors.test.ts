import { expect } from 'chai'
import { hasFactors, noFactors, parseFactors } from './factors.ts'

const totp = { secret: 'GEZDGNBVGY3TQOJQ', lastStep: 1 }

describe('parseFactors', () => {
  it('reads what is written', () => {
    const factors = { totp, recoveryCodes: [{ selector: 'AB', hash: '$2b$' }] }
    expect(parseFactors(JSON.stringify(factors))).to.deep.equal(factors)
    expect(parseFactors(JSON.stringify(noFactors))).to.deep.equal(noFactors)
    expect([hasFactors(factors), hasFactors({ ...factors, totp: undefined })]).to.deep.equal([true, false])
  })

  // Invalid content must not mean that the user has no factor.
  for (const text of [
    ...['', 'undefined', 'null', '[]', '{}', '{"totp":null,"recoveryCodes":[]}', '{"recoveryCodes":{}}'],
    ...['{"totp":{"secret":"A"},"recoveryCodes":[]}', '{"recoveryCodes":[{"selector":"AB"}]}'],
  ])
    it(`throws for ${text}`, () => {
      expect(() => parseFactors(text)).to.throw()
    })
})
