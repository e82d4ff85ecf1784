import { callers, kubeErrors } from '../../openapi/kube-errors.ts'
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

const names = (what: string) => `${what}, joined by commas.`
const parts = (what: string) => `Beginnings of words in ${what}, joined by commas.`
const seconds = integer('', { minimum: 0 })
const flag = boolean('', { default: false })

/** The parameters of parseQuestion. */
export const logParameters: readonly Parameter[] = [
  query(
    'operation',
    'What is wanted.',
    oneOfTexts(['query', 'statistics', 'histogram', 'export', 'context'], '', { default: 'query' }),
  ),
  query('namespaces', names('Namespaces')),
  query('namespace_query', 'Parts of names of namespaces, with case, joined by commas.'),
  query('workloads', names('Workloads')),
  query('workload_query', parts('names of workloads')),
  query('pods', names('Pods')),
  query('pod_query', parts('names of pods')),
  query('containers', names('Containers')),
  query('container_query', parts('names of containers')),
  query('log_query', 'Phrases of the line, joined by commas; one of them must be found.'),
  query(
    'q',
    'The query language: AND, OR, NOT, "phrases", wild*cards, /regular expressions/, fields; see docs/logs.md.',
  ),
  query('start_time', 'From this moment, in Unix seconds.', seconds),
  query('end_time', 'Up to this moment, in Unix seconds.', seconds),
  query('interval', 'Of a histogram: the width of a bar.', text('', { default: '15m' })),
  query('sort', 'By time.', oneOfTexts(['desc', 'asc'], '', { default: 'desc' })),
  query(
    'from',
    'Records to leave out; from + size is at most 10000.',
    integer('', { minimum: 0, default: 0 }),
  ),
  query('size', 'Records of a page.', integer('', { minimum: 0, maximum: 10_000, default: 10 })),
  query('cursor', 'Goes on behind this record, however deep; of a context: the record.'),
  query('with_cursor', 'Each record comes with its cursor.', flag),
  query('follow', 'Of a query: the newest, and then lines as they arrive.', flag),
  query('format', 'Of an export.', oneOfTexts(['text', 'jsonl', 'csv'], '', { default: 'text' })),
  query(
    'with_time',
    'Of an export: with the time of each line; the default is false for text and true else.',
    boolean(),
  ),
  query('with_pod', 'Of an export: with namespace, pod and container of each line; the same.', boolean()),
  query('before', 'Of a context: records before.', integer('', { minimum: 0, maximum: 1000, default: 10 })),
  query('after', 'Of a context: records after.', integer('', { minimum: 0, maximum: 1000, default: 10 })),
]

const record = object(
  {
    log: text(),
    time: text('RFC 3339, in nanoseconds.'),
    namespace: text(),
    pod: text(),
    container: text(),
    fields: anyObject('What else the sender said of the line: texts, numbers, booleans and lists of them.'),
    cursor: text(),
  },
  ['log', 'time', 'namespace', 'pod', 'container', 'fields', 'cursor'],
)
const bar = object({ time: integer('Unix milliseconds.'), count: integer() })
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

const answer: Schema = {
  oneOf: [
    object({ query: object({ total: integer(), records: arrayOf(record) }, ['records']) }),
    object({ statistics: object({ containers: integer(), logs: integer() }) }),
    object({ histogram: object({ total: integer(), histograms: orNull(arrayOf(bar)) }) }),
    object({ context: object({ before: arrayOf(record), after: arrayOf(record) }) }),
  ],
}

/** The log API, at whatever path its face is. */
export function logOperation(summary: string, segments: readonly Parameter[] = []): Operation {
  return {
    summary,
    description:
      'Callers see the lines of the pods whose pods/log they may get. A tail is one JSON object a line, or server-sent events for clients that accept text/event-stream.',
    parameters: [...segments, ...logParameters],
    answers: {
      200: {
        description: 'By operation: an answer, an export, or a tail.',
        content: {
          ...json(answer),
          ...content(['application/x-ndjson'], record),
          ...content(['text/plain', 'text/csv', 'text/event-stream'], text()),
        },
      },
      ...kubeErrors(),
    },
    security: callers,
  }
}
