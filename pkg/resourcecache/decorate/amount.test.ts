import { expect } from 'chai'
import fc from 'fast-check'
import { compareAmounts, parseAmount } from './amount.ts'
import { parseQuantity } from './quantity.ts'

function compare(a: string, b: string): number | undefined {
  const [first, second] = [parseAmount(a), parseAmount(b)]
  return first && second && Math.sign(compareAmounts(first, second))
}

describe('compareAmounts', () => {
  const ascending = [
    ...['-1e400', '-9223372036854775808', '-9007199254740993', '-1Ki', '-1000', '-1', '-0.5', '-1n'],
    ...[
      '0',
      '1e-400',
      '0.1n',
      '1n',
      '1e-7',
      '1m',
      '0.1',
      '0.10000000000000001',
      '1',
      '1.5',
      '999',
      '1k',
      '1Ki',
    ],
    ...['9007199254740992', '9007199254740993', '9007199254740994', '9223372036854775806'],
    ...['9223372036854775807', '9223372036854775808', '10E', '10Ei', '1e400'],
  ]
  it('orders numbers and quantities of any size', () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) expect(compare(a, b), `${a} ${b}`).to.equal(Math.sign(i - j))
    }
  })

  for (const [a, b] of [
    ['0', '-0'],
    ['0', '0.000'],
    ['1', '1.0'],
    ['1e3', '1000'],
    ['1E3', '1k'],
    ['1Ki', '1024'],
    ['0.5Gi', '512Mi'],
    ['100m', '.1'],
    ['9007199254740993', '9007199254740993.0'],
    ['+5', '05.'],
  ] as const) {
    it(`treats ${a} and ${b} as equal`, () => expect(compare(a, b)).to.equal(0))
  }

  it('compares in the same way as quantity arithmetic', () => {
    const suffixes = fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'e3',
      'E-2',
    )
    const text = fc
      .tuple(fc.constantFrom('', '-'), fc.nat({ max: 10_000 }), fc.option(fc.nat({ max: 99 })), suffixes)
      .map(([sign, whole, part, suffix]) => `${sign}${whole}${part === null ? '' : `.${part}`}${suffix}`)
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [first, second] = [parseQuantity(a).nano, parseQuantity(b).nano]
        // Quantities are rounded to the nano unit.
        if (first !== second) expect(compare(a, b)).to.equal(first < second ? -1 : 1)
      }),
      { numRuns: 2_000, seed: 5 },
    )
  })
})

describe('parseAmount', () => {
  for (const text of [
    '',
    '.',
    '-',
    'a',
    '1a',
    '1 ',
    ' 1',
    '1KiB',
    'e3',
    '0x1F',
    '1_000',
    'NaN',
    '9'.repeat(65),
  ]) {
    it(`treats ${JSON.stringify(text.slice(0, 20))} as text`, () => {
      expect(parseAmount(text)).to.equal(undefined)
    })
  }
})
