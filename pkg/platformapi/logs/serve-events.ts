import { methodNotAllowed } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { createPacedWriter, sendJsonText } from '../../httpserver/response/respond.ts'
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
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import type { Hit, LogStore } from '../../logs/store.ts'
import { withAbortOnDisconnect } from './abort-on-disconnect.ts'
import { type LogConcurrency, withConcurrencyLimits } from './concurrency-limits.ts'
import { createFilterNow, withPermissionChecks } from './permission-checks.ts'
import { queryHistogram, queryPage, type ScopedQuery } from './responses.ts'

export type EventApiOptions = {
  readonly kind: EventKind
  readonly store: LogStore
  readonly concurrency: LogConcurrency
  /** Returns the scope in which the caller may list events of this kind. @throws Status 503 */
  readonly readable: (identity: Identity) => Promise<ReadableNamespaces>
  /** Returns the creation times of all namespaces, in Unix seconds. @throws Status 503 */
  readonly created: () => ReadonlyMap<string, number>
  /** Returns the workspaces of all namespaces, by namespace. @throws Status 503 */
  readonly workspaces: () => ReadonlyMap<string, string>
  /** Returns the time limit of a query, and the maximum of events of an export (0: none). */
  readonly limits: () => { readonly queryTimeoutSeconds: number; readonly exportLimit: number }
  /** Interval at which searches of one request check its permission. Set only by tests. */
  readonly permissionEveryMs?: number
}

/**
 * Serves the events API of KubeSphere: query, statistics, histogram and export. Callers without
 * access get empty results.
 *
 * @throws Status 400 that names the parameter, 405, 503, 504
 */
export function createEventApi(options: EventApiOptions): Handler {
  async function serve(exchange: AuthenticatedExchange, signal: AbortSignal): Promise<void> {
    const { kind, concurrency } = options
    const { queryTimeoutSeconds, exportLimit } = options.limits()
    const parameters = parseEventQuery(exchange.query, kind, text => addWarning(exchange.res, text))
    const where = inWorkspaces(parameters.where, options.workspaces)
    const filterNow = createFilterNow(where, exchange.identity, options)
    const filter = await filterNow()
    const limited = withConcurrencyLimits(options.store, concurrency, exchange)
    const store = withPermissionChecks(limited, exchange, filter, filterNow, options.permissionEveryMs)
    const limits = { timeoutMs: queryTimeoutSeconds * 1000, signal }
    if (parameters.operation === 'export') {
      const { order } = parameters
      const pages =
        filter && exportHits(store, { filter, order, limit: exportLimit || Number.POSITIVE_INFINITY }, limits)
      return sendEvents(exchange, pages)
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

/** Sends one event per line, as fast as the client reads, after the first page. */
async function sendEvents(
  { res }: AuthenticatedExchange,
  pages: AsyncGenerator<readonly Hit[]> | undefined,
): Promise<void> {
  let page = await pages?.next()
  res.writeHead(200, {
    'content-type': 'application/x-ndjson',
    'content-disposition': 'attachment',
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  })
  const write = createPacedWriter(res)
  while (pages !== undefined && page?.done === false && !res.destroyed) {
    await write(Buffer.from(page.value.map(hit => `${toEvent(hit, false)}\n`).join('')))
    page = await pages.next()
  }
  await pages?.return(undefined)
  res.end()
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
