import { badRequest } from '../../apierrors/status.ts'
import { parseTime } from '../../logs/logsql/numbers.ts'
import { uniqueName } from '../../logs/logsql/parse/field-names.ts'
import { bucketOfTime } from '../../logs/logsql/pipes/bucket.ts'
import { preservesTime } from '../../logs/logsql/pipes/pipeline.ts'
import { type Steps, sortInSteps } from '../../logs/logsql/pipes/sort-in-steps.ts'
import type { Bucket, Pipe } from '../../logs/logsql/query.ts'
import { formatTime } from '../../logs/rfc3339.ts'
import type { EndpointParameters, LogsqlParameters } from './parameters.ts'
import { inSteps, type QueryRunner, readRows } from './run-query.ts'

type Series = { readonly fields: string; readonly hits: Map<bigint, number>; total: number }

const maxPoints = 200_000

/** Returns the number of lines per time bucket, grouped by the values of the requested fields. */
export async function queryHits(
  parameters: LogsqlParameters,
  { query, startNs, endNs }: EndpointParameters,
  bucket: Bucket,
  reading: QueryRunner,
): Promise<string> {
  const fields = parameters.all('field')
  const by = [{ field: '_time', bucket }, ...fields.map(field => ({ field }))]
  const hits = uniqueName('hits', fields)
  const count = { function: { name: 'count', fields: ['*'] }, result: hits } as const
  const cut = query.pipes.findIndex(pipe => !preservesTime(pipe))
  const pipes: readonly Pipe[] = [
    ...query.pipes.slice(0, cut === -1 ? undefined : cut),
    { kind: 'stats', by, entries: [count] },
  ]
  const series = new Map<string, Series>()
  await readRows(reading, { ...query, pipes }, row => {
    const key = JSON.stringify(Object.fromEntries(fields.map(field => [field, row.get(field) ?? ''])))
    const one = series.get(key) ?? { fields: key, hits: new Map(), total: 0 }
    series.set(key, one)
    const number = Number(row.get(hits))
    one.hits.set(parseTime(row.get('_time') ?? '') ?? 0n, number)
    one.total += number
  })
  const { timeSlices } = reading
  const top = await timeSlices.run(topSeries([...series.values()], parameters.count('fields_limit')))
  const span = await timeSlices.run(spanOf(top, { startNs, endNs }, bucket))
  const parts: string[] = []
  for (const one of top) parts.push(await timeSlices.run(formatSeries(one, span, bucket)))
  return `{"hits":[${parts.join(',')}]}`
}

const byFields = (a: Series, b: Series) => (a.fields < b.fields ? -1 : 1)

/** Returns the series with the most lines; all others are combined in one series without fields. */
function* topSeries(series: readonly Series[], limit: number): Steps<readonly Series[]> {
  if (limit === 0 || series.length <= limit) return yield* sortInSteps(series, byFields)
  const sorted = yield* sortInSteps(series, (a, b) => b.total - a.total)
  const other: Series = { fields: '{}', hits: new Map(), total: 0 }
  for (const { hits, total } of sorted.slice(limit)) {
    other.total += total
    yield* inSteps(hits, ([time, count]) => other.hits.set(time, (other.hits.get(time) ?? 0) + count))
  }
  return yield* sortInSteps([other, ...sorted.slice(0, limit)], byFields)
}

type Span = { readonly first: bigint; readonly last: bigint }

/** Returns the first and the last bucket, between which none is omitted. @throws Status 400 */
function* spanOf(
  series: readonly Series[],
  { startNs, endNs }: Pick<EndpointParameters, 'startNs' | 'endNs'>,
  bucket: Bucket,
): Steps<Span> {
  let [least, most]: [bigint | undefined, bigint | undefined] = [undefined, undefined]
  for (const { hits } of series) {
    for (const time of hits.keys()) {
      if (least === undefined || time < least) least = time
      if (most === undefined || time > most) most = time
      yield
    }
  }
  const first = bucketOfTime(startNs ?? least ?? 0n, bucket)
  const last = bucketOfTime(endNs ?? most ?? 0n, bucket)
  // Each series contains all buckets.
  const points = BigInt(series.length) * ((last - first) / BigInt(bucket.size))
  if (points > BigInt(maxPoints)) {
    throw badRequest(
      `step is too short: there would be more than ${maxPoints} buckets; choose a longer one, or a fields_limit`,
    )
  }
  return { first, last }
}

function* formatSeries(
  { fields, hits, total }: Series,
  { first, last }: Span,
  bucket: Bucket,
): Steps<string> {
  const times: string[] = []
  const values: number[] = []
  for (let at = first; at <= last; at += BigInt(bucket.size)) {
    times.push(JSON.stringify(formatTime(at)))
    values.push(hits.get(at) ?? 0)
    yield
  }
  return `{"fields":${fields},"timestamps":[${times.join(',')}],"values":[${values.join(',')}],"total":${total}}`
}
