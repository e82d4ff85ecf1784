import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { formatContinueToken, inconsistent, parseContinueToken } from './continue-token.ts'

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

describe('parseContinueToken', () => {
  for (const continuation of [
    { version: 1, key: 'n1' },
    { version: 0, key: '' },
    { version: Number.MAX_SAFE_INTEGER, key: 'ns/ü "x"' },
    { version: inconsistent, key: 'n1' },
  ]) {
    it(`parses the token of ${JSON.stringify(continuation)}`, () => {
      const token = formatContinueToken(continuation)
      expect(token).to.match(/^[A-Za-z0-9_-]+$/)
      expect(parseContinueToken(token)).to.deep.equal(continuation)
    })
  }

  const good = { v: 'kapis/v1', rv: 5, after: 'n1' }
  const token = encode(good)
  const invalid: readonly [string, string][] = [
    ['nothing', ''],
    ['text', 'not a token'],
    ['another base64 alphabet', '+/=='],
    ['a trailing line feed', `${token}\n`],
    ['padding', `${token}==`],
    ['a truncated token', token.slice(0, 20)],
    ['a token with trailing bytes', `${token}${token}`],
    ['no JSON', encode('x')],
    ['null', encode('null')],
    ['a number', encode('7')],
    ['a list', encode([])],
    ['an empty object', encode({})],
    ['a token of another server', encode({ v: 'meta.k8s.io/v1', rv: 5, start: 'n1' })],
    ['a version that is a string', encode({ ...good, rv: '5' })],
    ['a fractional version', encode({ ...good, rv: 1.5 })],
    ['a version below -1', encode({ ...good, rv: -2 })],
    ['a version that is not a safe integer', encode({ ...good, rv: 2 ** 53 })],
    ['a version that is infinite', encode('{"v":"kapis/v1","rv":1e999,"after":"n1"}')],
    ['a missing version', encode({ v: 'kapis/v1', after: 'n1' })],
    ['a missing key', encode({ v: 'kapis/v1', rv: 5 })],
    ['a key that is not a string', encode({ ...good, after: ['n1'] })],
    ['a very long token', encode({ ...good, after: 'x'.repeat(4096) })],
  ]
  for (const [what, text] of invalid) {
    it(`rejects ${what}`, () => {
      expect(thrownFields(() => parseContinueToken(text))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message:
          'continue key is not valid: it must be the value that the previous page of this list returned',
      })
    })
  }
})
