import { expect } from 'chai'
import { hasBody } from './has-body.ts'

describe('hasBody', () => {
  const cases: readonly (readonly [headers: Readonly<Record<string, string>>, has: boolean])[] = [
    [{}, false],
    [{ 'content-length': '0' }, false],
    [{ 'content-length': '1' }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
    [{ 'content-type': 'application/json' }, false],
  ]
  for (const [headers, has] of cases) {
    it(`returns ${has} for ${JSON.stringify(headers)}`, () => expect(hasBody({ headers })).to.equal(has))
  }
})
