import type { EventKind } from '../../logs/events/kind.ts'
import { sharedParameters } from '../../logs/question/event-question.ts'
import { callers, kubeErrors } from '../../openapi/kube-errors.ts'
import { content, json, type Operation, type Parameter, query } from '../../openapi/operation.ts'
import { arrayOf, boolean, integer, object, oneOfTexts, type Schema, text } from '../../openapi/schema.ts'

const known: Readonly<Record<(typeof sharedParameters)[number], Parameter>> = {
  operation: query(
    'operation',
    'What is wanted.',
    oneOfTexts(['query', 'statistics', 'histogram', 'export'], '', { default: 'query' }),
  ),
  workspace_filter: query('workspace_filter', 'Workspaces, joined by commas.'),
  workspace_search: query('workspace_search', 'Parts of names of workspaces, with case, joined by commas.'),
  start_time: query('start_time', 'From this moment, in Unix seconds.', integer('', { minimum: 0 })),
  end_time: query('end_time', 'Up to this moment, in Unix seconds.', integer('', { minimum: 0 })),
  interval: query('interval', 'Of a histogram: the width of a bar.', text('', { default: '15m' })),
  sort: query('sort', 'By time.', oneOfTexts(['desc', 'asc'], '', { default: 'desc' })),
  from: query('from', 'Events to leave out.', integer('', { minimum: 0, default: 0 })),
  size: query('size', 'Events of a page.', integer('', { minimum: 0, maximum: 10_000, default: 10 })),
  cursor: query('cursor', 'Goes on behind this event, however deep.'),
  with_cursor: query('with_cursor', 'Each event comes with its cursor.', boolean('', { default: false })),
}

const event: Schema = { type: 'object' }
const bar = object({ time: integer('Unix milliseconds.'), count: integer() })
const answer: Schema = {
  oneOf: [
    object({ query: object({ total: integer(), records: arrayOf(event) }, ['records']) }),
    object({ statistics: object({ resources: integer(), events: integer() }) }),
    object({ histogram: object({ total: integer(), buckets: { anyOf: [arrayOf(bar), { type: 'null' }] } }) }),
  ],
}

/** The events API for one kind of events. */
export function eventOperation(summary: string, description: string, kind: EventKind): Operation {
  const own = [kind.namespaces, kind.namespaceParts, ...Object.keys(kind.filters)].map(name =>
    query(name, name.endsWith('_search') ? 'Parts, joined by commas.' : 'Whole values, joined by commas.'),
  )
  return {
    summary,
    description,
    parameters: [...sharedParameters.map(name => known[name]), ...own],
    answers: {
      200: {
        description: 'By operation: an answer, or an export of one event a line.',
        content: { ...json(answer), ...content(['application/x-ndjson'], event) },
      },
      ...kubeErrors(),
    },
    security: callers,
  }
}
