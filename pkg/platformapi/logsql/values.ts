import { badRequest } from '../../apierrors/status.ts'
import { type Budget, sizeOf } from '../../logs/logsql/pipes/stage.ts'
import type { Query } from '../../logs/logsql/query.ts'
import { type Row, streamLabels } from '../../logs/logsql/row.ts'
import { uniqueName } from './hits.ts'
import type { LogsqlParameters } from './parameters.ts'
import type { Rows } from './run-query.ts'

type Value = { readonly value: string; readonly hits: number }

/** The values of a field, and in how many lines each is. */
export async function answerValues(
  parameters: LogsqlParameters,
  query: Query,
  read: Rows,
  field: string,
): Promise<string> {
  const hits = uniqueName('hits', [field])
  const wanted = parameters.text('filter') === '' ? parameters.count('limit') : 0
  const top = { kind: 'top', by: [field], hits, count: wanted || Number.POSITIVE_INFINITY } as const
  const values = await collect(read({ ...query, pipes: [...query.pipes, top] }), row => ({
    value: row.get(field) ?? '',
    hits: Number(row.get(hits)),
  }))
  return formatValues(parameters, values)
}

export async function answerFieldNames(
  parameters: LogsqlParameters,
  query: Query,
  read: Rows,
): Promise<string> {
  const names = { kind: 'fieldNames', result: 'name', part: '' } as const
  const by = [
    { field: 'hits', isDescending: true },
    { field: 'name', isDescending: false },
  ]
  const sort = { kind: 'sort', by, offset: 0, partitionBy: [] } as const
  const values = await collect(read({ ...query, pipes: [...query.pipes, names, sort] }), row => ({
    value: row.get('name') ?? '',
    hits: Number(row.get('hits')),
  }))
  return formatValues(parameters, values)
}

/** The labels of streams, and in how many lines each is. */
export async function answerStreamFieldNames(
  parameters: LogsqlParameters,
  query: Query,
  read: Rows,
): Promise<string> {
  const entries = streamLabels.map(label => ({
    function: { name: 'count', fields: [label] } as const,
    result: label,
  }))
  const stats = { kind: 'stats', by: [], entries } as const
  const values: Value[] = []
  for await (const rows of read({ ...query, pipes: [...query.pipes, stats] })) {
    for (const row of rows)
      values.push(...streamLabels.map(value => ({ value, hits: Number(row.get(value)) })))
  }
  const found = values.filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits)
  return formatValues(parameters, found)
}

/** @throws Status 400 */
export function streamLabelOf(field: string): string {
  if (streamLabels.some(label => label === field)) return field
  throw badRequest(
    `invalid field ${JSON.stringify(field)}: expected a label of streams: ${streamLabels.join(', ')}`,
  )
}

async function collect(
  pages: AsyncIterable<readonly Row[]>,
  toValue: (row: Row) => Value,
): Promise<readonly Value[]> {
  const values: Value[] = []
  // All come together at the end: too many to be arguments.
  for await (const rows of pages) for (const row of rows) values.push(toValue(row))
  return values
}

/** `limit` of the values at most, the most frequent of which come first. */
function formatValues(parameters: LogsqlParameters, given: readonly Value[]): string {
  const part = parameters.text('filter')
  const values = given
    .filter(({ value }) => value.includes(part))
    .slice(0, parameters.count('limit') || undefined)
  return JSON.stringify({ values })
}

const facetLimits = { limit: 10, values: 1000, length: 128 }

/** The most frequent values of each field that has not too many of them. */
export async function answerFacets(
  parameters: LogsqlParameters,
  query: Query,
  read: Rows,
  budget: Budget,
): Promise<string> {
  const limit = parameters.count('limit') || facetLimits.limit
  const maxValues = Math.min(parameters.count('max_values_per_field') || facetLimits.values, 100_000)
  const maxLength = parameters.count('max_value_len') || facetLimits.length
  const keepsConstant = parameters.flag('keep_const_fields')
  const fields: FieldCounts = new Map()
  let total = 0
  for await (const rows of read(query)) {
    for (const row of rows) {
      total += 1
      for (const [name, value] of row) countValue(fields, name, value, { maxValues, maxLength, budget })
    }
  }
  const facets = [...fields]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, counts]) => {
      if (counts === undefined) return []
      const [first] = counts.values()
      if (counts.size === 1 && first === total && !keepsConstant) return []
      const values = [...counts]
        .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([value, hits]) => ({ field_value: value, hits }))
      return [{ field_name: name, values }]
    })
  return JSON.stringify({ facets })
}

/** How often each value is there; undefined where there are too many of them, or too long ones. */
type FieldCounts = Map<string, Map<string, number> | undefined>

function countValue(
  fields: FieldCounts,
  name: string,
  value: string,
  most: { readonly maxValues: number; readonly maxLength: number; readonly budget: Budget },
): void {
  const isNew = !fields.has(name)
  const counts = isNew ? new Map<string, number>() : fields.get(name)
  if (counts === undefined) return
  if (isNew) most.budget.take(sizeOf([name]))
  const isTooMuch =
    Buffer.byteLength(value) > most.maxLength || (counts.size >= most.maxValues && !counts.has(value))
  if (isTooMuch) {
    for (const known of counts.keys()) most.budget.take(-sizeOf([known]))
    fields.set(name, undefined)
    return
  }
  if (!counts.has(value)) most.budget.take(sizeOf([value]))
  counts.set(value, (counts.get(value) ?? 0) + 1)
  fields.set(name, counts)
}
