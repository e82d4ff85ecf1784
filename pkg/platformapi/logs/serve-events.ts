import { methodNotAllowed } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { sendJsonText } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { withFields } from '../../json/fields.ts'
import type { EventKind } from '../../logs/events/event-kind.ts'
import { exportHits } from '../../logs/export-records.ts'
import {
  type EventQueryParameters,
  type EventSelection,
  parseEventQuery,
} from '../../logs/query/event-query.ts'
import type { RecordSelection } from '../../logs/query/log-query.ts'
import type { Hit } from '../../logs/store.ts'
import { withAbortOnDisconnect } from './abort-on-disconnect.ts'
import { type CallerViewOptions, openCallerView } from './caller-view.ts'
import { queryHistogram, queryPage, type ScopedQuery } from './responses.ts'
import { sendPages } from './send-pages.ts'

export type EventApiOptions = CallerViewOptions & {
  readonly kind: EventKind
  /** Returns the workspaces of all namespaces, by namespace. @throws Status 503 */
  readonly workspaces: () => ReadonlyMap<string, string>
}

/**
 * Serves the events API of KubeSphere: query, statistics, histogram and export. Callers without
 * access get empty results.
 *
 * @throws Status 400 that names the parameter, 405, 503, 504
 */
export function createEventApi(options: EventApiOptions): Handler {
  async function serve(exchange: AuthenticatedExchange, signal: AbortSignal): Promise<void> {
    const { kind } = options
    const parameters = parseEventQuery(exchange.query, kind, text => addWarning(exchange.res, text))
    const where = inWorkspaces(parameters.where, options.workspaces)
    const { filter, limits, ...view } = await openCallerView(exchange, where, signal, options)
    const store = view.checked()
    if (parameters.operation === 'export') {
      const { order } = parameters
      const pages = filter && exportHits(store, { filter, order, limit: view.exportLimit }, limits)
      const headers = { 'content-type': 'application/x-ndjson', 'content-disposition': 'attachment' }
      const format = (hits: readonly Hit[]) =>
        Buffer.from(hits.map(hit => `${toEvent(hit, false)}\n`).join(''))
      return sendPages(exchange, headers, pages, format)
    }
    sendJsonText(exchange.res, 200, await respond(kind, parameters, { store, filter, limits }))
  }

  return async exchange => {
    const { method } = exchange.req
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    await withAbortOnDisconnect(exchange, left => serve(exchange, left))
  }
}

async function respond(
  kind: EventKind,
  parameters: Exclude<EventQueryParameters, { readonly operation: 'export' }>,
  scopedQuery: ScopedQuery,
): Promise<string> {
  const { store, filter, limits } = scopedQuery
  switch (parameters.operation) {
    case 'query':
      return queryPage(scopedQuery, parameters, toEvent)
    case 'statistics': {
      const statistics = filter ? await kind.count(store, filter, limits) : { resources: 0, events: 0 }
      return JSON.stringify({ statistics })
    }
    case 'histogram':
      return queryHistogram(scopedQuery, parameters.interval, 'buckets')
  }
}

/** Returns the stored event as JSON; `{}` if its text is not a JSON object. */
function toEvent({ record, cursor }: Hit, withCursor: boolean): string {
  // Other programs may have stored records that are not JSON.
  const json = record.log.startsWith('{') ? record.log : '{}'
  return withCursor ? withFields(json, new Map([['cursor', JSON.stringify(cursor)]])) : json
}

/** Replaces workspace filters by filters for the current namespaces of these workspaces. */
function inWorkspaces(
  { workspaces, workspaceParts, ...where }: EventSelection,
  known: () => ReadonlyMap<string, string>,
): RecordSelection {
  if (workspaces === undefined && workspaceParts === undefined) return where
  const requested = where.namespaces && new Set(where.namespaces)
  const namespaces = [...known()].flatMap(([namespace, workspace]) => {
    const isMeant =
      workspace !== '' &&
      (workspaces?.includes(workspace) ?? true) &&
      (workspaceParts?.some(part => workspace.includes(part)) ?? true) &&
      (requested?.has(namespace) ?? true)
    return isMeant ? [namespace] : []
  })
  return { ...where, namespaces }
}
