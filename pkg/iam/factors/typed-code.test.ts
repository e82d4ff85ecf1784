import { expect } from 'chai'
import { readTypedCode } from './typed-code.ts'

describe('readTypedCode', () => {
  const cases: readonly [string, string][] = [
    ['123456', '123456'],
    [' 123 456\t', '123456'],
    ['123-456', '123456'],
    ['１２３４５６', '123456'],
    ['１２３　４５６', '123456'],
    ['abcd-efgh-jklm', 'ABCDEFGHJKLM'],
    ['ABCD\u2011EFGH\u2013JKLM', 'ABCDEFGHJKLM'],
    ['\u200bABCD\u00adEFGH\u00a0JKLM\ufeff', 'ABCDEFGHJKLM'],
    ['ＡＢＣＤ－ＥＦＧＨ', 'ABCDEFGH'],
    // Digits of other scripts stay, so the code is wrong.
    ['١٢٣٤٥٦', '١٢٣٤٥٦'],
    ['12345/6', '12345/6'],
    ['', ''],
  ]
  for (const [typed, code] of cases)
    it(`reads ${JSON.stringify(typed)} as ${JSON.stringify(code)}`, () =>
      expect(readTypedCode(typed)).to.equal(code))
})
