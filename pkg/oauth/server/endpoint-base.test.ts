import { expect } from 'chai'
import { endpointBase } from './endpoint-base.ts'

describe('endpointBase', () => {
  const rows = [
    ['https://k.test/oauth', 'https://k.test/oauth'],
    ['https://k.test', 'https://k.test/oauth'],
    ['https://k.test/a', 'https://k.test/a/oauth'],
  ] as const
  for (const [issuer, base] of rows)
    it(`is correct for ${issuer}`, () => expect(endpointBase(issuer)).to.equal(base))
})
