import { expect } from 'chai'
import { parseNumber, parseTime } from './numbers.ts'

describe('parseTime', () => {
  const valid: Readonly<Record<string, bigint>> = {
    '1970-01-01T00:00:00Z': 0n,
    '2026-11-27T12:00:00.5': 1_795_780_800_500_000_000n,
    '2026-11-27 13:00:00+01:00': 1_795_780_800_000_000_000n,
    '1677-09-21T00:12:44Z': -9_223_372_036_000_000_000n,
    '2262-04-11T23:47:15.999999999Z': 9_223_372_035_999_999_999n,
  }
  for (const [text, ns] of Object.entries(valid)) {
    it(`reads ${text}`, () => expect(parseTime(text)).to.equal(ns))
  }

  const invalid = [
    ...['1677-09-21T00:12:43Z', '2262-04-11T23:47:16Z', '0001-01-01T00:00:00Z', '0099-01-01T00:00:00Z'],
    ...['9999-12-31T23:59:59Z', '10000-01-01T00:00:00Z', '2026-02-29T00:00:00Z', '2026-11-27T24:00:00Z'],
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
  }
  for (const [text, value] of Object.entries(numbers)) {
    it(`reads ${text} as VictoriaLogs does`, () => expect(parseNumber(text)).to.equal(value))
  }
})
