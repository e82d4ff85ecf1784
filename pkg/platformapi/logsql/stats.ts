import { badRequest } from '../../apierrors/status.ts'
import { parseTime } from '../../logs/logsql/numbers.ts'
import { preservesTime } from '../../logs/logsql/pipes/pipeline.ts'
import { sortInSteps } from '../../logs/logsql/pipes/sort-in-steps.ts'
import { createNameTest } from '../../logs/logsql/pipes/stage.ts'
import type { Bucket, Pipe, Query } from '../../logs/logsql/query.ts'
import type { Row } from '../../logs/logsql/row.ts'
import type { EndpointParameters } from './parameters.ts'
import { inSteps, type QueryRunner, readRows } from './run-query.ts'

type Sample = {
  readonly metric: Readonly<Record<string, string>>
  readonly timeNs: bigint
  readonly value: string
}

/** Returns the results of `stats` at one time, in the format of instant queries of Prometheus. */
export async function queryStats(
  { query, timeNs }: EndpointParameters,
  reading: QueryRunner,
): Promise<string> {
  const columns = columnsOf(query.pipes)
  const samples: string[] = []
  await readRows(reading, query, row => {
    for (const { metric, value } of samplesOf(row, columns, timeNs))
      samples.push(JSON.stringify({ metric, value: [secondsOf(timeNs), value] }))
  })
  return `{"status":"success","data":{"resultType":"vector","result":[${samples.join(',')}]}}`
}

/** Returns the results of `stats` per time step, as range queries of Prometheus do. */
export async function queryStatsRange(
  { query, timeNs }: EndpointParameters,
  bucket: Bucket,
  reading: QueryRunner,
): Promise<string> {
  const columns = columnsOf(query.pipes)
  const series = new Map<string, Sample[]>()
  await readRows(reading, byTime(query, bucket), row => {
    const time = parseTime(row.get('_time') ?? '') ?? timeNs
    for (const sample of samplesOf(row, columns, time)) {
      const key = JSON.stringify(sample.metric)
      const samples = series.get(key) ?? []
      samples.push(sample)
      series.set(key, samples)
    }
  })
  const result: string[] = []
  for (const [metric, samples] of series) {
    const values: string[] = []
    const sorted = await reading.timeSlices.run(
      sortInSteps(samples, (a, b) => (a.timeNs < b.timeNs ? -1 : 1)),
    )
    const format = (sample: Sample) =>
      void values.push(JSON.stringify([secondsOf(sample.timeNs), sample.value]))
    await reading.timeSlices.run(inSteps(sorted, format))
    result.push(`{"metric":${metric},"values":[${values.join(',')}]}`)
  }
  return `{"status":"success","data":{"resultType":"matrix","result":[${result.join(',')}]}}`
}

function secondsOf(timeNs: bigint): number {
  return Number(timeNs) / 1e9
}

/** Groups `stats` by time step, and partitions `sort` with a limit. @throws Status 400 */
function byTime(query: Query, bucket: Bucket): Query {
  const last = query.pipes.findLastIndex(({ kind }) => kind === 'stats')
  const pipes = query.pipes.map((pipe, i): Pipe => {
    if (pipe.kind === 'stats') {
      const by = pipe.by.filter(({ field }) => field !== '_time')
      return { ...pipe, by: [{ field: '_time', bucket }, ...by] }
    }
    if (i < last && !preservesTime(pipe))
      throw badRequest(`query: the pipe ${pipe.kind} before stats may change or remove _time`)
    if (pipe.kind === 'sort' && pipe.limit !== undefined)
      return { ...pipe, partitionBy: ['_time', ...pipe.partitionBy] }
    if (pipe.kind === 'fields') return { ...pipe, fields: ['_time', ...pipe.fields] }
    return pipe
  })
  return { ...query, pipes }
}

/** The fields of results: labels of metrics, and all names including values. */
type Columns = { readonly labels: ReadonlySet<string>; readonly names: readonly string[] }

/** @throws Status 400 */
function columnsOf(pipes: readonly Pipe[]): Columns {
  const last = pipes.findLastIndex(({ kind }) => kind === 'stats')
  const stats = pipes[last]
  if (stats?.kind !== 'stats') throw badRequest('query: the pipe stats is missing')
  const by = stats.by.map(({ field }) => field)
  const labels = new Set(by)
  let names = new Set([...by, ...stats.entries.map(({ result }) => result)])
  for (const pipe of pipes.slice(last + 1)) {
    if (pipe.kind === 'format') labels.add(pipe.result)
    if (pipe.kind === 'format' || pipe.kind === 'len') names.add(pipe.result)
    else if (pipe.kind === 'math') for (const { result } of pipe.entries) names.add(result)
    else if (pipe.kind === 'fields') names = new Set([...names].filter(createNameTest(pipe.fields)))
    else if (!['filter', 'sort', 'limit', 'offset'].includes(pipe.kind))
      throw badRequest(`query: the pipe ${pipe.kind} after stats is not supported here`)
  }
  return { labels, names: [...names].filter(name => name !== '_time') }
}

const buckets = /^\[(?:\{"vmrange":"[^"]+","hits":\d+\},?)*\]$/
const bucketPattern = /\{"vmrange":"([^"]+)","hits":(\d+)\}/g

/** Converts a row to samples; labels with an empty value are kept. */
function samplesOf(row: Row, { labels, names }: Columns, timeNs: bigint): readonly Sample[] {
  const named = names.filter(name => labels.has(name)).map(name => [name, row.get(name) ?? ''] as const)
  return names.flatMap(name => {
    if (labels.has(name)) return []
    const value = row.get(name) ?? ''
    const metricOf = (suffix: string, more: readonly (readonly [string, string])[]) =>
      Object.fromEntries([['__name__', name + suffix], ...named, ...more])
    if (!buckets.test(value)) return [{ metric: metricOf('', []), timeNs, value }]
    return [...value.matchAll(bucketPattern)].map(([, range = '', hits = '']) => ({
      metric: metricOf('_bucket', [['vmrange', range]]),
      timeNs,
      value: hits,
    }))
  })
}
