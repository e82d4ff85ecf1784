import { callers, kubeErrors } from '../../openapi/kube-errors.ts'
import { content, json, type Operation, query, segment } from '../../openapi/operation.ts'
import { anyObject, boolean, integer, text } from '../../openapi/schema.ts'

const endpoints = [
  'query',
  'tail',
  'hits',
  'facets',
  'field_names',
  'field_values',
  'streams',
  'stream_ids',
  'stream_field_names',
  'stream_field_values',
  'stats_query',
  'stats_query_range',
]
const count = integer('', { minimum: 0 })

/**
 * The OpenAPI operation of the query API of VictoriaLogs. Parameters may also be sent as a form.
 */
export const logsqlOperation: Operation = {
  summary: 'Answers LogsQL queries as VictoriaLogs does',
  description:
    'The same is at /select/logsql/{endpoint}. Callers see the lines of the pods whose pods/log they may get. docs/logs.md has what is supported of the language.',
  parameters: [
    segment('endpoint', `What is wanted: ${endpoints.join(', ')}.`),
    query('query', 'A query of LogsQL.'),
    query('start', 'Start time: RFC 3339, a Unix timestamp, or a duration before now.'),
    query('end', 'Up to this moment, which is not included.'),
    query('time', 'stats_query: the time to which the query is relative.'),
    query('limit', 'Rows or values at most.', count),
    query('offset', 'query: number of rows to skip. hits and stats_query_range: offset of the steps.'),
    query('step', 'hits and stats_query_range: width of a step.', text('', { default: '1d' })),
    query('field', 'field_values and stream_field_values: the field; hits: a field to group by.'),
    query('fields_limit', 'Of hits: groups at most.', count),
    query('filter', 'Of names and values: a part of them.'),
    query('ignore_pipes', 'Whether the pipes of the query are left out.', boolean()),
    query('extra_filters', 'More filters, or a JSON object of names and values.'),
    query('extra_stream_filters', 'The same.'),
    query('timeout', 'A duration; no longer than the limit of the server.'),
    query('max_values_per_field', 'Of facets.', count),
    query('max_value_len', 'Of facets.', count),
    query('keep_const_fields', 'Of facets.', boolean()),
    query('start_offset', 'Of tail: lines of this duration come first.'),
  ],
  answers: {
    200: {
      description: 'query and tail: one row per line; all others: one JSON object.',
      content: {
        ...json(anyObject('As VictoriaLogs has it.')),
        ...content(['application/stream+json', 'application/x-ndjson'], text()),
      },
    },
    ...kubeErrors(404, 405, 408, 413, 415),
  },
  security: callers,
}
