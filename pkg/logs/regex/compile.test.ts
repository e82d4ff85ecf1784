import { expect } from 'chai'
import { compileRegex, RegexError } from './compile.ts'
import { parseRegex } from './parse.ts'

describe('compileRegex', () => {
  const rows: readonly [source: string, found: readonly string[], not: readonly string[]][] = [
    ['ab+c', ['xabbcx'], ['ac']],
    ['^err', ['error'], ['an error', 'a\nerror']],
    ['ok$', ['ok', 'ok\n'], ['ok.', 'ok\n\n', 'is ok\nmore']],
    ['(?m)ok$', ['is ok\nmore'], []],
    ['^[^e]*$', ['ok\n', ''], ['error\n']],
    ['ok\\s', ['ok\n'], ['ok']],
    ['\\Aok\\z', ['ok', 'ok\n'], ['ok\n\n']],
    ['\\bout\\b', ['time out', 'out-of'], ['timeout', 'out_of']],
    ['\\bb', ['éb'], ['ab']],
    ['\\d{3}\\s\\w', ['503 x'], ['503\u00a0x']],
    ['a.c', ['abc', 'a😀c'], ['a\nc']],
    ['(?i-i:E)r', ['Er', 'ER'], ['er']],
    ['[[:digit:]]\\pL', ['1é'], ['1-']],
    ['\\u00e9\\u{1f600}', ['é😀'], ['e😀']],
    ['\\\\u0041', ['\\u0041'], ['A']],
    ['\\/\\-\\"', ['/-"'], ['/']],
    ['{"a"', ['{"a":1}'], ['"a"']],
    ['', ['', 'x'], []],
  ]
  for (const [source, found, not] of rows) {
    it(`finds the matches of /${source}/`, () => {
      const finds = compileRegex(source, false)
      expect(found.filter(text => !finds(text))).to.deep.equal([])
      expect(not.filter(finds)).to.deep.equal([])
    })
  }

  it('is case-sensitive if requested', () => {
    expect(compileRegex('Ärger', true)('ärger')).to.equal(false)
    expect(compileRegex('Ärger', false)('ärger')).to.equal(true)
  })

  const invalid: Readonly<Record<string, string>> = {
    'a(b': 'missing closing ): `a(b`',
    'a)b': 'unexpected ): `a)b`',
    '[ab': 'missing closing ]: `[ab`',
    '[z-a]': 'invalid character class range: `z-a`',
    '*a': 'missing argument to repetition operator: `*`',
    'a**': 'invalid nested repetition operator: `**`',
    'a{1001}': 'invalid repeat count: `{1001}`',
    '(?=a)': 'invalid or unsupported Perl syntax: `(?=`',
    '(a)\\1': 'invalid escape sequence: `\\1`',
    'a\\': 'trailing backslash at end of expression',
    '((abcdef|ghijkl){30}){30}': 'too large',
  }
  for (const [source, reason] of Object.entries(invalid)) {
    it(`rejects /${source}/`, () => {
      expect(() => compileRegex(source, false)).to.throw(RegexError, `invalid regular expression: ${reason}`)
    })
  }

  it('rejects quickly what would take seconds to compile', () => {
    const startedAt = process.threadCpuUsage()
    const ranges = String.raw`[a-\x{10ffff}]`.repeat(285)
    for (const source of [
      'a{999}'.repeat(680),
      '(x{10}y{10}){50}'.repeat(200),
      ranges,
      '\\pL'.repeat(1300),
    ]) {
      expect(() => compileRegex(source, false)).to.throw(RegexError, 'too large')
    }
    expect(process.threadCpuUsage(startedAt).user / 1_000, 'ms of CPU').to.be.below(1_000)
  })

  it('matches in time proportional to the text, for any expression', () => {
    const startedAt = process.threadCpuUsage()
    for (const source of ['(a*)*b', '(x+x+)+y', '(a|aa)+$', '(.*a){12}b']) {
      expect(compileRegex(source, false)('ax'.repeat(20_000))).to.equal(false)
    }
    expect(process.threadCpuUsage(startedAt).user / 1_000, 'ms of CPU').to.be.below(20_000)
  })
})

describe('parseRegex', () => {
  for (const source of [
    '(?i)a',
    '\\pL',
    '\\p{L}',
    '\\Aa',
    'a\\z',
    '[[:alpha:]]',
    '{',
    '\\Qa\\E',
    '(?P<n>a)',
    '(?=a)',
  ]) {
    it(`returns undefined for ${source}, so that RE2 handles it`, () =>
      expect(parseRegex(source)).to.equal(undefined))
  }

  it('parses nesting of any depth, or returns nothing', () => {
    expect(parseRegex('('.repeat(20_000) + ')'.repeat(20_000))).to.equal(undefined)
  })

  it('supports the character classes of RE2', () => {
    const space = [
      [9, 10],
      [12, 13],
      [32, 32],
    ]
    expect(parseRegex('[\\s-]')).to.deep.equal({
      kind: 'sequence',
      items: [{ kind: 'set', ranges: [...space, [45, 45]], negated: false }],
    })
  })
})
