import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import fc from 'fast-check'
import { hasJava } from '../../hack/opensearch/command.ts'
import { findEngine } from '../../hack/opensearch/engines.ts'
import { rejectedStatus } from '../../pkg/apierrors/fixtures.ts'
import { allOf, anyOf, type Expression, isOneOf, match } from '../../pkg/logs/filter/expression.ts'
import type { LogFilter, Scope } from '../../pkg/logs/filter/filter.ts'
import { wordsOf } from '../../pkg/logs/filter/words.ts'
import { createMemoryStore, record } from '../../pkg/logs/fixtures.ts'
import { createOpenSearchStore } from '../../pkg/logs/opensearch/store.ts'
import type { Field, LogRecord } from '../../pkg/logs/record.ts'
import type { LogStore, Order } from '../../pkg/logs/store.ts'
import { testLogStore } from '../../pkg/logs/store-test-suite.ts'
import { createTimeSlices } from '../../pkg/scheduling/time-slices.ts'
import { createLogger } from '../../pkg/telemetry/logger.ts'
import { type OpenSearch, startOpenSearch } from './open-search.ts'

const limits = { timeoutMs: 20_000 }
/** Number of random queries; larger in `make test-stores`, which sets STORE. */
const questions = process.env.STORE ? 400 : 40
const second = 1_000_000_000n
const startS = 1_789_600_000n
const vocabulary = [
  'error',
  'Error',
  'timeout',
  'a_b',
  '10.0.0.1',
  'straße',
  'ÉTÉ',
  '日本',
  'x',
  'GET',
  'path="/a"',
  '*',
  '\\',
  '50%',
]

describe('the OpenSearch store compared to a scan of every record', function () {
  this.timeout(400_000)

  let engine: OpenSearch | undefined
  let store: LogStore
  let other: LogStore
  const memory = createMemoryStore()
  const openOf = (prefix: string, url = engine?.url ?? '') =>
    createOpenSearchStore({
      engine: { url, username: '', ca: '' },
      credentials: { password: '', apiKey: '' },
      prefix,
      logger: createLogger({ program: 'test', level: 'error' }),
      timeSlices: createTimeSlices(),
    })
  const refresh = async () => {
    await fetch(`${engine?.url}/_refresh`, { method: 'POST' })
  }
  const put = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${engine?.url}${path}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    })
    expect(response.status, path).to.equal(200)
  }

  before(async function () {
    if (!hasJava()) this.skip()
    engine = await startOpenSearch()
    store = openOf('conformance')
    other = openOf('conformance', 'http://127.0.0.1:9')
    const records = fc.sample(arbitraryRecord, { numRuns: 600, seed: 7 })
    for (let at = 0; at < records.length; at += 100) {
      const batch = { records: records.slice(at, at + 100) }
      expect(await store.append(batch)).to.deep.equal({ duplicate: false, rejected: [] })
      // Sent again, as after a lost response.
      expect((await store.append(batch)).duplicate).to.equal(true)
      await memory.append(batch)
    }
    await refresh()
  })

  after(async () => {
    await Promise.all([store?.close(), other?.close()])
    await engine?.stop()
  })

  it('finds the same records in the same order, with the same totals', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryFilter, arbitraryPage, async (filter, page) => {
        const query = { filter, ...page, withTotal: true }
        const [found, expected] = await Promise.all([store.query(query, limits), memory.query(query, limits)])
        expect(found.total).to.equal(expected.total)
        expect(found.hits.map(hit => hit.record)).to.deep.equal(expected.hits.map(hit => hit.record))
      }),
      { numRuns: questions, seed: 11 },
    )
  })

  it('returns the same counts', async () => {
    const intervals = [
      { kind: 'fixed', ms: 3_600_000 },
      { kind: 'fixed', ms: 7_000 },
      { kind: 'week' },
      { kind: 'months', months: 1 },
      { kind: 'months', months: 3 },
      { kind: 'months', months: 12 },
    ] as const
    await fc.assert(
      fc.asyncProperty(arbitraryFilter, fc.constantFrom(...intervals), async (filter, interval) => {
        const coarse =
          interval.kind === 'fixed' && interval.ms < 60_000
            ? { ...filter, endNs: (startS + 60n) * second }
            : filter
        expect(await store.statistics(filter, limits)).to.deep.equal(await memory.statistics(filter, limits))
        const [found, expected] = [store, memory].map(each => each.histogram(coarse, interval, limits))
        expect(await found).to.deep.equal(await expected)
      }),
      { numRuns: questions / 5, seed: 13 },
    )
  })

  for (const order of ['asc', 'desc'] as const) {
    it(`returns each record once by cursor, ${order}`, async () => {
      const filter = { scope: 'everything' } as const
      const all = await memory.query(
        { filter, order, size: 1000, start: { from: 0 }, withTotal: true },
        limits,
      )
      const read: LogRecord[] = []
      let start: { from: number } | { after: string } = { from: 0 }
      for (;;) {
        const { hits } = await store.query({ filter, order, size: 37, start, withTotal: false }, limits)
        read.push(...hits.map(hit => hit.record))
        const last = hits.at(-1)
        if (last === undefined) break
        start = { after: last.cursor }
      }
      expect(read).to.deep.equal(all.hits.map(hit => hit.record))
    })
  }

  describe('with the lines and the queries of the embedded store', () => {
    testLogStore(async () => openOf('same-lines'), startS * second, questions / 4, refresh)
  })

  it('returns each line with the same time once, in an index of several shards', async () => {
    const sharded = openOf('sharded')
    const names = ['sharded-2026.11.20', 'sharded-2026.11.21']
    for (const name of names) await put(`/${name}`, { settings: { number_of_shards: 3 } })
    try {
      const records = Array.from({ length: 400 }, (_, i) =>
        record({ timeNs: i % 100 === 99 ? 1_795_168_801n * second : 1_795_168_800n * second, log: `${i}` }),
      )
      for (let at = 0; at < records.length; at += 50)
        await sharded.append({ records: records.slice(at, at + 50) })
      await refresh()
      for (const order of ['asc', 'desc'] as const) {
        const whole = { filter: { scope: 'everything' }, order, size: 400, withTotal: false } as const
        const all = await sharded.query({ ...whole, start: { from: 0 } }, limits)
        const inOrder = all.hits.map(hit => hit.record.log)
        expect(new Set(inOrder).size).to.equal(400)
        expect(new Set(all.hits.map(hit => hit.cursor)).size).to.equal(400)
        for (const size of [7, 100]) {
          const read: string[] = []
          let start: { from: number } | { after: string } = { from: 0 }
          for (;;) {
            const { hits } = await sharded.query({ ...whole, size, start }, limits)
            read.push(...hits.map(hit => hit.record.log))
            const last = hits.at(-1)
            if (last === undefined) break
            start = { after: last.cursor }
          }
          expect(read, `${order} ${size}`).to.deep.equal(inOrder)
        }
        // A page that was requested by its number can be continued by its cursor.
        const later = await sharded.query({ ...whole, size: 5, start: { from: 50 } }, limits)
        expect(later.hits).to.deep.equal(all.hits.slice(50, 55))
      }
    } finally {
      await sharded.close()
    }
  })

  it('returns ten thousand lines after a cursor', async () => {
    const many = openOf('many')
    try {
      const records = Array.from({ length: 10_010 }, (_, i) =>
        record({ timeNs: startS * second + BigInt(i), log: `${i}` }),
      )
      await many.append({ records })
      await refresh()
      const query = { filter: { scope: 'everything' }, order: 'asc', withTotal: false } as const
      const { hits: first } = await many.query({ ...query, size: 3, start: { from: 0 } }, limits)
      const start = { after: first[2]?.cursor ?? '' }
      const { hits } = await many.query({ ...query, size: 10_000, start }, limits)
      expect(hits.map(hit => hit.record.log)).to.deep.equal(records.slice(3, 10_003).map(({ log }) => log))
    } finally {
      await many.close()
    }
  })

  it('does not reject lines when the engine cannot add a shard', async () => {
    const full = openOf('full')
    const limit = (value: number | null) =>
      put('/_cluster/settings', { persistent: { 'cluster.max_shards_per_node': value } })
    await limit(1)
    try {
      const { code, message, headers } = await rejectedStatus(full.append({ records: [record()] }))
      expect([code, headers['retry-after']]).to.deep.equal([503, '5'])
      expect(message).to.match(/^the log store responded with 400: validation_exception: .*maximum .*shards/)
      await limit(null)
      expect(await full.append({ records: [record()] })).to.deep.equal({ duplicate: false, rejected: [] })
    } finally {
      await limit(null)
      await full.close()
    }
  })

  it('supports 10,000 namespaces, each from its creation on', async function () {
    if (!findEngine().hasScripts) this.skip()
    const scope = Array.from({ length: 10_000 }, (_, i) => ({
      namespace: i < 5 ? `ns-${i}` : `other-${i}`,
      sinceNs: (startS + BigInt(i * 7)) * second,
    }))
    for (const filter of [{ scope }, { scope, startNs: (startS + 90_000n) * second }]) {
      const query = { filter, order: 'asc', size: 1000, start: { from: 0 }, withTotal: true } as const
      const [found, expected] = [await store.query(query, limits), await memory.query(query, limits)]
      expect(found.total).to.equal(expected.total).and.to.be.greaterThan(0)
      expect(found.hits.map(hit => hit.record)).to.deep.equal(expected.hits.map(hit => hit.record))
    }
  })

  it('deletes only its own expired indices', async () => {
    const url = engine?.url ?? ''
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '.')
    const [old, stays] = [
      ['events.lapse-2020.01.01', 'events.lapse-2020.12.31'],
      [
        `events.lapse-${today}`,
        'events.lapse-2020.01.01-copy',
        'events.lapse-archive-2020.01.01',
        'events.lapse2-2020.01.01',
        'lapse-2020.01.01',
      ],
    ]
    for (const name of [...old, ...stays]) {
      expect((await fetch(`${url}/${name}`, { method: 'PUT' })).status, name).to.equal(200)
    }
    const expiring = createOpenSearchStore({
      engine: { url, username: '', ca: '' },
      credentials: { password: '', apiKey: '' },
      prefix: 'events.lapse',
      logger: createLogger({ program: 'test', level: 'error' }),
      timeSlices: createTimeSlices(),
      retentionDays: 2,
    })
    try {
      const there = async (): Promise<readonly string[]> =>
        Object.keys((await (await fetch(`${url}/*lapse*/_alias`)).json()) as object).sort()
      for (const until = Date.now() + 60_000; (await there()).length > stays.length && Date.now() < until; )
        await sleep(100)
      expect(await there()).to.deep.equal(stays.toSorted())
    } finally {
      await expiring.close()
    }
  })

  it('finds what Fluent Bit has stored directly', async () => {
    const document = {
      '@timestamp': '2026-11-20T10:00:00.123Z',
      time: '2026-11-20T10:00:00.123456789Z',
      log: 'collected before Kapis came\n',
      kubernetes: {
        namespace_name: 'old',
        pod_name: 'p-0',
        container_name: 'c',
        docker_id: 'd',
        labels: { app: 'p' },
      },
    }
    const body = JSON.stringify(document)
    const headers = { 'content-type': 'application/json' }
    await fetch(`${engine?.url}/_index_template/kapis-conformance`, { method: 'DELETE' })
    await fetch(`${engine?.url}/conformance-2026.11.20/_doc?refresh=true`, { method: 'POST', headers, body })
    const expressions = [
      match('log', { kind: 'words', words: ['collected', 'bef'], prefix: true }),
      match('log', { kind: 'contains', text: 'ED BEFORE K', caseSensitive: false }),
      match('log', { kind: 'regex', source: '^coll.*came$', caseSensitive: true }),
      isOneOf('namespace', ['old']),
      match('pod', { kind: 'workload', names: ['p'] }),
      isOneOf({ label: 'app' }, ['p']),
    ]
    for (const expression of expressions) {
      const filter = { scope: [{ namespace: 'old', sinceNs: 0n }], expression }
      const query = { filter, order: 'desc', size: 10, start: { from: 0 }, withTotal: true } as const
      const { hits } = await store.query(query, limits)
      expect(hits.map(hit => [hit.record.timeNs, hit.record.labels])).to.deep.equal([
        [1_795_168_800_123_456_789n, { app: 'p' }],
      ])
    }
  })

  it('ends a query at its time limit', async () => {
    const costly = openOf('costly')
    try {
      const records = Array.from({ length: 10_000 }, (_, i) =>
        record({ timeNs: startS * second, log: createHash('sha512').update(`${i}`).digest('hex').repeat(4) }),
      )
      // In several batches, since a busy engine takes long for all records together.
      for (let at = 0; at < records.length; at += 1_000)
        await costly.append({ records: records.slice(at, at + 1_000) })
      await refresh()
      // The query has enough values to take longer than 200 ms, the interval in which an engine
      // checks its time limit.
      const endings = [...'ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ']
      const expression = anyOf(
        endings.map(end =>
          match('log', { kind: 'regex', source: `(a.*b.*c.*){8}${end}`, caseSensitive: true }),
        ),
      )
      const query = { filter: { scope: 'everything', expression }, order: 'desc', size: 1 } as const
      const asked = costly.query({ ...query, start: { from: 0 }, withTotal: true }, { timeoutMs: 20 })
      const { code, message } = await rejectedStatus(asked)
      expect([code, message]).to.deep.equal([504, 'the log query timed out'])
    } finally {
      await costly.close()
    }
  })

  it('reports that the engine is unreachable', async () => {
    const query = {
      filter: { scope: 'everything' },
      order: 'desc',
      size: 1,
      start: { from: 0 },
      withTotal: true,
    } as const
    const { code, message, headers } = await rejectedStatus(other.query(query, limits))
    expect([code, message, headers['retry-after']]).to.deep.equal([
      503,
      'the log store is not responding',
      '5',
    ])
    expect(await rejectedStatus(other.append({ records: [record()] }))).to.have.property('code', 503)
    expect(await other.check()).to.equal('the log store is not responding')
    expect(await store.check()).to.equal(undefined)
  })

  it('returns new lines', async () => {
    const end = new AbortController()
    const filter = { scope: 'everything', expression: isOneOf('pod', ['tailed-0']) } as const
    const arriving = (async () => {
      for await (const hits of store.follow(filter, end.signal)) return hits.map(hit => hit.record.log)
      return []
    })()
    const timer = setInterval(async () => {
      const timeNs = BigInt(Date.now()) * 1_000_000n
      await store.append({ records: [record({ timeNs, pod: 'tailed-0', log: 'new' })] })
    }, 1500)
    try {
      expect((await arriving)[0]).to.equal('new')
    } finally {
      clearInterval(timer)
      end.abort()
    }
  })
})

const arbitraryText = fc
  .array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 6 })
  .chain(words => fc.constantFrom(' ', ': ', '\n', '').map(separator => words.join(separator)))

const arbitraryRecord: fc.Arbitrary<LogRecord> = fc
  .record({
    // Few distinct times, so that many records have the same time.
    at: fc.integer({ min: 0, max: 40 }),
    nano: fc.constantFrom(0n, 1n, 999_999_999n),
    log: arbitraryText,
    namespace: fc.constantFrom('ns-0', 'ns-1', 'ns-2', 'Ns-3'),
    pod: fc.constantFrom('web-0', 'web-7d9f5b7c4d-abcde', 'web-api-x2x4z', 'batch-12'),
    container: fc.constantFrom('main', 'side-car'),
    labels: fc.constantFrom(undefined, { app: 'web' }, { app: 'web-front', 'app.kubernetes.io/name': 'API' }),
  })
  .map(({ at, nano, labels, ...given }) =>
    record({
      ...given,
      timeNs: (startS + BigInt(at * 3_000)) * second + nano,
      // A record without an ID belongs to no container.
      dockerId: given.pod === 'batch-12' ? '' : `${given.pod}-${given.container}`,
      ...(labels ? { labels } : {}),
    }),
  )

const arbitraryTest = fc.oneof(
  arbitraryText.map(text => ({ kind: 'words', words: wordsOf(text), prefix: false }) as const),
  fc
    .tuple(fc.constantFrom(...vocabulary), fc.integer({ min: 1, max: 3 }))
    .map(
      ([text, length]) => ({ kind: 'words', words: wordsOf(text.slice(0, length)), prefix: true }) as const,
    ),
  fc
    .tuple(arbitraryText, fc.nat({ max: 5 }), fc.boolean())
    .map(
      ([text, at, caseSensitive]) =>
        ({ kind: 'contains', text: text.slice(at, at + 6) || 'x', caseSensitive }) as const,
    ),
  fc
    .tuple(
      fc.constantFrom(
        '^err',
        'T$',
        '[a-e]{3}',
        'o+',
        '\\d+\\.\\d',
        'é|日',
        '(x|GET) ?',
        '^[^E]*$',
        'path=".a"',
      ),
      fc.boolean(),
    )
    .map(([source, caseSensitive]) => ({ kind: 'regex', source, caseSensitive }) as const),
)

const names: readonly Exclude<Field, object>[] = ['namespace', 'pod', 'container']
const arbitraryMatch: fc.Arbitrary<Expression> = fc.oneof(
  arbitraryTest.map(test => match('log', test)),
  fc
    .tuple(fc.constantFrom(...names), fc.constantFrom('ns-1', 'web-0', 'main', 'Ns-3', 'none'))
    .map(([field, value]) => isOneOf(field, [value, 'ns-2'])),
  fc
    .tuple(fc.constantFrom(...names), fc.constantFrom('web', 'si', 'ns', 'WEB-', 'api'), fc.boolean())
    .map(([field, text, caseSensitive]) => match(field, { kind: 'contains', text, caseSensitive })),
  fc
    .constantFrom('web', 'web-api', 'batch', 'web-0')
    .map(name => match('pod', { kind: 'workload', names: [name] })),
  fc.constantFrom('web', 'API', 'web-front').map(value => isOneOf({ label: 'app' }, [value])),
  fc
    .constantFrom('web', 'front', 'WEB')
    .map(word => match({ label: 'app' }, { kind: 'words', words: wordsOf(word), prefix: false })),
  fc
    .constantFrom('api', 'eb')
    .map(text =>
      match({ label: 'app.kubernetes.io/name' }, { kind: 'contains', text, caseSensitive: false }),
    ),
)

const { expression: arbitraryExpression } = fc.letrec<{ expression: Expression }>(tie => ({
  expression: fc.oneof(
    { depthSize: 'small' },
    arbitraryMatch,
    tie('expression').map(operand => ({ op: 'not', operand }) as const),
    fc
      .array(tie('expression'), { minLength: 1, maxLength: 3 })
      .map(operands => allOf(operands) ?? operands[0])
      .filter(e => e !== undefined),
    fc.array(tie('expression'), { maxLength: 3 }).map(anyOf),
  ),
}))

const arbitraryScope: fc.Arbitrary<Scope> = fc.oneof(
  fc.constant('everything' as const),
  fc.uniqueArray(
    fc.record({
      namespace: fc.constantFrom('ns-0', 'ns-1', 'ns-2', 'Ns-3', 'ns-9'),
      sinceNs: fc.integer({ min: -10, max: 130_000 }).map(at => (startS + BigInt(at)) * second),
    }),
    { selector: ({ namespace }) => namespace, minLength: 1 },
  ),
)

const arbitraryMoment = fc.nat({ max: 40 }).map(at => at * 3_000)

const arbitraryFilter: fc.Arbitrary<LogFilter> = fc
  .record({
    scope: arbitraryScope,
    // Some starts equal the time of a record, and some ranges end long after the last one.
    start: fc.option(fc.oneof(fc.integer({ min: -10, max: 120_000 }), arbitraryMoment)),
    length: fc.option(fc.oneof(fc.nat({ max: 100_000 }), arbitraryMoment, fc.constant(8_000_000_000))),
    expression: fc.option(arbitraryExpression),
  })
  .map(({ scope, start, length, expression }) => ({
    scope,
    ...(start === null ? {} : { startNs: (startS + BigInt(start)) * second }),
    ...(length === null ? {} : { endNs: (startS + BigInt((start ?? 0) + length)) * second }),
    ...(expression === null ? {} : { expression }),
  }))

const arbitraryPage = fc.record({
  order: fc.constantFrom<Order>('asc', 'desc'),
  size: fc.integer({ min: 0, max: 50 }),
  start: fc.nat({ max: 20 }).map(from => ({ from })),
})
