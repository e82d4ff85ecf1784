import { expect } from 'chai'
import fc from 'fast-check'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { Status } from '../../apierrors/status.ts'
import { type Expression, isOneOf, match } from '../filter/expression.ts'
import { createExpressionTest } from '../filter/matcher.ts'
import { parsePhrases, parseQuery } from './parse.ts'

const words = (...list: string[]): Expression => match('log', { kind: 'words', words: list, prefix: false })
const prefix = (...list: string[]): Expression => match('log', { kind: 'words', words: list, prefix: true })
const contains = (text: string, caseSensitive = false): Expression =>
  match('log', { kind: 'contains', text, caseSensitive })
const regex = (source: string, caseSensitive = false): Expression =>
  match('log', { kind: 'regex', source, caseSensitive })
type End = 'open' | 'word'
const wildcard = (pieces: readonly string[], start: End, end: End): Expression =>
  match('log', {
    kind: 'wildcard',
    pieces: pieces.map(piece => (piece === '*' || piece === '?' ? piece : { text: piece })),
    extent: 'part',
    ...{ start, end },
  })
const own = (field: string, pieces: readonly string[]): Expression =>
  match(
    { field },
    {
      kind: 'wildcard',
      pieces: pieces.map(piece => (piece === '*' ? piece : { text: piece })),
      ...{ extent: 'value', start: 'open', end: 'open' },
    },
  )
const compare = (field: string, operator: '<' | '>' | '>=', number: string): Expression =>
  match({ field }, { kind: 'compare', operator, number })
const and = (...operands: Expression[]): Expression => ({ op: 'and', operands })
const or = (...operands: Expression[]): Expression => ({ op: 'or', operands })
const not = (operand: Expression): Expression => ({ op: 'not', operand })

describe('parseQuery', () => {
  const valid: readonly [string, Expression | undefined][] = [
    ['', undefined],
    ['  ', undefined],
    ['error', words('error')],
    ['Error Timeout', and(words('error'), words('timeout'))],
    ['a AND b', and(words('a'), words('b'))],
    ['a OR b c', or(words('a'), and(words('b'), words('c')))],
    ['(a OR b) c', and(or(words('a'), words('b')), words('c'))],
    ['NOT a b', and(not(words('a')), words('b'))],
    ['NOT NOT a', not(not(words('a')))],
    ['and or not', and(words('and'), words('or'), words('not'))],
    ['ANDROID', words('android')],
    ['"connection refused"', words('connection', 'refused')],
    ['"say \\"no\\" \\\\"', words('say', 'no')],
    ['a_b-c', words('a', 'b', 'c')],
    ['"AND"', words('and')],
    ['=>', contains('=>')],
    ['"!!"', contains('!!')],
    ['err*', prefix('err')],
    ['*fused', wildcard(['*', 'fused'], 'open', 'word')],
    ['*efus*', contains('efus')],
    ['*"n ref"*', contains('n ref')],
    ['*', contains('')],
    ['time*out', wildcard(['time', '*', 'out'], 'word', 'word')],
    ['v1.?', wildcard(['v1.', '?'], 'word', 'word')],
    ['?ing', wildcard(['?', 'ing'], 'word', 'word')],
    ['失?x', wildcard(['失', '?', 'x'], 'open', 'word')],
    ['foo-*', wildcard(['foo-', '*'], 'word', 'open')],
    ['a\\-"b c"*d', wildcard(['a-b c', '*', 'd'], 'word', 'word')],
    ['a\\*b', words('a', 'b')],
    ['\\(', contains('(')],
    ['/code=5\\d\\d/', regex('code=5\\d\\d')],
    ['/Error/c', regex('Error', true)],
    ['/a b/ c', and(regex('a b'), words('c'))],
    ['/a\\/b/', regex('a\\/b')],
    ['/api/v1/pods', words('api', 'v1', 'pods')],
    ['case:Error', contains('Error', true)],
    ['case:"Not Found"', contains('Not Found', true)],
    ['log:error', words('error')],
    ['namespace:shop', isOneOf('namespace', ['shop'])],
    [
      'pod:web-*',
      match('pod', {
        kind: 'wildcard',
        pieces: [{ text: 'web-' }, '*'],
        extent: 'value',
        start: 'open',
        end: 'open',
      }),
    ],
    ['pod:/^web/', match('pod', { kind: 'regex', source: '^web', caseSensitive: false })],
    ['container:"a b"', isOneOf('container', ['a b'])],
    ['docker_id:x', isOneOf('dockerId', ['x'])],
    ['labels.app.kubernetes.io/name:web', isOneOf({ label: 'app.kubernetes.io/name' }, ['web'])],
    ['workload:web', match('pod', { kind: 'workload', names: ['web'] })],
    ['10:32:11', words('10', '32', '11')],
    ['http://a/b', words('http', 'a', 'b')],
    ['level:error', own('level', ['error'])],
    ['constructor:x*', own('constructor', ['x', '*'])],
    ['"log":"a b"', match('log', { kind: 'words', words: ['a', 'b'], prefix: false })],
    ['labels."app.kubernetes.io/name":web', isOneOf({ label: 'app.kubernetes.io/name' }, ['web'])],
    ['http.status>=500', compare('http.status', '>=', '500')],
    ['http.status:<-1.5', compare('http.status', '<', '-1.5')],
    ['http.status>1e-3', compare('http.status', '>', '1e-3')],
    ['"http status":>=500', compare('http status', '>=', '500')],
    ['"a b">=5', words('a', 'b', '5')],
    ['a>=b', words('a', 'b')],
    ['größe:x', own('größe', ['x'])],
    ['"a\\"b\\\\c\nd":x', own('a"b\\c\nd', ['x'])],
    ['"":x', own('', ['x'])],
    ['"a"b:x', words('ab', 'x')],
    ['fields.namespace:x', own('namespace', ['x'])],
    ['fields.labels.a:x', own('labels.a', ['x'])],
    ['fields."pod":x', own('pod', ['x'])],
    ['fields.other:x', own('fields.other', ['x'])],
    ['fields.fields.namespace:x', own('fields.namespace', ['x'])],
    ['fields.fields.other:x', own('fields.fields.other', ['x'])],
    ['trace_id:/^5b/', match({ field: 'trace_id' }, { kind: 'regex', source: '^5b', caseSensitive: false })],
    [
      "'; DROP TABLE logs; --",
      and(contains("';"), words('drop'), words('table'), words('logs'), contains('--')),
    ],
  ]
  for (const [text, expected] of valid) {
    it(`reads ${text}`, () => expect(parseQuery(text)).to.deep.equal(expected))
  }

  const invalid: readonly [string, string, number][] = [
    ['(a', 'missing closing parenthesis', 1],
    ['a)', 'unmatched )', 2],
    ['()', 'missing search term before )', 2],
    ['a AND', 'missing search term at the end', 6],
    ['a OR OR b', 'missing search term before OR', 6],
    ['AND a', 'missing search term before AND', 1],
    ['NOT', 'missing search term at the end', 4],
    ['a "b', 'unterminated "', 3],
    ['"b\\', 'unterminated "', 1],
    ['a\\', 'missing character after \\', 2],
    ['pod:', 'missing value after pod:', 4],
    ['case:a*', 'case: expected a non-empty text without wildcards', 1],
    ['a /b(/', 'invalid regular expression: missing closing ): `b(`', 4],
    ['/(?=a)/', 'invalid regular expression: invalid or unsupported Perl syntax: `(?=`', 2],
    ['/(a{10}){101}/', 'invalid regular expression: invalid repeat count: `{101}`', 2],
    ['/((a{100}){100}){100}/', 'invalid regular expression: too large', 2],
    [`/${'a{999}'.repeat(680)}/`, 'invalid regular expression: too large', 2],
    ['/a{999}/ '.repeat(400), 'the regular expressions and wildcards are too large in total', 38],
    ['a?b '.repeat(1000), 'the regular expressions and wildcards are too large in total', 77],
    ['/((abcdef|ghijkl){30}){30}/', 'invalid regular expression: too large', 2],
    ['pod:/a**/', 'invalid regular expression: invalid nested repetition operator: `**`', 6],
    [`${'('.repeat(51)}a`, 'nested more than 50 deep', 51],
    ['NOT '.repeat(51), 'nested more than 50 deep', 201],
    ['a'.repeat(4097), 'longer than 4096 characters', 4097],
  ]
  for (const [text, message, position] of invalid) {
    it(`rejects ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`, () => {
      const expected = { code: 400, reason: 'BadRequest', message: `q: ${message} (at position ${position})` }
      expect(thrownFields(() => parseQuery(text))).to.deep.equal(expected)
    })
  }

  it('parses or rejects any text, and what it parses can be evaluated', () => {
    const unit = fc.constantFrom(
      ...'ab *?"()/\\:.[]{}|^$+-1\'%_',
      'AND ',
      'OR ',
      'NOT ',
      'pod:',
      'case:',
      'é',
      '失',
      '😀',
    )
    const record = {
      timeNs: 0n,
      log: 'ab 1',
      namespace: 'n',
      pod: 'p',
      container: 'c',
      host: '',
      dockerId: '',
    }
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), text => {
        try {
          const expression = parseQuery(text)
          if (expression !== undefined) createExpressionTest(expression)(record)
        } catch (error) {
          if (!(error instanceof Status)) throw error
          expect(error.message).to.match(/^q: .+ \(at position \d+\)$/s)
        }
      }),
      { numRuns: 3000, seed: 8 },
    )
  })
})

describe('parsePhrases', () => {
  const rows: readonly [string, Expression | undefined][] = [
    ['', undefined],
    [' , ,', undefined],
    ['error', prefix('error')],
    ['Connection ref', prefix('connection', 'ref')],
    ['a,b c', or(prefix('a'), prefix('b', 'c'))],
    ['my-', prefix('my')],
    ['a,=>', or(prefix('a'), contains('=>'))],
  ]
  for (const [text, expected] of rows) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parsePhrases(text)).to.deep.equal(expected))
  }
})
