import { expect } from 'chai'
import { isStatus } from '../../../apierrors/status.ts'
import { parseLogsql } from './parse.ts'

const nowNs = 1_700_000_000_000_000_000n
const parse = (query: string) => parseLogsql(query, nowNs)

function messageOf(query: string): string {
  try {
    parse(query)
  } catch (error) {
    if (isStatus(error, 400)) return error.message
    throw error
  }
  return 'taken'
}

describe('parseLogsql', () => {
  it('parses filters of words, fields and streams', () => {
    const field = (name: string, test: object) => ({ op: 'field', field: name, test })
    const phrase = (text: string) => ({ kind: 'phrase', text, anyCase: false })
    expect(parse('*')).to.deep.equal({ filter: { op: 'all' }, pipes: [] })
    expect(parse('error # a comment\n;').filter).to.deep.equal(field('_msg', phrase('error')))
    expect(parse('a "b c" or -host:d').filter).to.deep.equal({
      op: 'or',
      operands: [
        { op: 'and', operands: [field('_msg', phrase('a')), field('_msg', phrase('b c'))] },
        { op: 'not', operand: field('host', phrase('d')) },
      ],
    })
    expect(parse('a.b-c/d:(x AND y*)').filter).to.deep.equal({
      op: 'and',
      operands: [
        field('a.b-c/d', phrase('x')),
        field('a.b-c/d', { kind: 'prefix', text: 'y', anyCase: false }),
      ],
    })
    expect(parse('{namespace="shop",pod!~"web.*"}').filter).to.deep.equal({
      op: 'stream',
      any: [
        [
          { label: 'namespace', isNegated: false, test: { values: ['shop'] } },
          { label: 'pod', isNegated: true, test: { source: '^(?:web.*)$' } },
        ],
      ],
    })
  })

  it('parses times', () => {
    const day = 86_400_000_000_000n
    const start = BigInt(Date.UTC(2026, 10, 1)) * 1_000_000n
    const table: Readonly<Record<string, readonly [bigint, bigint]>> = {
      '_time:5m': [nowNs - 300_000_000_000n, nowNs - 1n],
      '_time:1h offset 1d': [nowNs - 3_600_000_000_000n - day, nowNs - 1n - day],
      '_time:2026-11-01': [start, start + day - 1n],
      '_time:2026-11Z': [start, start + 30n * day - 1n],
      '_time:2026-11-01T00:00+02:00': [start - 7_200_000_000_000n, start - 7_140_000_000_001n],
      '_time:0099': [-59_042_995_200_000_000_000n, -59_011_459_200_000_000_001n],
      '_time:0000-02-29': [-62_162_121_600_000_000_000n, -62_162_035_200_000_000_001n],
      '_time:[2026-11-01, 2026-11-02]': [start, start + 2n * day - 1n],
      '_time:[2026-11-01, 2026-11-02)': [start, start + day - 1n],
      '_time:(1793491200, 1793491201)': [start + 1n, start + 999_999_999n],
      '_time:[1793491200e3, 1.7934912e9]': [start, start],
      '_time:2026-11-01T00:00:00.1234567891Z': [start + 123_456_789n, start + 123_456_789n],
    }
    for (const [query, [startNs, endNs]] of Object.entries(table))
      expect(parse(query).filter, query).to.deep.equal({ op: 'time', startNs, endNs })
  })

  it('parses times of day as VictoriaLogs', () => {
    const hour = 3600e9
    const table: Readonly<Record<string, readonly [number, number]>> = {
      '[08:00, 18:30]': [8 * hour, 18.5 * hour],
      '(0800, 2400)': [8 * hour + 1, 24 * hour - 2],
      '[12:60, 24:30]': [13 * hour, 24 * hour - 1],
      '[00:00, 00:00)': [0, 24 * hour - 1],
    }
    for (const [range, [start, end]] of Object.entries(table))
      expect(parse(`_time:day_range${range}`).filter).to.deep.equal({
        op: 'dayRange',
        start,
        end,
        offsetNs: 0,
      })
  })

  const refused: Readonly<Record<string, string>> = {
    '': 'query is required; * finds all lines',
    'a and': 'query: expected a filter, not the end (at character 6)',
    '(a': 'query: expected ), not the end (at character 3)',
    'a)': 'query: expected the end, not ")" (at character 2)',
    '"a': 'query: unterminated quote (at character 1)',
    '"\\q"': 'query: invalid escape in "\\q" (at character 1)',
    'a"b"': 'query: missing space before "\\"b\\""; put special characters in quotes (at character 2)',
    'x:in(error | fields x)':
      'query: expected , or ) in in(), not "|"; queries within queries are not supported (at character 12)',
    '_time:yesterday':
      'query: invalid duration "yesterday" before this: expected a duration such as 1h30m (at character 16)',
    '_time:[2026-13, now]': 'query: invalid time "2026-13" from character 8 on (at character 15)',
    '_time:2026-11-28T10:00+05:75':
      'query: invalid time "2026-11-28T10:00+05:75" from character 7 on (at character 29)',
    '_time:day_range[8:00, 25:00]':
      'query: invalid time of day "8:00" before this: expected hh:mm (at character 21)',
    '~"("': 'query: invalid regular expression: missing closing ): `(` (at character 5)',
    'options(concurrency=2) *': 'query: options() is not supported (at character 1)',
    '* | sort by ()': 'query: sort requires at least one field (at character 15)',
    '* | sort':
      'query: expected by (fields) after sort; sort without fields is not supported (at character 9)',
    '* | extract "a"': 'query: the pattern has no <field> (at character 16)',
    '* | extract "<a><b>"': 'query: missing text between two fields of the pattern (at character 21)',
    '* | stats by (a) count() a': 'query: stats has two results named "a" (at character 27)',
    '* | stats quantile(2, a)':
      'query: quantile() requires a number from 0 to 1, and then fields (at character 25)',
    '* | math abs(a, b)': 'query: abs() requires 1 arguments, not 2 (at character 19)',
    '* | uniq by (a, b) filter c': 'query: uniq with filter requires one field (at character 28)',
    '* | fields.x': 'query: missing space after fields (at character 11)',
    '* | limit x': 'query: invalid number "x" before this (at character 12)',
  }
  for (const [query, message] of Object.entries(refused)) {
    it(`rejects ${JSON.stringify(query)}`, () => {
      expect(messageOf(query)).to.equal(message)
    })
  }

  it('parses filter and stats pipes without their names', () => {
    const table: Readonly<Record<string, string>> = {
      '* | "a b"': '* | filter "a b"',
      '* | not a': '* | filter not a',
      '* | -a b': '* | filter -a b',
      '* | !~"a"': '* | filter !~"a"',
      '* | ="a"': '* | filter ="a"',
      '* | {pod="a"} b': '* | filter {pod="a"} b',
      '* | *a*': '* | filter *a*',
      '* | a.b-c/d:e': '* | filter a.b-c/d:e',
      '* | "limit":5': '* | filter "limit":5',
      '* | (pod) count() n': '* | stats by (pod) count() n',
    }
    for (const [short, long] of Object.entries(table)) expect(parse(short), short).to.deep.equal(parse(long))
    // As in VictoriaLogs, parentheses begin the groups of `stats`.
    expect(messageOf('* | (level:info or a)')).to.equal('query: invalid bucket size "info" (at character 17)')
    // A word may be a pipe that is not supported.
    for (const pipe of ['sample -1', 'time_add -1d', 'foo', 'foo bar:baz', 'rename a:b', 'split.x y'])
      expect(messageOf(`* | ${pipe}`), pipe).to.match(/^query: unsupported pipe "\w+" \(at character 5\)/)
  })

  it('names what is supported in the error for an unsupported function', () => {
    expect(messageOf('* | replace ("a", "b")')).to.match(
      /^query: unsupported pipe "replace" \(at character 5\); supported: fields, keep, sort, .*, patterns$/,
    )
    expect(messageOf('a:value_type(string)')).to.match(
      /^query: unsupported filter value_type\(\) from character 3 on; supported: words, .*, not \(at character 3\)$/,
    )
    expect(messageOf('* | stats row_max(a)')).to.match(
      /^query: unsupported function of stats "row_max"; supported: count, .*, histogram \(/,
    )
    expect(messageOf('* | format "<xx:a>"')).to.match(
      /unsupported option "xx" in the pattern; supported: q, /,
    )
  })

  it('limits length, depth, terms and pipes', () => {
    expect(messageOf('a'.repeat(65_537))).to.equal('query: longer than 65536 characters')
    expect(messageOf(`${'('.repeat(200)}a${')'.repeat(200)}`)).to.match(/nested deeper than 100 levels/)
    expect(messageOf(`${'not '.repeat(200)}a`)).to.match(/nested deeper than 100 levels/)
    expect(messageOf(`* | math ${'-'.repeat(200)}a as b`)).to.match(/nested deeper than 100 levels/)
    expect(messageOf('a '.repeat(501))).to.match(/more than 500 terms/)
    expect(messageOf(`*${' | limit 1'.repeat(33)}`)).to.match(/more than 32 pipes/)
    for (const pipe of [
      'fields NAMES',
      'sort by (NAMES)',
      'stats by (NAMES) count()',
      'stats count(NAMES)',
      'uniq by (NAMES)',
    ])
      expect(messageOf(`* | ${pipe.replace('NAMES', `${'a,'.repeat(500)}b`)}`)).to.match(/500 field names/)
    expect(messageOf('a '.repeat(499))).to.equal('taken')
  })

  it('takes time proportional to the length of the query', () => {
    const begin = performance.now()
    for (const part of ['"', "'", '\\', '(', '{', '-', '`', '<', '# ', 'a:', '| '])
      messageOf(part.repeat(65_536 / part.length))
    expect(performance.now() - begin).to.be.below(20_000)
  })
})
