import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { createTimeSlices } from '../../../scheduling/time-slices.ts'
import { toComparable } from '../../logsql/fixtures.ts'
import { parseLogsql } from '../../logsql/parse/parse.ts'
import { runQuery } from '../../logsql/run-query.ts'
import type { LogRecord } from '../../record.ts'
import type { Hit, LogStore, RowPage, RowQuery } from '../../store.ts'
import { line, openTestStore, testDayNs, useFolder } from '../fixtures.ts'
import { searchRows } from './search-rows.ts'
import { type LineParts, wholeLines } from './selected-lines.ts'

const file = new URL('../../../../test/fixtures/logsql-rows.json', import.meta.url)
type RecordedQuery = { readonly query: string; readonly rows: readonly string[] }
const nowNs = 1_700_001_000_000_000_000n
const everything = { scope: 'everything' } as const

describe('searches of the embedded store', function () {
  this.timeout(60_000)
  const folder = useFolder()
  let store: LogStore | undefined
  afterEach(() => store?.close())

  it('find what VictoriaLogs finds in the same lines', async () => {
    const parsed: readonly (LogRecord | RecordedQuery)[] = JSON.parse(
      readFileSync(file, 'utf8'),
      (_, value) => (typeof value?.bigint === 'string' ? BigInt(value.bigint) : value),
    )
    const opened = await openTestStore(folder(), {
      ...{ now: () => Number(nowNs / 1_000_000n), windowLines: 50 },
      retention: { days: 30, bytes: 1e9 },
    })
    store = opened
    await opened.append({ records: parsed.filter(entry => 'log' in entry) })
    const run = {
      ...{ store: opened, filter: everything, limits: { timeoutMs: 30_000 } },
      ...{ timeSlices: createTimeSlices(), maxBytes: 1024 ** 3 },
    }
    for (const { query, rows } of parsed.filter(entry => 'query' in entry)) {
      const found: string[] = []
      for await (const page of runQuery(run, parseLogsql(query, nowNs)))
        found.push(...page.map(row => toComparable(Object.fromEntries(row))))
      expect(found.sort(), query).to.deep.equal(rows)
    }
  })
})

describe('searchRows', () => {
  const hits = Array.from(
    { length: 2500 },
    (_, i): Hit => ({ cursor: String(i), record: line(`${i}`, { timeNs: testDayNs + BigInt(i) }) }),
  )
  const asked: RowQuery = {
    ...{ filter: everything, order: 'asc', start: { from: 0 }, size: 1000, pipes: [] },
    ...{ test: { op: 'all' }, fields: ['_msg'] },
  }

  function run(query: RowQuery): { readonly page: RowPage; readonly sizes: readonly number[] } {
    const sizes: number[] = []
    const work = searchRows(function* ({ start, size }) {
      sizes.push(size)
      yield
      const from = 'from' in start ? start.from : Number(start.after) + 1
      const found = hits.slice(from, from + size)
      const lines = found.map(({ cursor, record }) => ({ cursor: () => cursor, read: () => record }))
      return { lines, isCut: false }
    }, query)
    for (;;) {
      const { done, value } = work.next()
      if (done) return { page: value, sizes }
    }
  }
  const texts = ({ rows }: RowPage) => rows.map(row => row.get('_msg') ?? '')

  it('ends a page after the line of its last row', () => {
    const first = run(asked)
    expect(first.sizes).to.deep.equal([1000])
    expect([first.page.rows.length, first.page.next]).to.deep.equal([1000, '999'])
    const rest = run({ ...asked, start: { after: '999' }, size: 2000 })
    expect([texts(rest.page)[0], rest.page.rows.length, rest.page.next]).to.deep.equal([
      '1000',
      1500,
      undefined,
    ])
  })

  it('reads larger and larger groups of lines while no line matches', () => {
    const test = { op: 'field', field: '_msg', test: { kind: 'exact', text: '2400' } } as const
    const { page, sizes } = run({ ...asked, test })
    expect([texts(page), page.next]).to.deep.equal([['2400'], undefined])
    expect(sizes).to.deep.equal([1000, 2000])
  })

  it('ends a page early if its rows are large', () => {
    const steps = Array.from({ length: 50 }, () => ({ prefix: 'x'.repeat(1000), field: '', option: '' }))
    const format = { kind: 'format', steps, result: 'a', keepOriginal: false, skipEmpty: false } as const
    const { page } = run({ ...asked, pipes: [format] })
    expect(page.rows.length).to.be.within(20, 100)
    expect(page.next).to.equal(String(page.rows.length - 1))
  })

  it('reads only the parts of lines that the fields need', () => {
    const read = (fields: RowQuery['fields'], test: RowQuery['test'] = asked.test) => {
      const all: LineParts[] = []
      const readLine = (parts: LineParts) => {
        all.push(parts)
        return line('x')
      }
      const work = searchRows(
        function* () {
          yield
          return { lines: [{ cursor: () => '', read: readLine }], isCut: false }
        },
        { ...asked, fields, test },
      )
      while (!work.next().done);
      return all
    }
    const partsOf = (fields: RowQuery['fields']) => read(fields)[0]
    expect(partsOf(['_time', 'pod', 'labels.app'])).to.deep.equal({ text: false, fields: [] })
    expect(partsOf(['_msg', 'level', '__proto__'])).to.deep.equal({
      text: true,
      fields: ['level', '__proto__'],
    })
    expect(partsOf(['fields.pod', 'fields.x'])).to.deep.equal({ text: false, fields: ['pod', 'fields.x'] })
    expect(partsOf(undefined)).to.deep.equal(wholeLines)
    const ofLevel = { text: false, fields: ['level'] }
    const isLevel = (text: string) =>
      ({ op: 'field', field: 'level', test: { kind: 'exact', text } }) as const
    expect(read(undefined, isLevel('error'))).to.deep.equal([ofLevel])
    expect(read(undefined, isLevel(''))).to.deep.equal([ofLevel, wholeLines])
    expect(read(['level'], isLevel('error'))).to.deep.equal([ofLevel])
  })

  it('builds only the required fields, and no empty row', () => {
    const { page } = run({ ...asked, size: 1, fields: ['missing', 'pod'] })
    expect(page.rows.map(row => [row.size, row.get('pod')])).to.deep.equal([[2, 'pod']])
  })
})
