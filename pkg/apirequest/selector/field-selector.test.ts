import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { matchesFields, parseFieldSelector, requiredValue, requireKnownFields } from './field-selector.ts'

const known = ['metadata.name', 'metadata.namespace']
const name = (value: string, operator: '=' | '!=' = '=') => ({ field: 'metadata.name', operator, value })
const namespace = (value: string, operator: '=' | '!=' = '=') => ({
  field: 'metadata.namespace',
  operator,
  value,
})

describe('parseFieldSelector', () => {
  const valid: readonly [string, readonly ReturnType<typeof name>[]][] = [
    ['', []],
    [',', []],
    ['metadata.name=a', [name('a')]],
    ['metadata.name==a', [name('a')]],
    ['metadata.name!=a', [name('a', '!=')]],
    ['metadata.name=', [name('')]],
    ['metadata.name!=', [name('', '!=')]],
    ['metadata.name=a,metadata.namespace!=b', [name('a'), namespace('b', '!=')]],
    ['metadata.name=a,,metadata.name=b', [name('a'), name('b')]],
    ['metadata.name=a,', [name('a')]],
    ['metadata.name=a\\,b', [name('a,b')]],
    ['metadata.name=a\\=b', [name('a=b')]],
    ['metadata.name=a\\\\', [name('a\\')]],
    ['metadata.name=a\\\\,metadata.namespace=b', [name('a\\'), namespace('b')]],
    ['metadata.name=a\\,metadata.namespace\\=b', [name('a,metadata.namespace=b')]],
    ['metadata.name=a!b', [name('a!b')]],
    ['metadata.name= a ', [name(' a ')]],
    // Terms are sorted as in apimachinery: the first of several names is used for authorization.
    ['metadata.namespace=b,metadata.name=z,metadata.name=a', [name('a'), name('z'), namespace('b')]],
  ]
  for (const [text, expected] of valid) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(parseFieldSelector(text)).to.deep.equal(expected)
      requireKnownFields(expected, known)
    })
  }

  const unknown = (field: string) =>
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
  const invalid: readonly [string, string][] = [
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['!metadata.name', "invalid selector: '!metadata.name'; can't understand '!metadata.name'"],
    ['metadata.name=a,b', "invalid selector: 'metadata.name=a,b'; can't understand 'b'"],
    ['spec.nodeName=a', unknown('spec.nodeName')],
    ['constructor=a', unknown('constructor')],
    ['=a', unknown('')],
    [' metadata.name=a', unknown(' metadata.name')],
    ['metadata.name in (a)=b', unknown('metadata.name in (a)')],
    ['metadata\\.name=a', unknown('metadata\\.name')],
    ['metadata.name=a=b', 'invalid field selector "metadata.name=a=b": unescaped "=" in a value'],
    ['metadata.name===a', 'invalid field selector "metadata.name===a": unescaped "=" in a value'],
    ['metadata.name=a\\', 'invalid field selector "metadata.name=a\\\\": "\\\\" is not an escape sequence'],
    [
      'metadata.name=a\\b',
      'invalid field selector "metadata.name=a\\\\b": "\\\\b" is not an escape sequence',
    ],
  ]
  for (const [text, message] of invalid) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(thrownFields(() => requireKnownFields(parseFieldSelector(text), known))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }

  it('parses a hostile text quickly', () => {
    const startedAt = process.threadCpuUsage()
    for (const text of ['\\'.repeat(40_001), 'a!'.repeat(20_000), ','.repeat(40_000), 'a\\,'.repeat(10_000)])
      try {
        parseFieldSelector(text)
      } catch {}
    expect(process.threadCpuUsage(startedAt).user / 1_000, 'ms of CPU').to.be.below(2_000)
  })
})

describe('matchesFields', () => {
  const fields = { 'metadata.name': 'a', 'metadata.namespace': '' }
  const table: readonly [string, boolean][] = [
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name=b', false],
    ['metadata.name!=b', true],
    ['metadata.name!=a', false],
    ['metadata.namespace=', true],
    ['metadata.namespace!=x', true],
    ['metadata.name=a,metadata.namespace=x', false],
    ['metadata.name=a,metadata.name=b', false],
  ]
  for (const [selector, expected] of table) {
    it(`returns ${expected} for ${JSON.stringify(selector)}`, () => {
      expect(matchesFields(parseFieldSelector(selector), fields)).to.equal(expected)
    })
  }
})

describe('requiredValue', () => {
  const table: readonly [string, string | undefined][] = [
    ['', undefined],
    ['metadata.name=a', 'a'],
    ['metadata.name==a', 'a'],
    ['metadata.name=', ''],
    ['metadata.name!=a', undefined],
    ['xmetadata.name=a', undefined],
    ['metadata.namespace=b,metadata.name=a', 'a'],
    ['metadata.name=a\\,b', 'a,b'],
    ['metadata.name=z,metadata.name=a', 'a'],
  ]
  for (const [selector, expected] of table) {
    it(`returns ${JSON.stringify(expected)} for ${JSON.stringify(selector)}`, () => {
      expect(requiredValue(parseFieldSelector(selector), 'metadata.name')).to.equal(expected)
    })
  }

  it('rejects more than 32 terms quickly', () => {
    const terms = (count: number) => Array.from({ length: count }, (_, i) => `a${i}=b`).join(',')
    expect(parseFieldSelector(terms(32))).to.have.length(32)
    const began = process.threadCpuUsage()
    expect(thrownFields(() => parseFieldSelector(terms(100_000))).message).to.equal(
      'fieldSelector has 100000 terms; at most 32 are allowed',
    )
    expect(process.threadCpuUsage(began).user / 1_000, 'ms of CPU').to.be.below(3_000)
  })
})
