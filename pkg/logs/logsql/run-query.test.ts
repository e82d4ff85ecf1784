import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Status, timedOut } from '../../apierrors/status.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { createMemoryStore, record } from '../fixtures.ts'
import type { LogRecord } from '../record.ts'
import type { LogStore } from '../store.ts'
import { toComparable } from './fixtures.ts'
import { parseLogsql } from './parse/parse.ts'
import { planQuery, runQuery } from './run-query.ts'

// Lines, and the results of VictoriaLogs 1.52.1 for them. Recorded by:
// RECORD=test/fixtures/logsql-rows.json LINES=120 QUERIES=400 SEED=7 make test-logsql
const file = new URL('../../../test/fixtures/logsql-rows.json', import.meta.url)
type RecordedQuery = { readonly query: string; readonly rows: readonly string[] }
const nowNs = 1_700_001_000_000_000_000n
const everything = { scope: 'everything' } as const

async function rowsOf(store: LogStore, query: string, more: { maxBytes?: number; timeoutMs?: number } = {}) {
  const { maxBytes = 1024 ** 3, timeoutMs = 30_000 } = more
  const run = { store, filter: everything, limits: { timeoutMs }, timeSlices: createTimeSlices(), maxBytes }
  const found: string[] = []
  for await (const rows of runQuery(run, parseLogsql(query, nowNs)))
    found.push(...rows.map(row => toComparable(Object.fromEntries(row))))
  return found
}

async function thrownFields(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof Status) return `${error.code} ${error.message}`
    throw error
  }
  return 'none'
}

describe('runQuery', () => {
  const parsed: readonly (LogRecord | RecordedQuery)[] = JSON.parse(readFileSync(file, 'utf8'), (_, value) =>
    typeof value?.bigint === 'string' ? BigInt(value.bigint) : value,
  )
  const records = parsed.filter(entry => 'log' in entry)
  const recorded = parsed.filter(entry => 'query' in entry)
  const store = createMemoryStore(records)

  it(`finds what VictoriaLogs finds`, async () => {
    expect(recorded.length).to.be.greaterThan(100)
    for (const { query, rows } of recorded)
      expect((await rowsOf(store, query)).sort(), query).to.deep.equal(rows)
  })

  it('groups lines by their pattern', async () => {
    const lines = ['a 1', 'a 2', 'b c'].map(log => record({ log }))
    const rows = (query: string) => rowsOf(createMemoryStore(lines), query)
    const [a, b] = [
      { pattern: 'a <*>', hits: '2' },
      { pattern: 'b c', hits: '1' },
    ]
    expect(await rows('* | patterns')).to.deep.equal([a, b].map(toComparable))
    expect(await rows('* | patterns limit 1')).to.deep.equal([toComparable(a)])
    const pod = toComparable({ pattern: '<*>', hits: '3' })
    expect(await rows('* | patterns from pod | filter hits:>2')).to.deep.equal([pod])
  })

  it('orders values of equal count, and names results, as VictoriaLogs does', async () => {
    const records = [{ pod: 'b10' }, { pod: 'b9' }, { pod: 'a' }].map(record)
    const rows = (query: string) => rowsOf(createMemoryStore(records), query)
    const top = (values: readonly object[]) =>
      values.map((value, i) => ({ ...value, hits: '1', rank: `${i + 1}` }))
    const pods = [{ pod: 'a' }, { pod: 'b10' }, { pod: 'b9' }]
    expect(await rows('* | top by (pod) rank')).to.deep.equal(top(pods).map(toComparable))
    const short = [{ pod: 'a' }, { pod: 'b9' }, { pod: 'b10' }]
    expect(await rows('* | top by (pod, level) rank')).to.deep.equal(top(short).map(toComparable))
    expect(await rows('* | count() if (pod:a) , count() if (pod:b*), max("a.b", po*)')).to.deep.equal([
      toComparable({ 'count(*) if (pod:a)': '1', 'count(*) if (pod:b*)': '2', 'max("a.b", po*)': 'b10' }),
    ])
    expect(await rows('* | quantile(0.5, pod), median("a.b")')).to.deep.equal([
      toComparable({ 'quantile(0.5, pod)': 'b9' }),
    ])
    expect(await rows('contains_any(x, "") | count() n')).to.deep.equal([toComparable({ n: '3' })])
    expect(await rows('contains_all("") | count() n')).to.deep.equal([toComparable({ n: '3' })])
  })

  // Each result is that of VictoriaLogs 1.52.1.
  const converted: readonly (readonly [pipe: string, value: string | number, converted: string])[] = [
    ["format '<time:f>' as f", -1717328141, '1915-08-01T12:24:19Z'],
    ["format '<time:f>' as f", '-1717328141.123', '1915-08-01T12:24:18.877Z'],
    ["format '<time:f>' as f", '1717328141 s', '1717328141 s'],
    ["format '<time:f>' as f", '2024-01-01T00:00:00+02:00', '2024-01-01T00:00:00+02:00'],
    ["format '<time:f>' as f", '-2024-01-01T00:00:00Z', '-2024-01-01T00:00:00Z'],
    ["format '<time:f>' as f", '17E+8', '2023-11-14T22:13:20Z'],
    ["format '<time:f>' as f", '1.70000000012e12', '2023-11-14T22:13:20.12Z'],
    ["format '<time:f>' as f", '1.55e1', '1.55e1'],
    ["format '<time:f>' as f", '1700000000.1234567891', '1700000000.1234567891'],
    ["format '<hexnumencode:f>' as f", 1234, '00000000000004D2'],
    ["format '<hexnumencode:f>' as f", -1, '-1'],
    ["format '<hexnumdecode:f>' as f", '00000000000004d2', '1234'],
    ["format '<hexnumdecode:f>' as f", '00000000000004d20', '00000000000004d20'],
    ["format '<hexdecode:f>' as f", '41zz4', 'Azz4'],
    ["format '<q:f>' as f", `<a href='x'>\n`, String.raw`"\u003ca href=\u0027x\u0027>\n"`],
    ["format '<urlencode:f>' as f", 'a*b c~d', 'a%2Ab+c%7Ed'],
    ["format '<uc:f>' as f", 'straße ΑΣ', 'STRAßE ΑΣ'],
    ["format '<lc:f>' as f", 'STRASSE ΑΣ', 'strasse ασ'],
    ['math round(f, 0.01) as f', 1.2345, '1.23'],
    ['math round(f, -0.01) as f', 1.2389, '1.24'],
    ['math round(f, -5) as f', -7.5, '-10'],
    ["format '<uc:f>' as f", 'ᾳ ŉ', 'ᾼ ŉ'],
    ["format '<lc:f>' as f", 'İ ΟΔΟΣ', 'i οδοσ'],
    ["format '<duration:f>' as f", '1_000', '1µs'],
    ["format '<duration:f>' as f", '-9223372036854775807', '-15250w1d23h47m16.854775807s'],
    ["format '<duration:f>' as f", '9223372036854775808', '9223372036854775808'],
    ["format '<duration_seconds:f>' as f", '-0s', '0'],
    ["format '<duration_seconds:f>' as f", '1_000ms', '1'],
    ["format '<ipv4:f>' as f", '4_294_967_295', '255.255.255.255'],
    ["format '<ipv4:f>' as f", '4294967296', '4294967296'],
    ["format '<ipv4:f>' as f", '-0', '-0'],
    ["format '<hexnumencode:f>' as f", '18_446_744_073_709_551_615', 'FFFFFFFFFFFFFFFF'],
    ["format '<hexnumencode:f>' as f", '18446744073709551616', '18446744073709551616'],
    ["format '<hexnumencode:f>' as f", '-0', '-0'],
    ["format '<hexnumdecode:missing>' as f", '', '0'],
    ["format '<base64decode:f>' as f", 'aGVs\nbG8=', 'hello'],
    ['math f % 7 as f', '-0', '0'],
    ['math -f as f', '-0s', '-0'],
    ['math f + 0 as f', '0x8000000000000000', 'NaN'],
    ['math f + 0 as f', '2026-11-28T10:00:00+0530', '1795840200000000000'],
    ['stats by (f:10) count() n', '-9223372036.5', '-9223372040'],
    ['stats by (f:10) count() n', '-12.5', '-20'],
    ['stats by (f:15) count() n', '-15.5', '-15'],
    ['stats by (f:10) count() n', '99999999999999999999', '99999999999999999999'],
    ['stats by (f:1h offset 10m) count() n', '10.0.0.1', '0.0.0.0'],
  ]
  for (const [pipe, value, result] of converted) {
    it(`converts ${JSON.stringify(value)} by ${pipe}`, async () => {
      const rows = await rowsOf(createMemoryStore([record({ fields: { f: value } })]), `* | ${pipe} | keep f`)
      expect(rows).to.deep.equal([toComparable({ f: result })])
    })
  }

  it('compares letters in any case as VictoriaLogs does', async () => {
    const store = createMemoryStore(['ΟΔΟΣ x', 'οδος', 'İstanbul', 'istanbul'].map(log => record({ log })))
    expect(await rowsOf(store, 'i(οδοσ) | count() n')).to.deep.equal([toComparable({ n: '1' })])
    expect(await rowsOf(store, 'i(ΟΔΟΣ) | count() n')).to.deep.equal([toComparable({ n: '1' })])
    expect(await rowsOf(store, 'i(ISTANBUL) | count() n')).to.deep.equal([toComparable({ n: '2' })])
  })

  // Each result is that of VictoriaLogs 1.52.1.
  const withoutFields: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
    '* | fields zz | count() n': [{ n: '7' }],
    '* | fields zz | limit 3': [],
    '* | keep zz | filter zz:"" | count() n': [{ n: '7' }],
    '* | stats min(zz) m | count() n': [{ n: '1' }],
    '* | stats by (zz) min(zz) m | count() n': [{ n: '1' }],
    '* | uniq by (zz, yy) | count() n': [{ n: '1' }],
    '* | uniq by (zz) | count() n': [{ n: '1' }],
    '* | uniq by (zz)': [],
    '* | fields zz | top by (zz)': [{ hits: '7' }],
    '* | fields zz | sort by (zz) rank | count(rank) n': [{ n: '7' }],
    'b | fields zz | sort by (zz) limit 1 | len(zz) as l': [{ l: '0' }],
  }
  for (const [query, rows] of Object.entries(withoutFields)) {
    it(`counts lines without the fields: ${query}`, async () => {
      const lines = Array.from({ length: 7 }, () => record({ log: 'a b' }))
      expect(await rowsOf(createMemoryStore(lines), query)).to.deep.equal(rows.map(toComparable))
    })
  }

  it('returns the unique values that contain a text', async () => {
    const records = ['web-1', 'db-1', 'web-1', 'web-2'].map(pod => record({ pod })).reverse()
    const rows = (query: string) => rowsOf(createMemoryStore(records), query)
    expect(await rows('* | uniq by (pod) filter eb- with hits')).to.deep.equal([
      toComparable({ pod: 'web-1', hits: '2' }),
      toComparable({ pod: 'web-2', hits: '1' }),
    ])
    expect(await rows('* | uniq pod filter "b-1" limit 5')).to.deep.equal(
      ['web-1', 'db-1'].map(pod => toComparable({ pod })),
    )
  })

  it('gives each field of a line a different name', async () => {
    const fields = {
      pod: 'a',
      'fields.pod': 'b',
      'fields.fields.pod': 'c',
      'fields.x': 'd',
      _time: 'e',
      n: -0,
    }
    const store = createMemoryStore([record({ fields })])
    const renamed = {
      ...{ 'fields.pod': 'a', 'fields.fields.pod': 'b', 'fields.fields.fields.pod': 'c', 'fields.x': 'd' },
      ...{ 'fields._time': 'e', n: '-0' },
    }
    expect(await rowsOf(store, '* | fields f*, n')).to.deep.equal([toComparable(renamed)])
    for (const [name, value] of Object.entries(renamed)) {
      expect(await rowsOf(store, `"${name}":="${value}" | uniq by ("${name}")`)).to.deep.equal([
        toComparable({ [name]: value }),
      ])
      expect(await rowsOf(store, `"${name}":=other`)).to.deep.equal([])
    }
  })

  it('unpacks NaN and Infinity, which are not valid JSON, as VictoriaLogs does', async () => {
    const logs = ['{"a":NaN,"b":{"c":-Infinity}}', '{"a":"NaN, \\"Infinity"}', '{"a":NaN', '{"a":NaNs}']
    const store = createMemoryStore(logs.map(log => record({ log })))
    const unpacked = [{ a: 'NaN', 'b.c': '-Infinity' }, { a: 'NaN, "Infinity' }].map(toComparable)
    const found = await rowsOf(store, '* | unpack_json | fields a, b.c')
    expect(found.sort()).to.deep.equal(unpacked.sort())
  })

  it('lets the store filter what it can, and filters the rest itself', () => {
    const planOf = (query: string) => {
      const { filter, test } = planQuery(everything, parseLogsql(query, nowNs))
      return { expression: filter?.expression, isExact: test.op === 'all' }
    }
    const contains = (text: string, field: unknown = 'log') => ({
      ...{ op: 'match', field },
      test: { kind: 'contains', text, caseSensitive: true },
    })
    const isOneOf = (field: unknown, ...values: string[]) => ({
      op: 'match',
      field,
      test: { kind: 'in', values },
    })
    const table: Readonly<Record<string, object>> = {
      '*': { expression: undefined, isExact: true },
      error: { expression: contains('error'), isExact: false },
      'namespace:=shop': { expression: isOneOf('namespace', 'shop'), isExact: true },
      '{namespace="shop"} -pod:in(a, b)': {
        expression: {
          op: 'and',
          operands: [isOneOf('namespace', 'shop'), { op: 'not', operand: isOneOf('pod', 'a', 'b') }],
        },
        isExact: true,
      },
      // Not translated: lines that contain the text within a word match the filter.
      '-error': { expression: undefined, isExact: false },
      'error or level:*': { expression: undefined, isExact: false },
      'labels.app:=web': { expression: isOneOf({ label: 'app' }, 'web'), isExact: true },
      // A list is one JSON text in LogsQL and several values in the store.
      'level:=error': { expression: isOneOf({ field: 'level' }, 'error'), isExact: false },
      'level:="[\\"a\\"]"': { expression: undefined, isExact: false },
      'level:error': { expression: contains('rror', { field: 'level' }), isExact: false },
      'level:new': { expression: contains('ew', { field: 'level' }), isExact: false },
    }
    for (const [query, plan] of Object.entries(table)) expect(planOf(query), query).to.deep.equal(plan)
  })

  it('searches the JSON text of arrays, escapes included', async () => {
    const lists = createMemoryStore([
      record({ timeNs: nowNs, log: 'a', fields: { list: ['new', 'line\nnext', 'u0041'] } }),
      record({ timeNs: nowNs, log: 'b', fields: { list: 'next' } }),
    ])
    const found = async (query: string) => (await rowsOf(lists, `${query} | fields _msg`)).sort()
    const [a, b] = ['[["_msg","a"]]', '[["_msg","b"]]']
    expect(await found('list:next')).to.deep.equal([b])
    expect(await found('list:nnext')).to.deep.equal([a])
    expect(await found('list:new')).to.deep.equal([a])
    expect(await found('list:~"^.\\"new"')).to.deep.equal([a])
    expect(await found(`list:='["new","line\\\\nnext","u0041"]'`)).to.deep.equal([a])
  })

  it('lets the store evaluate the filters before all other pipes, too', async () => {
    const requests: unknown[] = []
    const observed: LogStore = {
      ...store,
      query: (query, limits) => {
        requests.push(query.filter.expression)
        return store.query(query, limits)
      },
    }
    const inOne = await rowsOf(observed, '* {namespace="shop"} pod:=a level:error | fields pod')
    const piped = '* | filter {namespace="shop"} | filter pod:=a level:error | fields pod | filter pod:*'
    expect(await rowsOf(observed, piped)).to.deep.equal(inOne)
    expect(requests[1]).to.deep.equal(requests[0])
    expect(requests[0]).to.include({ op: 'and' })
  })

  it('reads page after page, newest first, until the limit is reached', async () => {
    let pages = 0
    const many = createMemoryStore(
      Array.from({ length: 3500 }, (_, i) => record({ timeNs: nowNs + BigInt(i), log: `n${i}` })),
    )
    const counted: LogStore = {
      ...many,
      query: (query, limits) => {
        pages += 1
        return many.query(query, limits)
      },
    }
    expect(await rowsOf(counted, '* | limit 2 | fields _msg')).to.deep.equal([
      '[["_msg","n3499"]]',
      '[["_msg","n3498"]]',
    ])
    expect(pages).to.equal(1)
    expect(await rowsOf(counted, '* | sort by (_time) offset 1 limit 1 | fields _msg')).to.deep.equal([
      '[["_msg","n1"]]',
    ])
    expect(pages).to.equal(2)
    expect(await rowsOf(counted, '* | stats count(_time) n')).to.deep.equal(['[["n","3500"]]'])
    expect(pages).to.equal(6)
  })

  it('continues after a page that ends before it is full', async () => {
    const cutting: LogStore = {
      ...store,
      query: async (query, limits) => {
        const { total, hits } = await store.query({ ...query, size: 7 }, limits)
        return { total, hits, isCut: hits.length === 7 }
      },
    }
    expect(await rowsOf(cutting, '* | stats count(_time) n')).to.deep.equal([`[["n","${records.length}"]]`])
  })

  it('aborts a query that takes too long or needs too much memory', async () => {
    const slow: LogStore = {
      ...store,
      query: async (query, limits) => {
        await new Promise(resolve => setTimeout(resolve, 30))
        return store.query({ ...query, size: 1 }, limits)
      },
    }
    // Fills each page, because a page that is not full would be the last.
    const endless: LogStore = {
      ...slow,
      query: async (query, limits) => {
        const { hits } = await slow.query(query, limits)
        return {
          ...{ total: undefined, isCut: false },
          hits: Array.from({ length: query.size }, () => hits[0]).flatMap(hit => hit ?? []),
        }
      },
    }
    expect(await thrownFields(rowsOf(endless, '* | stats count(_time)', { timeoutMs: 100 }))).to.equal(
      '504 the query was stopped: it took longer than 100 ms',
    )
    expect(await thrownFields(rowsOf(store, '* | sort by (_msg)', { maxBytes: 50_000 }))).to.match(
      /^400 query: needs more than/,
    )
    expect(await thrownFields(rowsOf(store, '* | sort by (_msg) limit 5', { maxBytes: 500_000 }))).to.equal(
      'none',
    )
  })

  it('reports the configured time limit when the store exceeds the remaining time', async () => {
    const slow: LogStore = {
      ...createMemoryStore([record({ log: 'a' })]),
      async query(_, { timeoutMs }) {
        await sleep(timeoutMs + 5)
        throw timedOut(`the query was stopped: it took longer than ${timeoutMs - 1} ms`)
      },
    }
    expect(await thrownFields(rowsOf(slow, 'a', { timeoutMs: 50 }))).to.equal(
      '504 the query was stopped: it took longer than 50 ms',
    )
  })

  it('counts the sort keys of each row in addition to the row', async () => {
    const by = Array.from({ length: 490 }, (_, i) => `f${i}`)
    const sorted = rowsOf(store, `* | fields _msg | sort by (${by})`, { maxBytes: 2 * 1024 ** 2 })
    expect(await thrownFields(sorted)).to.match(/^400 query: needs more than/)
  })

  const many = (term: (i: number) => string) => Array.from({ length: 480 }, (_, i) => term(i)).join(' or ')
  const long: Readonly<Record<string, readonly [line: string, terms: string]>> = {
    'one ASCII word': ['a'.repeat(256 * 1024), many(i => 'a'.repeat(1 + (i % 30)))],
    'one word of other characters': ['é'.repeat(128 * 1024), many(i => 'é'.repeat(1 + (i % 30)))],
    'as many characters as the query has': ['a'.repeat(256 * 1024), many(i => `len_range(${i}, 300000000)`)],
    'a string comparison': ['é'.repeat(128 * 1024), many(() => 'string_range(a, b)')],
  }
  for (const [what, [line, terms]] of Object.entries(long))
    it(`matches a line of 256 KiB against hundreds of terms in milliseconds: ${what}`, async () => {
      const one = createMemoryStore([record({ log: line })])
      const begin = performance.now()
      await rowsOf(one, `* | filter ${terms} | stats count()`)
      expect(performance.now() - begin).to.be.below(8_000)
    })
})
