import { expect } from 'chai'
import { isBasic, readBasic } from './basic-credential.ts'

const encode = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

describe('readBasic', () => {
  const good: readonly [string, string, string, string][] = [
    ['user and password', `Basic ${encode('alice:p')}`, 'alice', 'p'],
    ['the scheme in any letter case', `bAsIc ${encode('alice:p')}`, 'alice', 'p'],
    ['several spaces', `Basic   ${encode('alice:p')}  `, 'alice', 'p'],
    ['colons in the password', `Basic ${encode('alice:p:1:')}`, 'alice', 'p:1:'],
    ['an empty password', `Basic ${encode('alice:')}`, 'alice', ''],
    ['an empty user', `Basic ${encode(':p')}`, '', 'p'],
    ['UTF-8', `Basic ${encode('zoë:pässwörd€')}`, 'zoë', 'pässwörd€'],
    ['a byte order mark, which belongs to the user', `Basic ${encode('\ufeffa:b')}`, '\ufeffa', 'b'],
    ['base64 without padding', `Basic ${encode('ab:c').replace(/=+$/, '')}`, 'ab', 'c'],
  ]
  for (const [what, header, id, secret] of good) {
    it(`reads ${what}`, () => expect(readBasic(header)).to.deep.equal({ id, secret }))
  }

  const bad: readonly [string, string][] = [
    ['nothing', 'Basic'],
    ['a scheme without a credential', 'Basic '],
    ['another scheme', `Bearer ${encode('a:b')}`],
    ['a credential without a colon', `Basic ${encode('alice')}`],
    ['a credential that is not base64', 'Basic %%%'],
    ['base64 with characters that Buffer skips', `Basic YTpi-Yw==`],
    ['base64 that ends in the middle of a byte', 'Basic YTpiY'],
    ['base64 with non-zero trailing bits', 'Basic YTpiYx=='],
    ['no UTF-8', `Basic ${encode(Uint8Array.of(0x61, 0x3a, 0xff))}`],
    ['a colon in an overlong encoding', `Basic ${encode(Uint8Array.of(0x61, 0xc0, 0xba, 0x62))}`],
    ['two credentials', `Basic ${encode('a:b')}, Basic ${encode('c:d')}`],
    ['two words', `Basic ${encode('a:b')} ${encode('c:d')}`],
  ]
  for (const [what, header] of bad) {
    it(`rejects ${what}`, () => expect(readBasic(header)).to.equal(undefined))
  }
})

describe('isBasic', () => {
  const rows: readonly [string | undefined, boolean][] = [
    [undefined, false],
    ['', false],
    ['Basic', true],
    ['basic x', true],
    ['Basics x', false],
    ['Bearer Basic', false],
  ]
  for (const [header, expected] of rows) {
    it(`returns ${expected} for ${header}`, () => expect(isBasic(header)).to.equal(expected))
  }
})
