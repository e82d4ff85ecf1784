import { methodNotAllowed } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { sendJsonText } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { findContext } from '../../logs/context-lines.ts'
import { allOf, type Expression } from '../../logs/filter/expression.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import { type LogQueryParameters, parseLogQuery, type RecordSelection } from '../../logs/query/log-query.ts'
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import type { LogStore } from '../../logs/store.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { withAbortOnDisconnect } from './abort-on-disconnect.ts'
import { type LogConcurrency, type Slot, withConcurrencyLimits } from './concurrency-limits.ts'
import { sendExport } from './export.ts'
import { sendFollow } from './follow.ts'
import { createFilterNow, withPermissionChecks } from './permission-checks.ts'
import { toRecordJson } from './record-json.ts'
import { queryHistogram, queryPage, queryPatterns, type ScopedQuery } from './responses.ts'

export type LogApiOptions = {
  readonly store: LogStore
  readonly concurrency: LogConcurrency
  /** Returns the scope in which the caller may get pods/log. @throws Status 503 */
  readonly readable: (identity: Identity) => Promise<ReadableNamespaces>
  /** Returns the creation times of all namespaces, in Unix seconds. @throws Status 503 */
  readonly created: () => ReadonlyMap<string, number>
  /** Returns the time limit of a query, and the maximum of lines of an export (0: none). */
  readonly limits: () => { readonly queryTimeoutSeconds: number; readonly exportLimit: number }
  /** Aborted when the program stops, which ends live tails. */
  readonly closing: AbortSignal
  /** Interval at which searches of one request check its permission. Set only by tests. */
  readonly permissionEveryMs?: number
}

/** The dependencies of queries that scan all lines. */
export type ScanOptions = {
  readonly timeSlices: TimeSlices
  /** Reserves a slot for a query of a user. @throws Status 429 */
  readonly enter: (user: string, gone: AuthenticatedExchange['res']) => Slot | Promise<Slot>
}

export type LogApi = (exchange: AuthenticatedExchange, container?: Expression) => Promise<void>

/**
 * Serves the log API of KubeSphere: query, statistics, histogram and export, plus live tail and
 * context lines. Callers without access get empty results.
 *
 * @throws Status 400 that names the parameter, 405, 429, 503, 504
 */
export function createLogApi(options: LogApiOptions & ScanOptions): LogApi {
  async function serve(
    exchange: AuthenticatedExchange,
    container: Expression | undefined,
    left: AbortSignal,
  ) {
    const { closing, concurrency } = options
    const { queryTimeoutSeconds, exportLimit } = options.limits()
    const parameters = parseLogQuery(exchange.query, text => addWarning(exchange.res, text))
    const where = andContainer(parameters.where, container)
    const filterNow = createFilterNow(where, exchange.identity, options)
    const filter = await filterNow()
    const limited = withConcurrencyLimits(options.store, concurrency, exchange)
    const limits = { timeoutMs: queryTimeoutSeconds * 1000, signal: left }
    if (parameters.operation === 'follow') {
      const tail = concurrency.tail(exchange.identity.username)
      const isPermitted = async () => same(await filterNow(), filter)
      const signal = AbortSignal.any([closing, left])
      const request = { ...parameters, filter, isPermitted }
      return sendFollow(limited, exchange, request, { ...limits, signal }).finally(tail.leave)
    }
    const store = withPermissionChecks(limited, exchange, filter, filterNow, options.permissionEveryMs)
    if (parameters.operation === 'export') {
      return sendExport(
        store,
        exchange,
        { ...parameters, filter, limit: exportLimit || Number.POSITIVE_INFINITY },
        limits,
      )
    }
    if (parameters.operation === 'patterns') {
      const { enter, timeSlices } = options
      const slot = await enter(exchange.identity.username, exchange.res)
      const scopedQuery = { store, filter, limits, timeSlices }
      const text = await queryPatterns(scopedQuery, parameters.size).finally(slot.leave)
      return sendJsonText(exchange.res, 200, text)
    }
    sendJsonText(exchange.res, 200, await respond(parameters, { store, filter, limits }))
  }

  return async (exchange, container) => {
    const { method } = exchange.req
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    await withAbortOnDisconnect(exchange, left => serve(exchange, container, left))
  }
}

async function respond(
  parameters: Exclude<LogQueryParameters, { readonly operation: 'export' | 'follow' | 'patterns' }>,
  scopedQuery: ScopedQuery,
): Promise<string> {
  const { store, filter, limits } = scopedQuery
  switch (parameters.operation) {
    case 'query':
      return queryPage(scopedQuery, parameters, toRecordJson)
    case 'statistics': {
      const statistics = filter ? await store.statistics(filter, limits) : { containers: 0, logs: 0 }
      return JSON.stringify({ statistics })
    }
    case 'histogram':
      return queryHistogram(scopedQuery, parameters.interval, 'histograms')
    case 'context': {
      if (filter === undefined) return JSON.stringify({ context: { before: [], after: [] } })
      const around = { ...parameters, scope: filter.scope }
      const { before, after } = await findContext(store, parameters, around, limits)
      const toJson = (hits: typeof before) => hits.map(hit => toRecordJson(hit, true)).join(',')
      return `{"context":{"before":[${toJson(before)}],"after":[${toJson(after)}]}}`
    }
  }
}

function andContainer(where: RecordSelection, container: Expression | undefined): RecordSelection {
  const expression = allOf([container, where.expression].filter(part => part !== undefined))
  return expression === undefined ? where : { ...where, expression }
}

/** Returns whether two filters have the same scope. */
export function same(a: LogFilter | undefined, b: LogFilter | undefined): boolean {
  if (a === b) return true
  const text = (filter: LogFilter | undefined) =>
    JSON.stringify(filter?.scope ?? null, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return text(a) === text(b)
}
