import { expect } from 'chai'
import { createMemoryStore } from '../../pkg/logs/fixtures.ts'
import { createRowTest } from '../../pkg/logs/logsql/match-row.ts'
import { parseLogsql } from '../../pkg/logs/logsql/parse/parse.ts'
import { createPipeline } from '../../pkg/logs/logsql/pipes/pipeline.ts'
import { createBudget, endWithoutRows } from '../../pkg/logs/logsql/pipes/stage.ts'
import type { Query } from '../../pkg/logs/logsql/query.ts'
import { type Row, toRow } from '../../pkg/logs/logsql/row.ts'
import { runQuery } from '../../pkg/logs/logsql/run-query.ts'
import type { LogRecord } from '../../pkg/logs/record.ts'
import { createTimeSlices } from '../../pkg/scheduling/time-slices.ts'
import { makeFilter } from '../logsql/filters.ts'
import { makeLines } from '../logsql/lines.ts'
import { makeQuery } from '../logsql/queries.ts'
import { createRandom, type Random } from '../logsql/random.ts'
import { fuzzSeconds } from './fuzz-parameters.ts'

const everything = { scope: 'everything' } as const
const startNs = 1_700_000_000_000_000_000n
// A fixed seed in `make test`, and a new one in each run of `make fuzz`.
const seed = fuzzSeconds === 0 ? 41 : Date.now() % 1_000_000

const plain = [
  ...['level', 'status', 'bytes', 'list', 'pod', 'x', 'y', 'missing', 'fields._time', 'labels.app'],
  ...['_msg', '_stream_id'],
] as const
const name = (r: Random) => r.one([...plain, '_time', '_stream'])
const check = (r: Random) =>
  r.one([
    `${r.one(plain)}:${r.one(['*', '""', 'error', '200'])}`,
    '_time:day_range[22:13, 22:14]',
    '_stream:{pod=~"web.*"}',
    'l*:error',
  ])
// The results of one pipe must have different names.
const first = (r: Random) => r.one(['x', 'level', '_stream_id'])
const second = (r: Random) => r.one(['y', '_msg', '_time'])
const maybe = (r: Random, text: string) => (r.chance(0.3) ? ` ${text}` : '')
const overwriting = (r: Random) => r.one(['', '', ' keep_original_fields', ' skip_empty_results'])

/** Generates pipes that read, write and remove the same few fields. */
function makePipe(r: Random): string {
  const condition = maybe(r, `if (${check(r)})`)
  return r.one<() => string>([
    () => `fields ${name(r)}, ${r.one([name(r), 'l*', '*'])}`,
    () => `filter ${check(r)}`,
    () => `filter ${makeFilter(r, 1, startNs)}`,
    () => `len(${name(r)}) as ${name(r)}`,
    () => `math ${r.one(['status + bytes', 'max(x, status)', '-y'])} as ${name(r)}, x * 2 as ${name(r)}`,
    () => `format${condition} "${r.one(['<', 'a<uc:'])}${name(r)}>" as ${name(r)}${overwriting(r)}`,
    () => `extract${condition} "<${name(r)}> <${name(r)}>" from ${name(r)}${overwriting(r)}`,
    () => `unpack_json${condition} from ${name(r)}${maybe(r, `fields (${name(r)}, l*)`)}${overwriting(r)}`,
    () =>
      `unpack_logfmt from ${name(r)}${maybe(r, `fields (${name(r)}) result_prefix "_"`)}${overwriting(r)}`,
    () => `sort by (${name(r)}, ${name(r)} desc)${maybe(r, `limit 50${maybe(r, `rank as ${name(r)}`)}`)}`,
    () => `sort by (${name(r)}) limit 3 partition by (${name(r)})`,
    () => `limit ${r.below(200)}`,
    () => `offset ${r.below(20)}`,
    () => `uniq by (${name(r)}, ${name(r)})${maybe(r, 'with hits')}${maybe(r, 'limit 5')}`,
    () => `top 5 by (${name(r)})${maybe(r, 'rank')}`,
    () =>
      `stats by (${r.one(['status', 'pod', 'missing', '_stream'])}) count() ${first(r)}, ${r.one(['sum', 'min', 'count', 'max'])}(${r.one([name(r), '*', 'l*'])})${condition} as ${second(r)}`,
    () => `stats count() ${first(r)}, count_uniq(${name(r)}, ${name(r)}) as ${second(r)}`,
    () => 'field_names',
    () => `patterns from ${name(r)}`,
  ])()
}

function makeText(r: Random): string {
  if (r.chance(0.3)) return makeQuery(r, startNs).query
  const pipes = Array.from({ length: 1 + r.below(4) }, () => makePipe(r))
  const last = r.chance(0.7) ? [r.one(['stats count() n', `stats by (${r.one(plain)}) count() n`])] : []
  return [r.one(['*', '*', makeFilter(r, 1, startNs)]), ...pipes, ...last].join(' | ')
}

/** Runs a query in which all stages receive rows with all of their fields. */
function runOnWholeRows(records: readonly LogRecord[], { filter, pipes }: Query): readonly Row[] {
  const rows: Row[] = []
  // A row without fields is not a result.
  const push = (row: Row) => row.size === 0 || rows.push(row) > 0
  const first = createPipeline(pipes, { push, end: endWithoutRows }, createBudget(Infinity))
  const passes = createRowTest(filter)
  for (const record of records) {
    const row = toRow(record)
    if (passes(row) && !first.push(row)) break
  }
  for (const _ of first.end());
  return rows
}

const toText = (row: Row) => JSON.stringify([...row].sort(([a], [b]) => (a < b ? -1 : 1)))

describe(`LogsQL with rows of only the needed fields, seed ${seed}`, () => {
  // Lines whose unpacked fields remove other fields.
  const removing = ['{"_stream_id":"","_msg":"","_time":""}', '_stream_id= _msg= _time= x=1', '{"x":1}']
  const records = makeLines(200, seed, startNs).map((line, i) => ({
    ...line,
    // Distinct times, so that the order of lines is defined.
    timeNs: startNs - BigInt(i) * 1_000_000_000n,
    log: i % 10 === 0 ? (removing[(i / 10) % removing.length] ?? '') : line.log,
  }))
  const store = createMemoryStore(records)
  const r = createRandom(seed)

  it('returns the results of rows with all fields', async () => {
    const end = Date.now() + fuzzSeconds * 1000
    for (let count = 0; count < 200 || Date.now() < end; count += 1) {
      const text = makeText(r)
      const query = parseLogsql(text, startNs)
      const run = {
        ...{ store, filter: everything, limits: { timeoutMs: 60_000 } },
        ...{ timeSlices: createTimeSlices(), maxBytes: 1024 ** 3 },
      }
      const found: string[] = []
      for await (const rows of runQuery(run, query)) found.push(...rows.map(toText))
      expect(found, text).to.deep.equal(runOnWholeRows(records, query).map(toText))
    }
  }).timeout(120_000 + fuzzSeconds * 2000)
})
