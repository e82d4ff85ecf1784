import { expect } from 'chai'
import { parseDecimal, parseInteger, parseNumber, parseTime } from './numbers.ts'

describe('parseTime', () => {
  const valid: Readonly<Record<string, bigint>> = {
    '1970-01-01T00:00:00Z': 0n,
    '2026-11-27T12:00:00.5': 1_795_780_800_500_000_000n,
    '2026-11-27 13:00:00+01:00': 1_795_780_800_000_000_000n,
    '1677-09-21T00:12:44Z': -9_223_372_036_000_000_000n,
    '2262-04-11T23:47:15.999999999Z': 9_223_372_035_999_999_999n,
    '2026-02-30T10:00:00Z': 1_772_445_600_000_000_000n,
    '2026-11-28T24:00:00Z': 1_795_910_400_000_000_000n,
    '2026-11-28T23:59:60Z': 1_795_910_400_000_000_000n,
    '2026-11-28T10:60:00Z': 1_795_863_600_000_000_000n,
    '2026-11-28T10:00:00+0530': 1_795_840_200_000_000_000n,
    '2026-11-28T10:00:00-24:60': 1_795_950_000_000_000_000n,
  }
  for (const [text, ns] of Object.entries(valid)) {
    it(`reads ${text} as VictoriaLogs does`, () => expect(parseTime(text)).to.equal(ns))
  }

  const invalid = [
    ...['1677-09-21T00:12:43Z', '2262-04-11T23:47:16Z', '0001-01-01T00:00:00Z', '0099-01-01T00:00:00Z'],
    ...['9999-12-31T23:59:59Z', '10000-01-01T00:00:00Z', '2026-11-28T10:00:00+05'],
    ...['2026-11-28T10:00:00+05:75', '2026-11-28T10:00:00+25:00', '2026-11-28T10:00:00.1234567891Z'],
    ...['2026-11-27', 'now', ''],
  ]
  for (const text of invalid) {
    it(`rejects ${JSON.stringify(text)}, as VictoriaLogs does`, () =>
      expect(parseTime(text)).to.equal(undefined))
  }
})

describe('parseNumber', () => {
  const numbers: Readonly<Record<string, number | undefined>> = {
    ...{ '1_234e3': 1_234_000, '1_2.3_4e-1_0': 12.34e-10, '1.': 1, '.5': 0.5, '+1e3': 1000, '1e308': 1e308 },
    ...{ '1__2e3': undefined, '1_e3': undefined, '.': undefined, e3: undefined, '1e400': undefined },
    ...{ '0x7FFFFFFFFFFFFFFF': 2 ** 63, '0x8000000000000000': undefined, '-0x8000000000000000': -(2 ** 63) },
    ...{ '1000y': 2 ** 63, '-1000y': -(2 ** 63), '9999999TiB': 2 ** 63, '99999999999999999999s': undefined },
    ...{ '-0s': 0, '1_000ms': 1e9, '1_000KB': 1e6 },
    [`1${'0'.repeat(64)}`]: 1e64,
    [`0.${'0'.repeat(70)}1`]: 1e-71,
    ['1'.repeat(401)]: undefined,
  }
  for (const [text, value] of Object.entries(numbers)) {
    it(`reads ${text} as VictoriaLogs does`, () => expect(parseNumber(text)).to.equal(value))
  }
})

describe('parseInteger', () => {
  const integers: Readonly<Record<string, bigint | undefined>> = {
    ...{ '0': 0n, '-0': 0n, '1_000': 1000n, '-1_000': -1000n, '1__0_': 10n },
    ...{ '01': undefined, '+1': undefined, '1.0': undefined, _1: undefined, '': undefined, '1e3': undefined },
    ...{ '-9223372036854775808': -(2n ** 63n), '-9223372036854775809': undefined },
    ...{ '18_446_744_073_709_551_615': 2n ** 64n - 1n, '18446744073709551616': undefined },
  }
  for (const [text, value] of Object.entries(integers)) {
    it(`reads ${JSON.stringify(text)} as VictoriaLogs does`, () => expect(parseInteger(text)).to.equal(value))
  }
})

describe('parseDecimal', () => {
  const decimals: Readonly<Record<string, number | undefined>> = {
    ...{ '-1_0.5_0': -10.5, '18446744073709551615.5': 2 ** 64, '99999999999999999999': undefined },
    ...{ '0.00000000000000000001': 1e-20, '0.12345678901234567890123': undefined, '1e3': undefined },
  }
  for (const [text, value] of Object.entries(decimals)) {
    it(`reads ${text} as VictoriaLogs does`, () => expect(parseDecimal(text)).to.equal(value))
  }
})
