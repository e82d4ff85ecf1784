import { badRequest } from '../../apierrors/status.ts'
import { parseTime } from '../../logs/logsql/numbers.ts'
import { bucketOfTime } from '../../logs/logsql/pipes/bucket.ts'
import { keepsTime } from '../../logs/logsql/pipes/pipeline.ts'
import type { Bucket, Pipe } from '../../logs/logsql/query.ts'
import { formatTime } from '../../logs/rfc3339.ts'
import type { Asked, LogsqlParameters } from './parameters.ts'
import type { Rows } from './run-query.ts'

type Series = { readonly fields: string; readonly hits: Map<bigint, number>; total: number }

const maxPoints = 200_000

/** Lines by time, and by the values of fields. */
export async function answerHits(
  parameters: LogsqlParameters,
  { query, startNs, endNs }: Asked,
  bucket: Bucket,
  read: Rows,
): Promise<string> {
  const fields = parameters.all('field')
  const by = [{ field: '_time', bucket }, ...fields.map(field => ({ field }))]
  const hits = uniqueName('hits', fields)
  const count = { function: { name: 'count', fields: ['*'] }, result: hits } as const
  const cut = query.pipes.findIndex(pipe => !keepsTime(pipe))
  const pipes: readonly Pipe[] = [
    ...query.pipes.slice(0, cut === -1 ? undefined : cut),
    { kind: 'stats', by, entries: [count] },
  ]
  const series = new Map<string, Series>()
  for await (const rows of read({ ...query, pipes })) {
    for (const row of rows) {
      const values = fields.map(field => [field, row.get(field) ?? ''] as const)
      const key = JSON.stringify(Object.fromEntries(values))
      const one = series.get(key) ?? { fields: key, hits: new Map(), total: 0 }
      series.set(key, one)
      const number = Number(row.get(hits))
      one.hits.set(parseTime(row.get('_time') ?? '') ?? 0n, number)
      one.total += number
    }
  }
  const top = topSeries([...series.values()], parameters.count('fields_limit'))
  const times = top.flatMap(one => [...one.hits.keys()])
  const span = spanOf(times, { startNs, endNs, count: top.length }, bucket)
  const parts = top.map(one => formatSeries(one, span, bucket))
  return `{"hits":[${parts.join(',')}]}`
}

export function uniqueName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? uniqueName(`${name}s`, taken) : name
}

/** The series with the most lines; all others are combined in one without fields. */
function topSeries(series: readonly Series[], limit: number): readonly Series[] {
  const sorted = series.toSorted((a, b) => b.total - a.total)
  if (limit === 0 || series.length <= limit) return series.toSorted((a, b) => (a.fields < b.fields ? -1 : 1))
  const other: Series = { fields: '{}', hits: new Map(), total: 0 }
  for (const { hits, total } of sorted.slice(limit)) {
    other.total += total
    for (const [time, count] of hits) other.hits.set(time, (other.hits.get(time) ?? 0) + count)
  }
  return [other, ...sorted.slice(0, limit)].sort((a, b) => (a.fields < b.fields ? -1 : 1))
}

type Span = { readonly first: bigint; readonly last: bigint }

/**
 * The first and the last bucket; all between them are returned, including empty ones.
 *
 * @throws Status 400
 */
function spanOf(
  times: readonly bigint[],
  { startNs, endNs, count }: Pick<Asked, 'startNs' | 'endNs'> & { readonly count: number },
  bucket: Bucket,
): Span {
  let [least, most] = [times[0] ?? 0n, times[0] ?? 0n]
  for (const time of times) {
    if (time < least) least = time
    if (time > most) most = time
  }
  const first = bucketOfTime(startNs ?? least, bucket)
  const last = bucketOfTime(endNs ?? most, bucket)
  // Each series has all buckets.
  const points = BigInt(count) * ((last - first) / BigInt(bucket.size))
  if (points > BigInt(maxPoints)) {
    throw badRequest(
      `step is too short: there would be more than ${maxPoints} buckets; choose a longer one, or a fields_limit`,
    )
  }
  return { first, last }
}

function formatSeries({ fields, hits, total }: Series, { first, last }: Span, bucket: Bucket): string {
  const times: string[] = []
  const values: number[] = []
  for (let at = first; at <= last; at += BigInt(bucket.size)) {
    times.push(JSON.stringify(formatTime(at)))
    values.push(hits.get(at) ?? 0)
  }
  return `{"fields":${fields},"timestamps":[${times.join(',')}],"values":[${values.join(',')}],"total":${total}}`
}
