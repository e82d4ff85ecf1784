import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { EventKind } from '../events/event-kind.ts'
import { allOf } from '../filter/expression.ts'
import { type Interval, parseInterval } from '../histogram-interval.ts'
import type { LogQuery, Order } from '../store.ts'
import type { RecordSelection } from './log-query.ts'
import { readPage, readTimes } from './page-parameters.ts'
import { readParameters, type Warn } from './parameters.ts'

export type EventSelection = RecordSelection & {
  readonly workspaces: readonly string[] | undefined
  /** Substrings of workspace names, case-sensitive; one must match. */
  readonly workspaceParts: readonly string[] | undefined
}

export type EventQueryParameters = { readonly where: EventSelection } & (
  | ({ readonly operation: 'query'; readonly withCursor: boolean } & Pick<
      LogQuery,
      'order' | 'size' | 'start'
    >)
  | { readonly operation: 'statistics' }
  | { readonly operation: 'histogram'; readonly interval: Interval }
  | { readonly operation: 'export'; readonly order: Order }
)

/** Parameters that Kubernetes events and audit events share. */
export const sharedParameters = [
  'operation',
  'workspace_filter',
  'workspace_search',
  'start_time',
  'end_time',
  'interval',
  'sort',
  'from',
  'size',
  'cursor',
  'with_cursor',
] as const

/** Parses the parameters of /events and /auditing/events. @throws Status 400 */
export function parseEventQuery(query: QueryParameters, kind: EventKind, warn: Warn): EventQueryParameters {
  const { namespaces, namespaceParts, filters } = kind
  const own = [namespaces, namespaceParts, ...Object.keys(filters)]
  const parameters = readParameters(query, [...sharedParameters, ...own], warn)
  const { list, choice, boolean, text } = parameters
  const operation = choice('operation', ['query', 'statistics', 'histogram', 'export'])
  const parts = Object.entries(filters).map(([name, toExpression]) => {
    const values = list(name)
    return values && toExpression(values)
  })
  const where = {
    ...readTimes(parameters),
    expression: allOf(parts),
    namespaces: list(namespaces),
    namespaceParts: list(namespaceParts),
    workspaces: list('workspace_filter'),
    workspaceParts: list('workspace_search'),
  }
  const order = choice('sort', ['desc', 'asc'])
  const interval = parseInterval(text('interval') || '15m')
  const page = readPage(parameters)
  const withCursor = boolean('with_cursor', false)
  if (operation === 'statistics') return { operation, where }
  if (operation === 'histogram') return { operation, where, interval }
  if (operation === 'export') return { operation, where, order }
  return { operation, where, order, withCursor, ...page }
}
