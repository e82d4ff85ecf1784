import { badRequest } from '../../apierrors/status.ts'
import { uniqueName } from '../../logs/logsql/parse/field-names.ts'
import type { Query } from '../../logs/logsql/query.ts'
import { type Row, streamLabels } from '../../logs/logsql/row.ts'
import type { LogsqlParameters } from './parameters.ts'
import { inSteps, type QueryRunner, readRows } from './run-query.ts'

type ValuesRequest = { readonly parameters: LogsqlParameters; readonly reading: QueryRunner }
type Value = { readonly value: string; readonly hits: number }

/** Returns the values of a field, and the number of lines with each. */
export async function queryValues(request: ValuesRequest, query: Query, field: string): Promise<string> {
  const hits = uniqueName('hits', [field])
  const limit = request.parameters.text('filter') === '' ? request.parameters.count('limit') : 0
  const top = { kind: 'top', by: [field], hits, count: limit || Number.POSITIVE_INFINITY } as const
  const values = await collect(request.reading, { ...query, pipes: [...query.pipes, top] }, row => ({
    value: row.get(field) ?? '',
    hits: Number(row.get(hits)),
  }))
  return formatValues(request, values)
}

/** Returns the names of the fields of matching lines, and the number of lines with each. */
export async function queryFieldNames(request: ValuesRequest, query: Query): Promise<string> {
  const names = { kind: 'fieldNames', result: 'name', part: '' } as const
  const by = [
    { field: 'hits', isDescending: true },
    { field: 'name', isDescending: false },
  ]
  const sort = { kind: 'sort', by, offset: 0, partitionBy: [] } as const
  const values = await collect(request.reading, { ...query, pipes: [...query.pipes, names, sort] }, row => ({
    value: row.get('name') ?? '',
    hits: Number(row.get('hits')),
  }))
  return formatValues(request, values)
}

/** Returns the labels of streams, and the number of lines with each. */
export async function queryStreamFieldNames(request: ValuesRequest, query: Query): Promise<string> {
  const entries = streamLabels.map(label => ({
    function: { name: 'count', fields: [label] } as const,
    result: label,
  }))
  const stats = { kind: 'stats', by: [], entries } as const
  const values: Value[] = []
  await readRows(request.reading, { ...query, pipes: [...query.pipes, stats] }, row => {
    values.push(...streamLabels.map(value => ({ value, hits: Number(row.get(value)) })))
  })
  const found = values.filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits)
  return formatValues(request, found)
}

/** @throws Status 400 */
export function streamLabelOf(field: string): string {
  if (streamLabels.some(label => label === field)) return field
  throw badRequest(
    `invalid field ${JSON.stringify(field)}: expected a label of streams: ${streamLabels.join(', ')}`,
  )
}

async function collect(
  reading: QueryRunner,
  query: Query,
  toValue: (row: Row) => Value,
): Promise<readonly Value[]> {
  const values: Value[] = []
  await readRows(reading, query, row => void values.push(toValue(row)))
  return values
}

/** Returns at most `limit` values, the most frequent first. */
async function formatValues(
  { parameters, reading }: ValuesRequest,
  given: readonly Value[],
): Promise<string> {
  const part = parameters.text('filter')
  const most = parameters.count('limit') || Number.POSITIVE_INFINITY
  const values: string[] = []
  const format = (value: Value) => {
    if (values.length < most && value.value.includes(part)) values.push(JSON.stringify(value))
  }
  await reading.timeSlices.run(inSteps(given, format))
  return `{"values":[${values.join(',')}]}`
}

const facetLimits = { limit: 10, values: 1000, length: 128 }

/** Returns the most frequent values of each field, except for fields with too many values. */
export async function queryFacets({ parameters, reading }: ValuesRequest, query: Query): Promise<string> {
  const pipe = {
    kind: 'facets',
    limit: parameters.count('limit') || facetLimits.limit,
    maxValues: Math.min(parameters.count('max_values_per_field') || facetLimits.values, 100_000),
    maxLength: parameters.count('max_value_len') || facetLimits.length,
    keepsConstant: parameters.flag('keep_const_fields'),
  } as const
  const facets: { readonly name: string; readonly values: string[] }[] = []
  await readRows(reading, { ...query, pipes: [...query.pipes, pipe] }, row => {
    const name = row.get('field_name') ?? ''
    const value = { field_value: row.get('field_value') ?? '', hits: Number(row.get('hits')) }
    const last = facets.at(-1)
    if (last?.name === name) last.values.push(JSON.stringify(value))
    else facets.push({ name, values: [JSON.stringify(value)] })
  })
  const texts = facets.map(
    ({ name, values }) => `{"field_name":${JSON.stringify(name)},"values":[${values.join(',')}]}`,
  )
  return `{"facets":[${texts.join(',')}]}`
}
