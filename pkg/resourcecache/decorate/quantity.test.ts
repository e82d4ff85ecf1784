import { expect } from 'chai'
import { createRandom } from '../fixtures.ts'
import {
  add,
  formatQuantity,
  larger,
  parseQuantity,
  percent,
  type Quantity,
  subtract,
  zero,
} from './quantity.ts'

const unit = 1_000_000_000n

describe('parseQuantity', () => {
  const valid: readonly [unknown, bigint, Quantity['format']][] = [
    ['0', 0n, 'decimal'],
    ['1', unit, 'decimal'],
    ['+1', unit, 'decimal'],
    ['-1', -unit, 'decimal'],
    [4, 4n * unit, 'decimal'],
    [0.5, unit / 2n, 'decimal'],
    ['1.', unit, 'decimal'],
    ['.5', unit / 2n, 'decimal'],
    ['0.1', unit / 10n, 'decimal'],
    ['007', 7n * unit, 'decimal'],
    ['100m', unit / 10n, 'decimal'],
    ['1500m', 1_500_000_000n, 'decimal'],
    ['1u', 1_000n, 'decimal'],
    ['1n', 1n, 'decimal'],
    ['1k', 1_000n * unit, 'decimal'],
    ['1M', 10n ** 6n * unit, 'decimal'],
    ['1G', 10n ** 9n * unit, 'decimal'],
    ['1T', 10n ** 12n * unit, 'decimal'],
    ['1P', 10n ** 15n * unit, 'decimal'],
    ['1E', 10n ** 18n * unit, 'decimal'],
    ['1Ki', 1024n * unit, 'binary'],
    ['1Mi', 1024n ** 2n * unit, 'binary'],
    ['1Gi', 1024n ** 3n * unit, 'binary'],
    ['1Ti', 1024n ** 4n * unit, 'binary'],
    ['1Pi', 1024n ** 5n * unit, 'binary'],
    ['1Ei', 1024n ** 6n * unit, 'binary'],
    ['1.5Gi', (1024n ** 3n * 3n * unit) / 2n, 'binary'],
    ['1e3', 1_000n * unit, 'decimal'],
    ['1E3', 1_000n * unit, 'decimal'],
    ['1e+3', 1_000n * unit, 'decimal'],
    ['1e-3', 1_000_000n, 'decimal'],
    ['12.5e1', 125n * unit, 'decimal'],
    ['9007199254740993', 9_007_199_254_740_993n * unit, 'decimal'],
    // Values below the nano unit are rounded up, away from zero.
    ['0.1n', 1n, 'decimal'],
    ['1.0000000001', unit + 1n, 'decimal'],
    ['-1.0000000001', -unit - 1n, 'decimal'],
    ['1e-12', 1n, 'decimal'],
  ]
  for (const [text, nano, format] of valid) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(parseQuantity(text)).to.deep.equal({ nano, format })
    })
  }

  const nothing: readonly unknown[] = [
    '',
    ' ',
    '.',
    '+',
    'm',
    'Gi',
    '1 Gi',
    ' 1',
    '1\n',
    '1gi',
    '1K',
    '1mi',
    '1e',
    '1.2.3',
    '0x10',
    '1e9999',
    'Infinity',
    'NaN',
    Number.NaN,
    undefined,
    null,
    true,
    {},
    ['1'],
  ]
  for (const value of nothing) {
    it(`counts ${typeof value === 'number' ? value : JSON.stringify(value)} as zero`, () => {
      expect(parseQuantity(value).nano).to.equal(0n)
    })
  }
})

describe('formatQuantity', () => {
  const table: readonly [string, string][] = [
    ['0', '0'],
    ['0Gi', '0'],
    ['1', '1'],
    ['1000m', '1'],
    ['1250m', '1250m'],
    ['1.25', '1250m'],
    ['0.1', '100m'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1000000', '1M'],
    ['1e18', '1E'],
    ['1000E', '1000E'],
    ['100n', '100n'],
    ['1000n', '1u'],
    ['1024Ki', '1Mi'],
    ['1024Mi', '1Gi'],
    ['1536Mi', '1536Mi'],
    ['1.5Gi', '1536Mi'],
    ['2048Gi', '2Ti'],
    ['0.5Ki', '512'],
    ['-1500m', '-1500m'],
    ['-1Gi', '-1Gi'],
    ['1048576', '1048576'],
  ]
  for (const [text, expected] of table) {
    it(`writes ${text} as ${expected}`, () => {
      expect(formatQuantity(parseQuantity(text))).to.equal(expected)
    })
  }

  it('preserves the amount when it is parsed again', () => {
    const random = createRandom(1)
    for (let i = 0; i < 2000; i++) {
      const format = random(2) ? 'binary' : 'decimal'
      const scale = format === 'binary' ? 1024n ** BigInt(random(6)) * unit : 10n ** BigInt(random(24))
      const quantity: Quantity = { nano: BigInt(random(10_000)) * scale, format }
      expect(parseQuantity(formatQuantity(quantity)).nano).to.equal(quantity.nano)
    }
  })
})

describe('add', () => {
  const table: readonly [string, string, string][] = [
    ['100m', '150m', '250m'],
    ['0.1', '0.2', '300m'],
    ['1', '500m', '1500m'],
    ['1Gi', '1Gi', '2Gi'],
    ['512Mi', '512Mi', '1Gi'],
    // The sum has the format of its first term.
    ['1Gi', '1G', '2073741824'],
    ['1Ki', '1000', '2024'],
    ['1M', '1Mi', '2048576'],
    // A term of zero does not determine the format.
    ['0', '1Gi', '1Gi'],
    ['1Gi', '0', '1Gi'],
    ['9007199254740993', '1', '9007199254740994'],
  ]
  for (const [a, b, sum] of table) {
    it(`adds ${a} and ${b} to ${sum}`, () => {
      expect(formatQuantity(add(parseQuantity(a), parseQuantity(b)))).to.equal(sum)
    })
  }

  it('is reverted by subtract, to the nano unit', () => {
    const random = createRandom(2)
    let sum = zero
    const terms = Array.from({ length: 1000 }, () =>
      parseQuantity(`${random(1_000_000)}${['n', 'm', '', 'Mi'][random(4)]}`),
    )
    for (const term of terms) sum = add(sum, term)
    for (const term of terms) sum = subtract(sum, term)
    expect(sum.nano).to.equal(0n)
  })
})

describe('larger', () => {
  it('compares amounts, not their notation', () => {
    const [a, b] = [parseQuantity('1Gi'), parseQuantity('1G')]
    expect(larger(a, b)).to.equal(a)
    expect(larger(b, a)).to.equal(a)
    expect(larger(parseQuantity('999m'), parseQuantity('1')).nano).to.equal(unit)
  })
})

describe('percent', () => {
  const table: readonly [string, string, number][] = [
    ['1', '4', 25],
    ['1', '3', 33],
    ['2', '3', 66],
    ['199m', '20', 0],
    ['200m', '20', 1],
    ['4', '4', 100],
    ['3999m', '4', 99],
    ['5', '4', 125],
    ['1Gi', '2Gi', 50],
    ['0', '4', 0],
    ['1', '0', 0],
  ]
  for (const [part, whole, expected] of table) {
    it(`computes ${expected} for ${part} of ${whole}`, () => {
      expect(percent(parseQuantity(part), parseQuantity(whole))).to.equal(expected)
    })
  }
})
