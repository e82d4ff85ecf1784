import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type GetOptions, type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { createMemoryStore, record } from '../../logs/fixtures.ts'
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import type { LogStore } from '../../logs/store.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { unlimitedConcurrency } from '../logs/fixtures.ts'
import { createLogsqlApi, type LogsqlOptions, logsqlEndpoints } from './serve.ts'

const base = 1_700_000_000
const at = (seconds: number) => BigInt(base + seconds) * 1_000_000_000n
const records = [
  record({ timeNs: at(0), log: 'one error', fields: { level: 'error', took: 5 } }),
  record({ timeNs: at(60), log: 'two', fields: { level: 'info', took: 7 } }),
  record({
    timeNs: at(61),
    log: 'secret error',
    namespace: 'bank',
    pod: 'vault-0',
    fields: { level: 'secret' },
  }),
  // A line of a deleted namespace with the same name.
  record({ timeNs: at(-5000), log: 'old error', pod: 'old-0' }),
]
const stream = '{container="web",namespace="shop",pod="web-0"}'

describe('createLogsqlApi', () => {
  let loopback: Loopback | undefined
  let closing = new AbortController()
  let left = 0
  afterEach(() => loopback?.close())

  async function start(readable: ReadableNamespaces, given: Partial<LogsqlOptions> = {}): Promise<void> {
    closing = new AbortController()
    left = 0
    const api = createLogsqlApi({
      store: createMemoryStore(records),
      readable: async () => readable,
      created: () => new Map([['shop', base - 100]]),
      limits: () => ({ queryTimeoutSeconds: 60, exportLimit: 0 }),
      closing: closing.signal,
      concurrency: unlimitedConcurrency,
      timeSlices: createTimeSlices(),
      readForm: async ({ rawQuery }) => new QueryParameters(rawQuery),
      enter: () => ({
        leave: () => {
          left += 1
        },
      }),
      ...given,
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await api(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  }

  async function send(endpoint: string, parameters: Record<string, string>, options: GetOptions = {}) {
    const path = `/kapis/logging.kapis.io/v1alpha2/select/logsql/${endpoint}?${new URLSearchParams(parameters)}`
    const { code, text = '', headers = {} } = (await loopback?.get(path, options)) ?? {}
    return { code, text, headers }
  }

  it('returns rows as JSON, one per line, with all their fields', async () => {
    await start('everywhere')
    const { code, text, headers } = await send('query', { query: 'two' })
    expect(code).to.equal(200)
    expect(headers['content-type']).to.equal('application/stream+json')
    const { _stream_id: id, ...row } = JSON.parse(text)
    expect(id).to.match(/^0{16}[0-9a-f]{32}$/)
    expect(row).to.deep.equal({
      ...{ _msg: 'two', _stream: stream, _time: '2023-11-14T22:14:20Z', container: 'web' },
      ...{ docker_id: 'shop/web-0/web', host: 'worker-1', level: 'info', namespace: 'shop', pod: 'web-0' },
      took: '7',
    })
    expect(left).to.equal(1)
  })

  it('returns the newest rows up to a limit, and those after an offset', async () => {
    await start('everywhere')
    const rows = async (parameters: Record<string, string>) =>
      (await send('query', { query: '* | fields _msg', ...parameters })).text
    expect(await rows({ limit: '1' })).to.equal('{"_msg":"secret error"}\n')
    expect(await rows({ limit: '2', offset: '1' })).to.equal('{"_msg":"two"}\n{"_msg":"one error"}\n')
    expect(await rows({ start: String(base), end: String(base + 60) })).to.equal('{"_msg":"one error"}\n')
    expect(await rows({ extra_filters: '{"level":["info"]}' })).to.equal('{"_msg":"two"}\n')
  })

  it('returns nothing that the caller may not see, at any endpoint', async () => {
    const query = '* | stats by (namespace, level) count() as n'
    const span = { start: String(base - 10_000), end: String(base + 10_000), step: '1h' }
    const all: Readonly<Record<string, Record<string, string>>> = {
      query: { query: '*' },
      hits: { query: '*', field: 'namespace', ...span },
      facets: { query: '*', keep_const_fields: '1' },
      field_names: { query: '*' },
      field_values: { query: '*', field: 'pod' },
      streams: { query: '*' },
      stream_ids: { query: '*' },
      stream_field_names: { query: '*' },
      stream_field_values: { query: '*', field: 'namespace' },
      stats_query: { query },
      stats_query_range: { query, ...span },
    }
    expect(Object.keys(all).sort()).to.deep.equal(logsqlEndpoints.filter(name => name !== 'tail').toSorted())
    for (const [endpoint, parameters] of Object.entries(all)) {
      await start(['shop'])
      const { code, text } = await send(endpoint, parameters)
      expect(code, endpoint).to.equal(200)
      expect(text, endpoint).not.to.match(/bank|vault|secret|old/)
      // Only the two visible lines may be counted.
      if (/hits/.test(text)) expect(text, endpoint).not.to.match(/"(?:hits|total)":[34]/)
      await loopback?.close()
      await start([])
      const none = await send(endpoint, parameters)
      expect(none.code, endpoint).to.equal(200)
      expect(none.text, endpoint).not.to.match(/shop|web|error|info/)
      await loopback?.close()
    }
  })

  it('does not extend the visible lines by a filter', async () => {
    await start(['shop'])
    for (const query of [
      'namespace:=bank',
      '{namespace="bank"}',
      'not namespace:shop',
      '-{namespace="shop"}',
    ])
      expect(await send('query', { query }), query).to.include({ code: 200, text: '' })
    expect(
      (await send('query', { query: 'error | fields _msg', extra_filters: 'namespace:bank or *' })).text,
    ).to.equal('{"_msg":"one error"}\n')
  })

  it('counts by time, including empty steps', async () => {
    await start('everywhere')
    const span = { start: String(base - 20), end: String(base + 120), step: '1m', field: 'namespace' }
    expect(JSON.parse((await send('hits', { query: '*', ...span })).text)).to.deep.equal({
      hits: [
        {
          fields: { namespace: 'bank' },
          timestamps: ['2023-11-14T22:13:00Z', '2023-11-14T22:14:00Z', '2023-11-14T22:15:00Z'],
          values: [0, 1, 0],
          total: 1,
        },
        {
          fields: { namespace: 'shop' },
          timestamps: ['2023-11-14T22:13:00Z', '2023-11-14T22:14:00Z', '2023-11-14T22:15:00Z'],
          values: [1, 1, 0],
          total: 2,
        },
      ],
    })
  })

  it('returns stats in the format of Prometheus', async () => {
    await start(['shop'])
    const query = '* | stats by (level) count() as n, sum(took) as s'
    const time = String(base + 1000)
    expect(JSON.parse((await send('stats_query', { query, time })).text)).to.deep.equal({
      status: 'success',
      data: {
        resultType: 'vector',
        result: [
          { metric: { __name__: 'n', level: 'info' }, value: [base + 1000, '1'] },
          { metric: { __name__: 's', level: 'info' }, value: [base + 1000, '7'] },
          { metric: { __name__: 'n', level: 'error' }, value: [base + 1000, '1'] },
          { metric: { __name__: 's', level: 'error' }, value: [base + 1000, '5'] },
        ],
      },
    })
    const range = {
      query: '* | stats count() as n',
      step: '1m',
      start: String(base),
      end: String(base + 100),
    }
    expect(JSON.parse((await send('stats_query_range', range)).text).data.result).to.deep.equal([
      {
        metric: { __name__: 'n' },
        values: [
          [base - 20, '1'],
          [base + 40, '1'],
        ],
      },
    ])
  })

  it('returns metrics of groups without a value, and of missing values', async () => {
    await start('everywhere')
    const query = '* | stats by (level) count() as n, max(took) as m | filter n:=1 | sort by (level)'
    const { data } = JSON.parse((await send('stats_query', { query, time: '0' })).text)
    expect(data.result).to.deep.equal(
      [
        ['', 'n', '1'],
        ['', 'm', ''],
        ['error', 'n', '1'],
        ['error', 'm', '5'],
        ['info', 'n', '1'],
        ['info', 'm', '7'],
        ['secret', 'n', '1'],
        ['secret', 'm', ''],
      ].map(([level, name, value]) => ({ metric: { __name__: name, level }, value: [0, value] })),
    )
  })

  it('builds long responses in time slices, and stops when the client disconnects', async () => {
    const span = { start: String(base), end: String(base + 190_000), step: '1s' }
    const long: readonly (readonly [string, Record<string, string>])[] = [
      ['hits', { query: '*', ...span }],
      ['facets', { query: '*', max_values_per_field: '50000', limit: '50000' }],
      ['field_values', { query: '*', field: 'n' }],
      ['stats_query', { query: '* | stats by (n) count() c' }],
      ['stats_query_range', { query: '* | stats count() c', ...span }],
    ]
    const many = Array.from({ length: 900 }, (_, i) =>
      record({ timeNs: at(i), log: 'x', fields: { n: `${i % 10} ${i}` } }),
    )
    for (const [endpoint, parameters] of long) {
      let turns = 0
      const timeSlices = {
        sliceMs: 0,
        next: async () => {
          turns += 1
        },
      }
      await start('everywhere', { store: createMemoryStore(many), timeSlices })
      expect((await send(endpoint, parameters)).code, endpoint).to.equal(200)
      // One time slice per line, and more for the processing of the rows.
      expect(turns, endpoint).to.be.above(endpoint === 'hits' ? 190_000 : 1000)
      await loopback?.close()
      turns = 0
      const leaving = {
        sliceMs: 0,
        next: async () => {
          turns += 1
          if (turns === 950) closing.abort()
        },
      }
      await start('everywhere', { store: createMemoryStore(many), timeSlices: leaving })
      await send(endpoint, parameters)
      expect(turns, endpoint).to.equal(950)
      await loopback?.close()
    }
  })

  it('aborts a response that takes too long, with any number of pages', async () => {
    const store = createMemoryStore(records)
    // Pages must be full: a page that is not full ends the query.
    const query: LogStore['query'] = async (asked, limits) => {
      await new Promise(resolve => setTimeout(resolve, 20))
      const { hits } = await store.query({ ...asked, size: 1, start: { from: 0 } }, limits)
      return {
        ...{ total: undefined, isCut: false },
        hits: Array.from({ length: asked.size }, () => hits[0]).flatMap(hit => hit ?? []),
      }
    }
    for (const endpoint of ['facets', 'hits', 'field_names', 'streams', 'tail']) {
      await start('everywhere', { store: { ...store, query } })
      const history =
        endpoint === 'tail' ? { query: 'len_range(900, 999)', start_offset: '20y' } : { query: '*' }
      const { code, text } = await send(endpoint, { ...history, timeout: '200ms' })
      expect([code, JSON.parse(text).message], endpoint).to.deep.equal([
        504,
        'the query was stopped: it took longer than 200 ms',
      ])
      await loopback?.close()
    }
  })

  it('rejects unsupported syntax with the reason', async () => {
    await start('everywhere')
    const table: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
      ['nothing', { query: '*' }, 404, /supported below \/select\/logsql: query, tail, hits/],
      ['query', {}, 400, /query is required/],
      ['query', { query: '* | replace ("a", "b")' }, 400, /unsupported pipe \\"replace\\"/],
      ['query', { query: '*', start: 'soon' }, 400, /invalid start \\"soon\\"/],
      ['query', { query: '*', limit: '-1' }, 400, /invalid limit \\"-1\\": expected a whole number/],
      ['query', { query: '*', format: 'csv' }, 400, /unsupported format/],
      ['query', { query: '*', ignore_pipes: 'maybe' }, 400, /invalid ignore_pipes/],
      ['hits', { query: '*', step: '0s' }, 400, /invalid step/],
      ['field_values', { query: '*' }, 400, /field is required/],
      [
        'stream_field_values',
        { query: '*', field: 'host' },
        400,
        /expected a label of streams: container, namespace, pod/,
      ],
      ['stats_query', { query: '*' }, 400, /the pipe stats is missing/],
      [
        'stats_query_range',
        { query: '* | limit 1 | stats count()' },
        400,
        /limit before stats may change or remove _time/,
      ],
      ['tail', { query: '* | sort by (_time)' }, 400, /the pipe sort needs all lines/],
    ]
    for (const [endpoint, parameters, expected, message] of table) {
      const { code, text } = await send(endpoint, parameters)
      expect([code, text], text).to.satisfy(() => code === expected && message.test(text))
    }
    const tenant = await send('query', { query: '*' }, { headers: { accountid: '7' } })
    expect([tenant.code, tenant.text]).to.satisfy(() => tenant.code === 400 && /tenant/.test(tenant.text))
  })

  it('limits the memory of a query, and reports the limit', async () => {
    const many = Array.from({ length: 3000 }, (_, i) =>
      record({ timeNs: at(i), log: `${i} ${'x'.repeat(8000)}` }),
    )
    await start('everywhere', { store: createMemoryStore(many) })
    const { code, text } = await send('stats_query', { query: '* | stats by (_msg) count()' })
    expect([code, text]).to.satisfy(() => code === 400 && /needs more than 32 MiB of memory/.test(text))
    expect((await send('stats_query', { query: '* | stats count_uniq(level)' })).code).to.equal(200)
  })

  it('limits the rows that a query creates from lines', async () => {
    const many = Array.from({ length: 130_000 }, (_, i) =>
      record({ timeNs: at(i), log: 'x', fields: { n: i } }),
    )
    await start('everywhere', { store: createMemoryStore(many.slice(0, 50)) })
    const regexes = Array.from({ length: 50 }, () => '~"a{999}"').join(' or ')
    const long = '<_msg>'.repeat(199)
    const again = `| format "${long}" as _msg `
    const table: readonly (readonly [string, Record<string, string>, RegExp])[] = [
      ['query', { query: regexes }, /regular expressions are too large in total/],
      ['query', { query: '*', extra_filters: regexes }, /regular expressions are too large in total/],
      ['query', { query: `{pod=~"${'a{999}'.repeat(3)}",pod=~"${'b{999}'.repeat(3)}"}` }, /too large/],
      ['query', { query: `* ${again.repeat(4)}` }, /the result of format is larger than 2 MiB/],
      ['query', { query: `contains_any(${'a,'.repeat(501)}a)` }, /more than 500 terms/],
      ['stats_query', { query: '* | stats by (_time:1d offset inf) count()' }, /invalid offset/],
      ['stats_query', { query: '* | stats by (_time:1e30) count()' }, /invalid bucket size/],
      ['hits', { query: '*', step: '99999999999y' }, /invalid step .*292 years/],
      ['hits', { query: '*', field: 'n', step: '1ms' }, /step is too short: there would be more than/],
    ]
    for (const [endpoint, parameters, message] of table) {
      const { code, text } = await send(endpoint, parameters)
      expect([code, text], text).to.satisfy(() => code === 400 && message.test(text))
    }
    const big = Array.from({ length: 300 }, (_, i) =>
      record({ timeNs: at(i), log: `${i} ${'x'.repeat(100_000)}` }),
    )
    await loopback?.close()
    await start('everywhere', { store: createMemoryStore(big) })
    for (const [endpoint, parameters] of [
      ['stats_query', { query: '* | stats by (_time) max(_msg)' }],
      ['facets', { query: '*', max_values_per_field: '99999', max_value_len: '999999' }],
    ] as const) {
      const { code, text } = await send(endpoint, parameters)
      expect([code, text]).to.satisfy(() => code === 400 && /needs more than 32 MiB/.test(text))
    }
    await loopback?.close()
    // Reads from the cursor on: the memory store would scan all records for each page.
    const query: LogStore['query'] = async ({ start: from, size }) => {
      const begin = 'after' in from ? Number(from.after) + 1 : from.from
      const page = many.slice(begin, begin + size)
      const hits = page.map((one, i) => ({ record: one, cursor: String(begin + i) }))
      return { total: undefined, hits, isCut: false }
    }
    await start('everywhere', { store: { ...createMemoryStore(), query } })
    const values = await send('field_values', { query: '*', field: 'n', limit: '1' })
    expect([values.code, values.text]).to.deep.equal([200, '{"values":[{"value":"0","hits":1}]}\n'])
  }).timeout(150_000)

  it('sends a line once that arrives while a tail reads earlier lines', async () => {
    const store = createMemoryStore(records)
    const early = record({ timeNs: at(80), log: 'early error' })
    let isFirst = true
    await start(['shop'], {
      store: {
        ...store,
        query: async (query, limits) => {
          if (isFirst) await store.append({ records: [early] })
          isFirst = false
          return store.query(query, limits)
        },
      },
    })
    const parameters = new URLSearchParams({ query: 'error | fields _msg', start_offset: '20y' })
    const response = await loopback?.open(`/kapis/l/v/select/logsql/tail?${parameters}`)
    let text = ''
    const { promise, resolve } = Promise.withResolvers<void>()
    response?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('last')) resolve()
    })
    await store.append({ records: [record({ timeNs: at(92), log: 'last error' })] })
    await promise
    response?.destroy()
    expect(text).to.equal('{"_msg":"one error"}\n{"_msg":"early error"}\n{"_msg":"last error"}\n')
  })

  it('formats new lines of a tail in time slices', async () => {
    let turns = 0
    const timeSlices = {
      sliceMs: 0,
      next: async () => {
        turns += 1
      },
    }
    const store = createMemoryStore(records)
    await start('everywhere', { store, timeSlices })
    const response = await loopback?.open('/kapis/l/v/select/logsql/tail?query=~%22a.*b%22')
    await store.append({
      records: Array.from({ length: 40 }, (_, i) => record({ timeNs: at(i), log: 'a b' })),
    })
    await new Promise(resolve => response?.once('data', resolve))
    response?.destroy()
    expect(turns).to.be.at.least(40)
  })

  it('aborts a response beyond the limit of an export', async () => {
    await start('everywhere', { limits: () => ({ queryTimeoutSeconds: 60, exportLimit: 2 }) })
    expect((await send('query', { query: '*' })).code).to.equal(400)
    expect((await send('query', { query: '*', limit: '2' })).code).to.equal(200)
  })

  it('tails new lines, after earlier ones', async () => {
    const store = createMemoryStore(records)
    await start(['shop'], { store })
    const parameters = new URLSearchParams({ query: 'error | fields _time, _msg', start_offset: '20y' })
    const response = await loopback?.open(`/kapis/l/v/select/logsql/tail?${parameters}`)
    const chunks: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    response?.on('data', (chunk: Buffer) => {
      chunks.push(chunk.toString())
      if (chunks.join('').includes('three')) resolve()
    })
    await store.append({ records: [record({ timeNs: at(90), log: 'no' })] })
    await store.append({ records: [record({ timeNs: at(91), log: 'bank error', namespace: 'bank' })] })
    await store.append({ records: [record({ timeNs: at(92), log: 'three error' })] })
    await promise
    response?.destroy()
    expect(chunks.join('')).to.equal(
      '{"_time":"2023-11-14T22:13:20Z","_msg":"one error"}\n{"_time":"2023-11-14T22:14:52Z","_msg":"three error"}\n',
    )
  })
})
