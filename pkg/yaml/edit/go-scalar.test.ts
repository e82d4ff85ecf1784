import { expect } from 'chai'
import { type PlainKind, resolvePlain } from './go-scalar.ts'

// Results of `kubectl config view`. The property test in test/fuzz/kubeconfig.test.ts compares with
// kubectl itself.
const cases: Readonly<Record<PlainKind, readonly string[]>> = {
  bool: [
    'y',
    'Y',
    'n',
    'N',
    'yes',
    'Yes',
    'YES',
    'no',
    'No',
    'NO',
    'on',
    'On',
    'ON',
    'off',
    'OFF',
    'true',
    'True',
    'FALSE',
  ],
  null: ['', '~', 'null', 'Null', 'NULL'],
  number: [
    ...[
      '0',
      '1',
      '-1',
      '+1',
      '017',
      '08',
      '0o17',
      '0x1F',
      '-0x1f',
      '0b101',
      '1_000',
      '_1'.slice(1),
      '9223372036854775807',
    ],
    ...[
      '18446744073709551615',
      '99999999999999999999',
      '1.5',
      '1.',
      '.5',
      '.5_0',
      '1e3',
      '1E-3',
      '-1.5e+3',
      '.inf',
      '-.Inf',
      '.NaN',
    ],
  ],
  string: [
    ...[
      'yEs',
      'nO',
      'oN',
      'tRUE',
      'nULL',
      'kapis',
      'yes ',
      'a',
      '-',
      '+',
      '.',
      '..',
      '...',
      '<<',
      '=',
      '12:30:45',
      '1:2',
    ],
    ...[
      '2001-01-01',
      '2001-12-14t21:59:43.10-05:00',
      '0xZ',
      '1a',
      '1.2.3',
      '1e',
      'e1',
      '1e999',
      '0x1ffffffffffffffff',
      '.e1',
      '._5',
      '.5_',
    ],
    ...['+.nan', '.INf', 'NaN', 'inf', 'Infinity', '１'],
  ],
}

describe('resolvePlain', () => {
  for (const [kind, texts] of Object.entries(cases))
    it(`resolves as ${kind}: ${texts.slice(0, 6).join(' ')} …`, () => {
      for (const text of texts) expect(resolvePlain(text), text).to.equal(kind)
    })
})
