import { operation } from '../../openapi/kube-errors.ts'
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

/** The OpenAPI operation of VictoriaLogs' query API. Parameters may also be a form. */
export const logsqlOperation: Operation = operation(
  'Serves LogsQL queries like VictoriaLogs',
  {
    200: {
      description: 'query and tail: one row per line; all others: one JSON object.',
      content: {
        ...json(anyObject('In the format of VictoriaLogs.')),
        ...content(['application/stream+json', 'application/x-ndjson'], text()),
      },
    },
  },
  {
    description:
      'Also available at /select/logsql/{endpoint}. Callers see the lines of pods whose pods/log they may get. docs/logs.md lists the supported syntax.',
    parameters: [
      segment('endpoint', `The endpoint: ${endpoints.join(', ')}.`),
      query('query', 'A query of LogsQL.'),
      query('start', 'Start time: RFC 3339, a Unix timestamp, or a duration before now.'),
      query('end', 'End of the time range, exclusive.'),
      query('time', 'stats_query: the time to which the query is relative.'),
      query('limit', 'Maximum number of rows or values.', count),
      query('offset', 'query: number of rows to skip. hits and stats_query_range: offset of the steps.'),
      query('step', 'hits and stats_query_range: width of a step.', text('', { default: '1d' })),
      query('field', 'field_values and stream_field_values: the field; hits: a field to group by.'),
      query('fields_limit', 'hits: maximum number of groups.', count),
      query('filter', 'Endpoints that return names or values: a substring of them.'),
      query('ignore_pipes', 'Whether to ignore the pipes of the query.', boolean()),
      query('extra_filters', 'Additional filters in LogsQL, or a JSON object of field names and values.'),
      query('extra_stream_filters', 'Like extra_filters, for stream fields.'),
      query('timeout', 'A duration; no longer than the limit of the server.'),
      query('max_values_per_field', 'facets: as in VictoriaLogs.', count),
      query('max_value_len', 'facets: as in VictoriaLogs.', count),
      query('keep_const_fields', 'facets: as in VictoriaLogs.', boolean()),
      query('start_offset', 'tail: first returns the lines of this duration before now.'),
    ],
    errors: [404, 405, 408, 413, 415],
  },
)
