import fc from 'fast-check'
import type { Expression } from './filter/expression.ts'
import type { LogFilter, Scope } from './filter/filter.ts'
import { parsePhrases, parseQuery } from './query-language/parse.ts'
import { words } from './store-test-lines.ts'

const texts = [
  ...words,
  'needle',
  'eedl',
  'absent',
  'erro',
  'imeou',
  'y'.repeat(64),
  'y'.repeat(80),
  'yyy',
  'connection refused',
  'refused conn',
  'time out',
  'error: time',
  'r: t',
  't/o',
  '=>',
  ' ',
  '_b-',
  'ß',
  'ärger',
  '失',
  '接失',
  '😀',
  'DROP',
  "'",
  '"',
  '\\',
  '%',
  '.',
  '*',
  'е́',
]
const sources = [
  'err.r',
  '^error',
  'ok$',
  '50[0-9]',
  '\\d{3}',
  '(time|needle)out?',
  '[^a-z ]{3}',
  '\\bout\\b',
  'x+$',
  'Ä|ß',
  '.',
  'ed{2}le',
  '^\\S+$',
  '\\btime',
  'error\\S+x',
  'GET\\s+\\w+',
  'x\\W5',
  '[!-/]T',
  '[^ -Z]x',
  '[--:]4',
  '[\\]-b]_',
]
const queries = [
  'error timeout',
  'error OR needle',
  'NOT error',
  '"connection refused"',
  '"time out"',
  'err*',
  '*eedl*',
  'con*ion',
  'con*ion*',
  'er?or',
  'a_b*',
  '*rror',
  '失败*',
  '10.0.?.17',
  '*or?x*',
  '10.0.0.*',
  'case:Error',
  '/5\\d3/ NOT timeout',
  'namespace:ns-1 error',
  'pod:web-2*',
  'labels.app:web1',
  'NOT labels.app:web1',
  'labels.a.b/c:*',
  'host:node-? x',
  '(error OR warning) AND NOT (timeout OR ok)',
  'workload:web-3',
  'docker_id:id4',
  '失败',
  'GRÖSSE',
  'größe',
  '=>',
  'container:proxy "GET x"',
  'level:ERROR',
  'level:err* NOT tag:"A=B"',
]

const everything: Expression = { op: 'and', operands: [] }

/** Generates filters of every kind for the lines of store-test-lines.ts. */
export function filters(firstNs: bigint): fc.Arbitrary<LogFilter> {
  const text = fc.constantFrom(...texts)
  const field = fc.constantFrom('namespace' as const, 'pod' as const, 'container' as const, 'host' as const, {
    label: 'app',
  })
  const ownField = fc.constantFrom('level', 'http.status', 'tag', 'missing').map(name => ({ field: name }))
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc.tuple(text, fc.boolean()).map(
      ([value, caseSensitive]): Expression => ({
        op: 'match',
        field: 'log',
        test: { kind: 'contains', text: value, caseSensitive },
      }),
    ),
    fc.tuple(fc.constantFrom(...sources), fc.boolean()).map(
      ([source, caseSensitive]): Expression => ({
        op: 'match',
        field: 'log',
        test: { kind: 'regex', source, caseSensitive },
      }),
    ),
    fc.array(text, { minLength: 1, maxLength: 2 }).map(list => parsePhrases(list.join(',')) ?? everything),
    fc.constantFrom(...queries).map(q => parseQuery(q) ?? everything),
    fc.tuple(field, fc.constantFrom('ns-1', 'web', 'app', 'node', 'web1', '5d9c')).map(
      ([name, value]): Expression => ({
        op: 'match',
        field: name,
        test: { kind: 'contains', text: value, caseSensitive: true },
      }),
    ),
    fc.tuple(field, fc.constantFrom('web', 'ns', 'x2x', 'app')).map(
      ([name, word]): Expression => ({
        op: 'match',
        field: name,
        test: { kind: 'words', words: [word], prefix: true },
      }),
    ),
    fc
      .tuple(
        ownField,
        fc.array(fc.constantFrom('error', 'Error', '503', 'a=b', 'größe "x"'), { maxLength: 3 }),
      )
      .map(([name, values]): Expression => ({ op: 'match', field: name, test: { kind: 'in', values } })),
    fc.tuple(ownField, fc.constantFrom('err', 'R', '50', '=', 'öße "', 'ut'), fc.boolean()).map(
      ([name, value, caseSensitive]): Expression => ({
        op: 'match',
        field: name,
        test: { kind: 'contains', text: value, caseSensitive },
      }),
    ),
    fc
      .array(fc.constantFrom('web-1', 'web-4', 'we'), { minLength: 1 })
      .map((names): Expression => ({ op: 'match', field: 'pod', test: { kind: 'workload', names } })),
    fc
      .array(fc.constantFrom('ns-0', 'ns-3', 'other'))
      .map((values): Expression => ({ op: 'match', field: 'namespace', test: { kind: 'in', values } })),
  )
  const expression: fc.Arbitrary<Expression> = fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: leaf.map((operand): Expression => ({ op: 'not', operand })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom('and' as const, 'or' as const),
          fc.array(
            fc.oneof(
              leaf,
              leaf.map((operand): Expression => ({ op: 'not', operand })),
            ),
            { maxLength: 3 },
          ),
        )
        .map(([op, operands]): Expression => ({ op, operands })),
    },
  )
  const moment = fc.nat(720).map(step => firstNs + BigInt(step) * 370_000_000_000n + BigInt(step % 2))
  const permitted = fc.uniqueArray(
    fc.record({
      namespace: fc.constantFrom('ns-0', 'ns-1', 'ns-2', 'gone'),
      sinceNs: fc.oneof(fc.constant(0n), moment),
    }),
    { selector: ({ namespace }) => namespace },
  )
  const scope: fc.Arbitrary<Scope> = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Scope>('everything') },
    { weight: 1, arbitrary: permitted },
  )
  return fc.record({ scope, startNs: moment, endNs: moment, expression }, { requiredKeys: ['scope'] })
}
