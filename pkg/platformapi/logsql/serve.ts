import { badRequest, unknownResource } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { sendJsonText } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import type { Pipe, Query } from '../../logs/logsql/query.ts'
import { createQueryTimeSlices } from '../../logs/logsql/query-time-slices.ts'
import type { Row } from '../../logs/logsql/row.ts'
import { runQuery } from '../../logs/logsql/run-query.ts'
import { withAbortOnDisconnect } from '../logs/abort-on-disconnect.ts'
import { openCallerView } from '../logs/caller-view.ts'
import { sendPages } from '../logs/send-pages.ts'
import type { LogApiOptions, ScanOptions } from '../logs/serve.ts'
import { createRowFormat } from './format-rows.ts'
import { queryHits } from './hits.ts'
import {
  type EndpointParameters,
  type LogsqlParameters,
  readBucket,
  readLogsqlParameters,
  readQuery,
  warnOfUnknown,
} from './parameters.ts'
import type { QueryRunner } from './run-query.ts'
import { queryStats, queryStatsRange } from './stats.ts'
import { planTail } from './tail.ts'
import { queryFacets, queryFieldNames, queryStreamFieldNames, queryValues, streamLabelOf } from './values.ts'

export type LogsqlOptions = LogApiOptions &
  ScanOptions & {
    /** Returns the parameters of URL and form. @throws Status 400, 405, 408, 413, 415 */
    readonly readForm: (exchange: AuthenticatedExchange) => Promise<QueryParameters>
  }

const maxBytes = 32 * 1024 * 1024

/** A request for results of a query. */
type EndpointRequest = {
  readonly parameters: LogsqlParameters
  readonly nowNs: bigint
  readonly reading: QueryRunner
}

const queryOf = ({ parameters, nowNs }: EndpointRequest): EndpointParameters => readQuery(parameters, nowNs)

const endpoints: Readonly<Record<string, (request: EndpointRequest) => Promise<string>>> = {
  hits: ({ parameters, nowNs, reading }) => {
    const bucket = readBucket(parameters)
    return queryHits(parameters, readQuery(parameters, nowNs, bucket), bucket, reading)
  },
  facets: request => queryFacets(request, queryOf(request).query),
  field_names: request => queryFieldNames(request, queryOf(request).query),
  field_values: request => queryValues(request, queryOf(request).query, fieldOf(request.parameters)),
  streams: request => queryValues(request, queryOf(request).query, '_stream'),
  stream_ids: request => queryValues(request, queryOf(request).query, '_stream_id'),
  stream_field_names: request => queryStreamFieldNames(request, queryOf(request).query),
  stream_field_values: request =>
    queryValues(request, queryOf(request).query, streamLabelOf(fieldOf(request.parameters))),
  stats_query: request => queryStats(queryOf(request), request.reading),
  stats_query_range: ({ parameters, nowNs, reading }) => {
    const bucket = readBucket(parameters)
    return queryStatsRange(readQuery(parameters, nowNs, bucket), bucket, reading)
  },
}

export const logsqlEndpoints: readonly string[] = ['query', 'tail', ...Object.keys(endpoints)]

/** @throws Status 400 */
function fieldOf(parameters: LogsqlParameters): string {
  const [field, ...more] = parameters.all('field')
  if (field === undefined || more.length > 0) throw badRequest('the parameter field is required once')
  return field
}

/**
 * Serves the query API of VictoriaLogs
 * (https://docs.victoriametrics.com/victorialogs/querying/#http-api) below `/select/logsql/`.
 * Callers have access to the same lines as with the log API.
 *
 * @throws Status 400, 404, 405, 429, 503, 504
 */
export function createLogsqlApi(options: LogsqlOptions): Handler {
  async function serve(exchange: AuthenticatedExchange, left: AbortSignal): Promise<void> {
    const { identity, res, info } = exchange
    // Read first, because it rejects unsupported methods, also on unknown paths.
    const query = await options.readForm(exchange)
    const endpoint = info.parts[2] ?? ''
    if (info.parts.length !== 3 || info.parts[1] !== 'logsql' || !logsqlEndpoints.includes(endpoint)) {
      throw unknownResource(`supported below /select/logsql: ${logsqlEndpoints.join(', ')}`)
    }
    rejectTenant(exchange)
    warnOfUnknown(query, text => addWarning(res, text))
    const nowNs = BigInt(Date.now()) * 1_000_000n
    const parameters = readLogsqlParameters(query, nowNs)
    const view = await openCallerView(exchange, {}, left, options)
    const run = {
      ...{ timeSlices: options.timeSlices, maxBytes },
      limits: {
        timeoutMs: timeoutOf(parameters, view.limits.timeoutMs),
        signal: AbortSignal.any([left, options.closing]),
      },
      // Without a filter the scope is empty, and the query returns no lines.
      filter: view.filter ?? { scope: [] },
    }
    if (endpoint === 'tail') {
      const plan = planTail(parameters, { ...run, store: view.limited }, nowNs)
      const filter = view.filter && plan.filter
      const tailRequest = {
        ...{ filter, size: 0, withCursor: false },
        format: plan.format,
        begin: plan.history,
      }
      return view.follow(tailRequest, options.closing)
    }
    const within = { ...run, store: view.checked() }
    const timeSlices = createQueryTimeSlices(run)
    const reading = { rows: (given: Query) => runQuery(within, given), timeSlices }
    const request = { parameters, nowNs, reading }
    const slot = await options.enter(identity.username, res)
    try {
      if (res.destroyed) return
      timeSlices.restart()
      if (endpoint === 'query') await sendQuery(exchange, request, view.exportLimit)
      else sendJsonText(res, 200, (await endpoints[endpoint]?.(request)) ?? '')
    } finally {
      slot.leave()
    }
  }

  return exchange => withAbortOnDisconnect(exchange, left => serve(exchange, left))
}

/** Rejects requests for a tenant other than the default one. @throws Status 400 */
function rejectTenant({ req }: AuthenticatedExchange): void {
  const given = ['accountid', 'projectid'].find(name => !['', '0'].includes(String(req.headers[name] ?? '')))
  if (given !== undefined) throw badRequest(`unsupported tenant: the header ${given} must be 0 or omitted`)
}

function timeoutOf(parameters: LogsqlParameters, maxMs: number): number {
  const given = Number(parameters.duration('timeout', '0s')) / 1e6
  return given > 0 ? Math.min(given, maxMs) : maxMs
}

/** Sends rows as they are found; an error after the first row aborts the response. */
function sendQuery(exchange: AuthenticatedExchange, request: EndpointRequest, most: number): Promise<void> {
  const { parameters, reading } = request
  if (!['', 'json'].includes(parameters.text('format')))
    throw badRequest('unsupported format: rows are JSON, one per line')
  const { query } = queryOf(request)
  const limit = parameters.count('limit')
  const offset = parameters.count('offset')
  const cuts: readonly Pipe[] = [
    ...(offset > 0 ? [{ kind: 'offset', count: offset } as const] : []),
    ...(limit > 0 ? [{ kind: 'limit', count: limit } as const] : []),
  ]
  async function* pages(): AsyncGenerator<readonly Row[]> {
    let count = 0
    for await (const rows of reading.rows({ ...query, pipes: [...query.pipes, ...cuts] })) {
      count += rows.length
      if (count > most) {
        throw badRequest(
          `the response has more than ${most} lines (logs.exportLimit): restrict the query, for example with limit or _time`,
        )
      }
      yield rows
    }
  }
  const format = createRowFormat(query.pipes)
  const headers = { 'content-type': 'application/stream+json' }
  return sendPages(exchange, headers, pages(), rows => Buffer.from(rows.map(format).join('')))
}
