import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { checkTimeout } from './timeout.ts'

const check = (timeout: string) => checkTimeout(new QueryParameters(`timeout=${encodeURIComponent(timeout)}`))

describe('checkTimeout', () => {
  for (const text of [
    '',
    '0',
    '0s',
    '32s',
    '-1s',
    '+5m',
    '1h30m',
    '1.5s',
    '.5s',
    '1.s',
    '100ms',
    '1µs',
    '1ns',
  ]) {
    it(`accepts ${JSON.stringify(text)}`, () => check(text))
  }

  const faults: readonly [string, string][] = [
    ['x', 'invalid duration "x"'],
    ['-', 'invalid duration "-"'],
    ['.', 'invalid duration "."'],
    ['.s', 'invalid duration ".s"'],
    ['1', 'missing unit in duration "1"'],
    ['-1', 'missing unit in duration "-1"'],
    ['1h2', 'missing unit in duration "1h2"'],
    ['1d', 'unknown unit "d" in duration "1d"'],
    ['1 s', 'unknown unit " s" in duration "1 s"'],
  ]
  for (const [text, why] of faults) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      const message = `invalid timeout specified in the request URL - time: ${why}`
      expect(thrownFields(() => check(text))).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    })
  }
})
