import { expect } from 'chai'
import { isBasic, readBasic } from './basic-credential.ts'

const encode = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

describe('readBasic', () => {
  const good: readonly [string, string, string, string][] = [
    ['both halves', `Basic ${encode('alice:p')}`, 'alice', 'p'],
    ['the scheme in any case', `bAsIc ${encode('alice:p')}`, 'alice', 'p'],
    ['several spaces', `Basic   ${encode('alice:p')}  `, 'alice', 'p'],
    ['colons in the secret', `Basic ${encode('alice:p:1:')}`, 'alice', 'p:1:'],
    ['no secret', `Basic ${encode('alice:')}`, 'alice', ''],
    ['no id', `Basic ${encode(':p')}`, '', 'p'],
    ['UTF-8', `Basic ${encode('zoë:pässwörd€')}`, 'zoë', 'pässwörd€'],
    ['a byte order mark, which belongs to the id', `Basic ${encode('\ufeffa:b')}`, '\ufeffa', 'b'],
    ['base64 without padding', `Basic ${encode('ab:c').replace(/=+$/, '')}`, 'ab', 'c'],
  ]
  for (const [what, header, id, secret] of good) {
    it(`reads ${what}`, () => expect(readBasic(header)).to.deep.equal({ id, secret }))
  }

  const bad: readonly [string, string][] = [
    ['nothing', 'Basic'],
    ['nothing behind a space', 'Basic '],
    ['another scheme', `Bearer ${encode('a:b')}`],
    ['no colon', `Basic ${encode('alice')}`],
    ['no base64', 'Basic %%%'],
    ['base64 with something in it that Buffer skips', `Basic YTpi-Yw==`],
    ['base64 that ends in the middle of a byte', 'Basic YTpiY'],
    ['base64 with bits to spare', 'Basic YTpiYx=='],
    ['no UTF-8', `Basic ${encode(Uint8Array.of(0x61, 0x3a, 0xff))}`],
    ['an overlong colon', `Basic ${encode(Uint8Array.of(0x61, 0xc0, 0xba, 0x62))}`],
    ['two credentials', `Basic ${encode('a:b')}, Basic ${encode('c:d')}`],
    ['two words', `Basic ${encode('a:b')} ${encode('c:d')}`],
  ]
  for (const [what, header] of bad) {
    it(`does not read ${what}`, () => expect(readBasic(header)).to.equal(undefined))
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
    it(`is ${expected} for ${header}`, () => expect(isBasic(header)).to.equal(expected))
  }
})
