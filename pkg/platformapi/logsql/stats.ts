import { badRequest } from '../../apierrors/status.ts'
import { parseTime } from '../../logs/logsql/numbers.ts'
import { keepsTime } from '../../logs/logsql/pipes/pipeline.ts'
import type { Bucket, Pipe, Query } from '../../logs/logsql/query.ts'
import type { Row } from '../../logs/logsql/row.ts'
import type { Asked } from './parameters.ts'
import type { Rows } from './run-query.ts'

type Sample = {
  readonly metric: Readonly<Record<string, string>>
  readonly timeNs: bigint
  readonly value: string
}

/** The results of `stats` at one time, as Prometheus' instant queries have them. */
export async function answerStats({ query, timeNs }: Asked, read: Rows): Promise<string> {
  const labels = labelsOf(query.pipes)
  const samples: Sample[] = []
  for await (const rows of read(query))
    for (const row of rows) samples.push(...samplesOf(row, labels, timeNs))
  const result = samples.map(({ metric, value }) => ({ metric, value: [secondsOf(timeNs), value] }))
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } })
}

/** The same for each time step, like range queries of Prometheus. */
export async function answerStatsRange(
  { query, timeNs }: Asked,
  bucket: Bucket,
  read: Rows,
): Promise<string> {
  const labels = labelsOf(query.pipes)
  const series = new Map<string, Sample[]>()
  for await (const rows of read(byTime(query, bucket))) {
    for (const row of rows) {
      const time = parseTime(row.get('_time') ?? '') ?? timeNs
      for (const sample of samplesOf(row, labels, time)) {
        const key = JSON.stringify(sample.metric)
        const samples = series.get(key) ?? []
        samples.push(sample)
        series.set(key, samples)
      }
    }
  }
  const result = [...series.values()].map(samples => ({
    metric: samples[0]?.metric ?? {},
    values: samples
      .toSorted((a, b) => (a.timeNs < b.timeNs ? -1 : 1))
      .map(({ timeNs: time, value }) => [secondsOf(time), value]),
  }))
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } })
}

function secondsOf(timeNs: bigint): number {
  return Number(timeNs) / 1e9
}

/** Adds the step to each `stats`, and to each `sort` that cuts off. @throws Status 400 */
function byTime(query: Query, bucket: Bucket): Query {
  const last = query.pipes.findLastIndex(({ kind }) => kind === 'stats')
  const pipes = query.pipes.map((pipe, i): Pipe => {
    if (pipe.kind === 'stats') {
      const by = pipe.by.filter(({ field }) => field !== '_time')
      return { ...pipe, by: [{ field: '_time', bucket }, ...by] }
    }
    if (i < last && !keepsTime(pipe))
      throw badRequest(`query: the pipe ${pipe.kind} before stats may change or remove _time`)
    if (pipe.kind === 'sort' && pipe.limit !== undefined)
      return { ...pipe, partitionBy: ['_time', ...pipe.partitionBy] }
    if (pipe.kind === 'fields') return { ...pipe, fields: ['_time', ...pipe.fields] }
    return pipe
  })
  return { ...query, pipes }
}

/** The fields of results that are labels of metrics. @throws Status 400 */
function labelsOf(pipes: readonly Pipe[]): ReadonlySet<string> {
  const last = pipes.findLastIndex(({ kind }) => kind === 'stats')
  const stats = pipes[last]
  if (stats?.kind !== 'stats') throw badRequest('query: the pipe stats is missing')
  const labels = new Set(stats.by.map(({ field }) => field))
  for (const pipe of pipes.slice(last + 1)) {
    if (pipe.kind === 'format') labels.add(pipe.result)
    else if (!['filter', 'sort', 'limit', 'offset', 'math', 'fields', 'len'].includes(pipe.kind))
      throw badRequest(`query: the pipe ${pipe.kind} behind stats is not supported here`)
  }
  return labels
}

const buckets = /^\[(?:\{"vmrange":"[^"]+","hits":\d+\},?)*\]$/
const bucketPattern = /\{"vmrange":"([^"]+)","hits":(\d+)\}/g

function samplesOf(row: Row, labels: ReadonlySet<string>, timeNs: bigint): readonly Sample[] {
  const named = [...row].filter(([name]) => labels.has(name) && name !== '_time')
  return [...row].flatMap(([name, value]) => {
    if (labels.has(name) || name === '_time') return []
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
