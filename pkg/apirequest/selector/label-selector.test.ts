import { expect } from 'chai'
import { thrownFields, thrownStatus } from '../../apierrors/fixtures.ts'
import { type LabelRequirement, matchesLabels, parseLabelSelector } from './label-selector.ts'

type Operator = LabelRequirement['operator']

describe('parseLabelSelector', () => {
  const valid: readonly [string, readonly (readonly [string, Operator, ...string[]])[]][] = [
    ['', []],
    ['  ', []],
    ['a', [['a', 'exists']]],
    ['!a', [['a', '!']]],
    ['! a', [['a', '!']]],
    ['a=b', [['a', 'in', 'b']]],
    ['a==b', [['a', 'in', 'b']]],
    ['a = b', [['a', 'in', 'b']]],
    ['a=', [['a', 'in', '']]],
    ['a==', [['a', 'in', '']]],
    ['a!=', [['a', 'notin', '']]],
    ['a!=b', [['a', 'notin', 'b']]],
    ['a != b', [['a', 'notin', 'b']]],
    ['a in (b)', [['a', 'in', 'b']]],
    ['a in (b,c)', [['a', 'in', 'b', 'c']]],
    ['a in(b,c)', [['a', 'in', 'b', 'c']]],
    ['a  in  ( b , c )', [['a', 'in', 'b', 'c']]],
    ['a notin (b,c)', [['a', 'notin', 'b', 'c']]],
    ['a in ()', [['a', 'in', '']]],
    [
      'a in (),b',
      [
        ['a', 'in', ''],
        ['b', 'exists'],
      ],
    ],
    ['a in (,b)', [['a', 'in', '', 'b']]],
    ['a notin (b,)', [['a', 'notin', 'b', '']]],
    ['a>1', [['a', 'gt', '1']]],
    ['a > 1', [['a', 'gt', '1']]],
    ['a<9223372036854775807', [['a', 'lt', '9223372036854775807']]],
    [
      'a=b,c!=d,e in (f,g),!h,i',
      [
        ['a', 'in', 'b'],
        ['c', 'notin', 'd'],
        ['e', 'in', 'f', 'g'],
        ['h', '!'],
        ['i', 'exists'],
      ],
    ],
    [
      ' a=b , c=d ',
      [
        ['a', 'in', 'b'],
        ['c', 'in', 'd'],
      ],
    ],
    [
      'a=b,a!=c',
      [
        ['a', 'in', 'b'],
        ['a', 'notin', 'c'],
      ],
    ],
    ['node-role.kubernetes.io/control-plane', [['node-role.kubernetes.io/control-plane', 'exists']]],
    ['node-role.kubernetes.io/control-plane=', [['node-role.kubernetes.io/control-plane', 'in', '']]],
    ['example.org/A_b.c-D in (X_y.z)', [['example.org/A_b.c-D', 'in', 'X_y.z']]],
    ['in in (in,notin)', [['in', 'in', 'in', 'notin']]],
    ['notin', [['notin', 'exists']]],
    ['in=notin', [['in', 'in', 'notin']]],
    ['1=2', [['1', 'in', '2']]],
    [`${'k'.repeat(63)}=${'v'.repeat(63)}`, [['k'.repeat(63), 'in', 'v'.repeat(63)]]],
  ]
  for (const [text, expected] of valid) {
    it(`reads ${JSON.stringify(text)}`, () => {
      const requirements = expected.map(([key, operator, ...values]) => ({ key, operator, values }))
      expect(parseLabelSelector(text)).to.deep.equal(requirements)
    })
  }

  const noRequirement = (term: string) =>
    `invalid requirement ${JSON.stringify(term)}: expected key=value, key in (a,b), key or !key`
  const invalid: readonly [string, string][] = [
    [',', noRequirement('')],
    ['a,', noRequirement('')],
    [',a', noRequirement('')],
    ['a,,b', noRequirement('')],
    ['=', noRequirement('=')],
    ['=b', noRequirement('=b')],
    ['!', noRequirement('!')],
    ['!!a', noRequirement('!!a')],
    ['!a=b', noRequirement('!a=b')],
    ['!a in (b)', '"!a" is not a valid label key'],
    ['a b', noRequirement('a b')],
    ['a=b c', noRequirement('a=b c')],
    ['a not in (b)', noRequirement('a not in (b)')],
    ['a IN (b)', noRequirement('a IN (b)')],
    ['a in b', noRequirement('a in b')],
    ['a in (b', noRequirement('a in (b')],
    ['a in b)', noRequirement('a in b)')],
    ['a in ((b))', noRequirement('a in ((b))')],
    ['a in (b) c', noRequirement('a in (b) c')],
    ['a(b)', noRequirement('a(b)')],
    ['a==b==c', '"b==c" is not a valid label value'],
    ['a===b', '"=b" is not a valid label value'],
    ['a=b||c=d', '"b||c=d" is not a valid label value'],
    ['a in (b c)', '"b c" is not a valid label value'],
    ['a=-b', '"-b" is not a valid label value'],
    ['a=b-', '"b-" is not a valid label value'],
    ['a=ü', '"ü" is not a valid label value'],
    ['a=b/c', '"b/c" is not a valid label value'],
    [`a=${'v'.repeat(64)}`, `"${'v'.repeat(64)}" is not a valid label value`],
    [`${'k'.repeat(64)}=b`, `"${'k'.repeat(64)}" is not a valid label key`],
    ['-a=b', '"-a" is not a valid label key'],
    ['__proto__', '"__proto__" is not a valid label key'],
    ['/a=b', '"/a" is not a valid label key'],
    ['a/=b', '"a/" is not a valid label key'],
    ['a/b/c=d', '"a/b/c" is not a valid label key'],
    ['Example.org/a=b', '"Example.org/a" is not a valid label key'],
    ['a>b', '"b" is not an integer'],
    ['a<1.5', '"1.5" is not an integer'],
    ['a>', '"" is not an integer'],
    ['a<-1', '"-1" is not a valid label value'],
  ]
  for (const [text, why] of invalid) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      const { code, reason, message } = thrownStatus(() => parseLabelSelector(text))
      expect({ code, reason, message }).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: `labelSelector ${JSON.stringify(text)} cannot be parsed: ${why}`,
      })
    })
  }

  it('names the parameter of an invalid selector', () => {
    expect(thrownStatus(() => parseLabelSelector('=', 'annotation')).message).to.match(
      /^annotation "=" cannot/,
    )
  })

  it('parses a hostile text quickly', () => {
    const startedAt = process.threadCpuUsage()
    for (const text of [
      'a '.repeat(20_000),
      '('.repeat(40_000),
      `a in (${'b,'.repeat(20_000)})`,
      'a!'.repeat(20_000),
    ])
      try {
        parseLabelSelector(text)
      } catch {}
    expect(process.threadCpuUsage(startedAt).user / 1_000, 'ms of CPU').to.be.below(2_000)
  })
})

describe('matchesLabels', () => {
  const labels = { app: 'web', tier: '', generation: '7', negative: '-3', word: 'x7' }
  const table: readonly [string, boolean][] = [
    ['', true],
    ['app', true],
    ['tier', true],
    ['missing', false],
    ['!missing', true],
    ['!app', false],
    ['!tier', false],
    ['app=web', true],
    ['app=Web', false],
    ['app=', false],
    ['tier=', true],
    ['missing=', false],
    ['app!=web', false],
    ['app!=db', true],
    ['missing!=db', true],
    ['missing!=', true],
    ['app in (db,web)', true],
    ['app in (db)', false],
    ['missing in (db)', false],
    ['missing in ()', false],
    ['tier in ()', true],
    ['app notin (db)', true],
    ['app notin (web,db)', false],
    ['missing notin (web)', true],
    ['generation>6', true],
    ['generation>7', false],
    ['generation<8', true],
    ['generation<7', false],
    ['negative<0', true],
    ['missing>0', false],
    ['missing<9', false],
    ['word>1', false],
    ['tier<1', false],
    ['generation<99999999999999999', true],
    ['app=web,generation>6,!missing', true],
    ['app=web,generation>6,missing', false],
    // Inherited properties of JavaScript objects are not labels.
    ['constructor', false],
    ['!constructor', true],
    ['toString', false],
    ['hasOwnProperty!=x', true],
  ]
  for (const [selector, expected] of table) {
    it(`returns ${expected} for ${JSON.stringify(selector)}`, () => {
      expect(matchesLabels(parseLabelSelector(selector), labels)).to.equal(expected)
    })
  }

  it('rejects more than 32 terms quickly', () => {
    const terms = (count: number) => Array.from({ length: count }, (_, i) => `a${i}=b`).join(',')
    expect(parseLabelSelector(terms(32))).to.have.length(32)
    const began = process.threadCpuUsage()
    expect(thrownFields(() => parseLabelSelector(terms(100_000))).message).to.equal(
      'labelSelector has 100000 terms; at most 32 are allowed',
    )
    expect(process.threadCpuUsage(began).user / 1_000, 'ms of CPU').to.be.below(3_000)
  })
})
