import { expect } from 'chai'
import fc from 'fast-check'
import type { Expression } from './expression.ts'
import type { Fields } from './fields.ts'
import type { LogFilter, Scope } from './filter.ts'
import { defaultLimits } from './ingest/limits.ts'
import { bucketStart, fillBuckets, parseInterval } from './interval.ts'
import { createMatcher } from './matcher.ts'
import { toDocument } from './opensearch/document.ts'
import { parsePhrases, parseQuery } from './query-language/parse.ts'
import type { LogRecord } from './record.ts'
import type { LogStore, Order } from './store.ts'

/**
 * The same lines and the same questions for every store: what it answers is compared with going through all lines one by
 * one.
 *
 * @param firstNs the moment of the first line; the lines are of this day and the two after it
 * @param untilFound waits until what was stored is found
 */
export function testLogStore(
  open: () => Promise<LogStore>,
  firstNs: bigint,
  runs: number,
  untilFound?: () => Promise<void>,
): void {
  const lines = makeLines(firstNs, 3000)
  const limits = { timeoutMs: 20_000 }
  let store: LogStore

  before(async function () {
    this.timeout(60_000)
    store = await open()
    // In disorder, as several nodes send them: each batch is a stretch of the lines, the stretches are shuffled.
    for (let at = 0; at < lines.length; at += 250) {
      const records = lines.slice(at, at + 250)
      if (at % 500 === 0) await store.append({ records })
      else {
        // Pairs of labels are for the search engine alone.
        const toText = (record: LogRecord) =>
          JSON.stringify(toDocument(record), (name, value) => (name === 'label_pairs' ? undefined : value))
        const body = Buffer.from(records.map(toText).join('\n'))
        const { taken } = await store.ingest({ protocol: 'jsonlines', body, limits: defaultLimits })
        expect(taken).to.equal(records.length)
      }
    }
    await untilFound?.()
  })
  after(() => store.close())

  const matching = (filter: LogFilter, order: Order): readonly LogRecord[] => {
    const ascending = lines.filter(createMatcher(filter)).sort((a, b) => Number(a.timeNs - b.timeNs))
    return order === 'asc' ? ascending : ascending.reverse()
  }
  const check = (property: (filter: LogFilter, order: Order, from: number, size: number) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(
        filters(firstNs),
        fc.constantFrom<Order>('asc', 'desc'),
        fc.nat(30),
        fc.nat(25),
        property,
      ),
      { numRuns: runs, seed: 8 },
    )

  it('finds the same records, in the same order, with the same total', async function () {
    this.timeout(120_000)
    await check(async (filter, order, from, size) => {
      const expected = matching(filter, order)
      const query = { filter, order, size, start: { from }, withTotal: true }
      const { total, hits } = await store.query(query, limits)
      expect(total).to.equal(expected.length)
      expect(hits.map(({ record }) => record)).to.deep.equal(expected.slice(from, from + size))
    })
  })

  it('goes on after a cursor without leaving out or repeating anything', async function () {
    this.timeout(120_000)
    await check(async (filter, order, from) => {
      const expected = matching(filter, order)
      const size = Math.max(Math.ceil(expected.length / 4), from, 1)
      const found: LogRecord[] = []
      let start: { from: number } | { after: string } = { from: 0 }
      for (let page = 0; page < 6; page += 1) {
        const { hits } = await store.query({ filter, order, size, start, withTotal: false }, limits)
        found.push(...hits.map(({ record }) => record))
        const last = hits.at(-1)
        if (last === undefined) break
        start = { after: last.cursor }
      }
      expect(found).to.deep.equal(expected)
    })
  })

  it('counts the same', async function () {
    this.timeout(120_000)
    const interval = parseInterval('2h')
    await check(async filter => {
      const expected = matching(filter, 'asc')
      const containers = new Set(expected.map(({ dockerId }) => dockerId).filter(id => id !== ''))
      expect(await store.statistics(filter, limits)).to.deep.equal({
        containers: containers.size,
        logs: expected.length,
      })
      const counts = new Map<number, number>()
      for (const { timeNs } of expected) {
        const start = bucketStart(interval, Number(timeNs / 1_000_000n))
        counts.set(start, (counts.get(start) ?? 0) + 1)
      }
      expect(await store.histogram(filter, interval, limits)).to.deep.equal({
        total: expected.length,
        buckets: fillBuckets(interval, counts, 10_000),
      })
    })
  })
}

const words = [
  'error',
  'Error',
  'warning',
  'timeout',
  'time',
  'out',
  'connection',
  'refused',
  'GET',
  'ok',
  'x',
  '5',
  '503',
]
const odd = [
  'a_b-c',
  '=>',
  '10.0.0.17:443',
  'ÄRGER',
  'größe',
  '连接失败',
  '😀',
  "'; DROP TABLE x; --",
  '"quoted"',
  '\\d+',
  '%_',
  '{"a":1}',
  'е́',
]
const separators = [' ', ' ', ' ', ': ', '/', '_', '  ']

/** The same lines each time. */
function makeLines(firstNs: bigint, count: number): LogRecord[] {
  let seed = 42
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const pick = <T>(list: readonly T[], otherwise: T): T => list[next(list.length)] ?? otherwise
  const lines = Array.from({ length: count }, (_, i): LogRecord => {
    const parts = Array.from({ length: 1 + next(7) }, () => [
      pick(next(4) === 0 ? odd : words, 'x'),
      pick(separators, ' '),
    ])
    const pod = next(12)
    // Several lines share a moment, and some lie a nanosecond apart.
    const timeNs = firstNs + BigInt(next(700)) * 370_000_000_000n + BigInt(next(2))
    const text = `${parts.flat().join('')}${i % 500 === 7 ? 'needle' : ''}${i % 700 === 3 ? 'y'.repeat(100) : ''}`
    return {
      timeNs,
      log: next(3) === 0 ? text : `${text}\n`,
      namespace: `ns-${pod % 4}`,
      pod: `web-${pod % 6}-5d9c7b8f6-x2x${pod % 6}z`,
      container: pod % 2 === 0 ? 'app' : 'proxy',
      host: `node-${pod % 3}`,
      dockerId: pod === 11 ? '' : `id${pod}`,
      ...(pod % 5 === 0 ? {} : { labels: { app: `web${pod % 2}`, 'a.b/c': 'd' } }),
      // Those that are appended as records (see above).
      ...(i % 500 >= 250 || i % 3 === 0 ? {} : { fields: fieldsOf(next(8)) }),
    }
  })
  return lines
}

const fieldsOf = (kind: number): Fields => ({
  level: ['info', 'Error', 'error', 'warn'][kind % 4] ?? '',
  'http.status': 500 + kind,
  ...(kind % 2 === 0 ? { tag: ['a=b', 'größe "x"', 'time out'].slice(0, 1 + (kind % 3)) } : {}),
  // Elasticsearch takes none of these for the name of a field that it indexes.
  ...(kind === 3 ? { '': 'empty', ' ': 'blank', '.': 1, 'a.': true, '.a': ['b', 2], 'a..b': 1.5 } : {}),
})

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

function filters(firstNs: bigint): fc.Arbitrary<LogFilter> {
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
