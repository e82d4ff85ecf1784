import { methodNotAllowed } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { sendJsonText } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { findContext } from '../../logs/context-lines.ts'
import { exportHits } from '../../logs/export-records.ts'
import { allOf, type Expression } from '../../logs/filter/expression.ts'
import { type LogQueryParameters, parseLogQuery } from '../../logs/query/log-query.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { withAbortOnDisconnect } from './abort-on-disconnect.ts'
import { type CallerViewOptions, openCallerView } from './caller-view.ts'
import type { Slot } from './concurrency-limits.ts'
import { sendExport } from './export.ts'
import { toRecordJson } from './record-json.ts'
import { queryHistogram, queryPage, queryPatterns, type ScopedQuery } from './responses.ts'

export type LogApiOptions = CallerViewOptions & {
  /** Aborted when the program stops, which ends live tails. */
  readonly closing: AbortSignal
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
    const parameters = parseLogQuery(exchange.query, text => addWarning(exchange.res, text))
    const where = { ...parameters.where, expression: allOf([container, parameters.where.expression]) }
    const view = await openCallerView(exchange, where, left, options)
    const { filter, limits } = view
    if (parameters.operation === 'follow') return view.follow({ ...parameters, filter }, options.closing)
    const store = view.checked()
    if (parameters.operation === 'export') {
      const pages = filter && exportHits(store, { ...parameters, filter, limit: view.exportLimit }, limits)
      return sendExport(exchange, pages, parameters)
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
