import { operation } from '../../openapi/kube-errors.ts'
import { content, json, type Operation, type Parameter, query } from '../../openapi/operation.ts'
import {
  anyObject,
  arrayOf,
  boolean,
  integer,
  object,
  oneOfTexts,
  type Schema,
  text,
} from '../../openapi/schema.ts'

const names = (what: string) => `Comma-separated ${what}.`
const parts = (what: string) => `Comma-separated prefixes of words in ${what}.`
const seconds = integer('', { minimum: 0 })
const flag = boolean('', { default: false })

/** OpenAPI descriptions of the parameters that parseLogQuery reads. */
export const logParameters: readonly Parameter[] = [
  query(
    'operation',
    'The operation.',
    oneOfTexts(['query', 'statistics', 'histogram', 'export', 'context', 'patterns'], '', {
      default: 'query',
    }),
  ),
  query('namespaces', names('Namespaces')),
  query('namespace_query', 'Comma-separated substrings of names of namespaces, case-sensitive.'),
  query('workloads', names('Workloads')),
  query('workload_query', parts('names of workloads')),
  query('pods', names('Pods')),
  query('pod_query', parts('names of pods')),
  query('containers', names('Containers')),
  query('container_query', parts('names of containers')),
  query('log_query', 'Comma-separated phrases; one of them must occur in the line.'),
  query(
    'q',
    'The query language: AND, OR, NOT, "phrases", wild*cards, /regular expressions/, fields; see docs/logs.md.',
  ),
  query('start_time', 'Start of the time range, in Unix seconds.', seconds),
  query('end_time', 'End of the time range, in Unix seconds.', seconds),
  query('interval', 'histogram: the width of a bucket.', text('', { default: '15m' })),
  query('sort', 'Order by time.', oneOfTexts(['desc', 'asc'], '', { default: 'desc' })),
  query('from', 'Records to skip; from + size is at most 10000.', integer('', { minimum: 0, default: 0 })),
  query(
    'size',
    'Maximum number of records per page, or of patterns.',
    integer('', { minimum: 0, maximum: 10_000, default: 10 }),
  ),
  query('cursor', 'Returns the records after this one, without a limit of depth; context: the record.'),
  query('with_cursor', 'Whether each record has its cursor.', flag),
  query('follow', 'query: returns the newest lines, and then new lines as they arrive.', flag),
  query('format', 'export: the format.', oneOfTexts(['text', 'jsonl', 'csv'], '', { default: 'text' })),
  query(
    'with_time',
    'export: whether to add the time of each line; false by default for text, otherwise true.',
    boolean(),
  ),
  query(
    'with_pod',
    'export: whether to add namespace, pod and container of each line; false by default for text, otherwise true.',
    boolean(),
  ),
  query(
    'before',
    'context: number of records before.',
    integer('', { minimum: 0, maximum: 1000, default: 10 }),
  ),
  query(
    'after',
    'context: number of records after.',
    integer('', { minimum: 0, maximum: 1000, default: 10 }),
  ),
]

const record = object(
  {
    log: text(),
    time: text('RFC 3339 with nanoseconds.'),
    namespace: text(),
    pod: text(),
    container: text(),
    fields: anyObject('Other fields of the line: strings, numbers, booleans and lists of them.'),
    cursor: text(),
  },
  ['log', 'time', 'namespace', 'pod', 'container', 'fields', 'cursor'],
)
const bar = object({ time: integer('Unix milliseconds.'), count: integer() })
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

const response: Schema = {
  oneOf: [
    object({ query: object({ total: integer(), records: arrayOf(record) }, ['records']) }),
    object({ statistics: object({ containers: integer(), logs: integer() }) }),
    object({ histogram: object({ total: integer(), histograms: orNull(arrayOf(bar)) }) }),
    object({ patterns: arrayOf(object({ pattern: text(), count: integer() })) }),
    object({ context: object({ before: arrayOf(record), after: arrayOf(record) }) }),
  ],
}

/** Returns the OpenAPI operation of the log API, for any of its paths. */
export function logOperation(summary: string, segments: readonly Parameter[] = []): Operation {
  return operation(
    summary,
    {
      200: {
        description: 'The result, an export, or a live tail, depending on operation.',
        content: {
          ...json(response),
          ...content(['application/x-ndjson'], record),
          ...content(['text/plain', 'text/csv', 'text/event-stream'], text()),
        },
      },
    },
    {
      description:
        'Callers see the lines of pods for which they may get pods/log. A live tail is one JSON object per line, or server-sent events for clients that accept text/event-stream.',
      parameters: [...segments, ...logParameters],
    },
  )
}
