import type { EventKind } from '../../logs/events/event-kind.ts'
import { sharedParameters } from '../../logs/query/event-query.ts'
import { operation } from '../../openapi/kube-errors.ts'
import { content, json, type Operation, type Parameter, query } from '../../openapi/operation.ts'
import { arrayOf, boolean, integer, object, oneOfTexts, type Schema, text } from '../../openapi/schema.ts'

const known: Readonly<Record<(typeof sharedParameters)[number], Parameter>> = {
  operation: query(
    'operation',
    'The operation.',
    oneOfTexts(['query', 'statistics', 'histogram', 'export'], '', { default: 'query' }),
  ),
  workspace_filter: query('workspace_filter', 'Comma-separated workspaces.'),
  workspace_search: query(
    'workspace_search',
    'Comma-separated substrings of names of workspaces, case-sensitive.',
  ),
  start_time: query('start_time', 'Start of the time range, in Unix seconds.', integer('', { minimum: 0 })),
  end_time: query('end_time', 'End of the time range, in Unix seconds.', integer('', { minimum: 0 })),
  interval: query('interval', 'histogram: the width of a bucket.', text('', { default: '15m' })),
  sort: query('sort', 'Order by time.', oneOfTexts(['desc', 'asc'], '', { default: 'desc' })),
  from: query('from', 'Events to skip.', integer('', { minimum: 0, default: 0 })),
  size: query(
    'size',
    'Maximum number of events per page.',
    integer('', { minimum: 0, maximum: 10_000, default: 10 }),
  ),
  cursor: query('cursor', 'Returns the events after this one, without a limit of depth.'),
  with_cursor: query('with_cursor', 'Whether each event has its cursor.', boolean('', { default: false })),
}

const event: Schema = { type: 'object' }
const bar = object({ time: integer('Unix milliseconds.'), count: integer() })
const response: Schema = {
  oneOf: [
    object({ query: object({ total: integer(), records: arrayOf(event) }, ['records']) }),
    object({ statistics: object({ resources: integer(), events: integer() }) }),
    object({ histogram: object({ total: integer(), buckets: { anyOf: [arrayOf(bar), { type: 'null' }] } }) }),
  ],
}

/** Returns the OpenAPI operation of the events API for one kind of events. */
export function eventOperation(summary: string, description: string, kind: EventKind): Operation {
  const own = [kind.namespaces, kind.namespaceParts, ...Object.keys(kind.filters)].map(name =>
    query(name, name.endsWith('_search') ? 'Comma-separated substrings.' : 'Comma-separated exact values.'),
  )
  return operation(
    summary,
    {
      200: {
        description: 'The result, or an export with one event per line, depending on operation.',
        content: { ...json(response), ...content(['application/x-ndjson'], event) },
      },
    },
    { description, parameters: [...sharedParameters.map(name => known[name]), ...own] },
  )
}
