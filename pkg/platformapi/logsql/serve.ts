import { badRequest, unknownResource } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { createPacedWriter, sendJsonText } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import type { Pipe, Query } from '../../logs/logsql/query.ts'
import { createQueryTimeSlices } from '../../logs/logsql/query-time-slices.ts'
import type { Row } from '../../logs/logsql/row.ts'
import { type QueryRun, runQuery } from '../../logs/logsql/run-query.ts'
import { withAbortOnDisconnect } from '../logs/abort-on-disconnect.ts'
import { withConcurrencyLimits } from '../logs/concurrency-limits.ts'
import { sendFollow } from '../logs/follow.ts'
import { createFilterNow, withPermissionChecks } from '../logs/permission-checks.ts'
import { type LogApiOptions, type ScanOptions, same } from '../logs/serve.ts'
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

/** A request with its scope. The filter is undefined if the caller has access to no lines. */
type Request = {
  readonly exchange: AuthenticatedExchange
  readonly parameters: LogsqlParameters
  readonly filter: LogFilter | undefined
  readonly filterNow: () => Promise<LogFilter | undefined>
  readonly nowNs: bigint
  readonly run: Omit<QueryRun, 'filter'>
  readonly reading: QueryRunner
}

type Endpoint = (request: Request) => Promise<string>

const parametersOf = ({ parameters, nowNs }: Request): EndpointParameters => readQuery(parameters, nowNs)

const endpoints: Readonly<Record<string, Endpoint>> = {
  hits: async request => {
    const bucket = readBucket(request.parameters)
    const query = readQuery(request.parameters, request.nowNs, bucket)
    return queryHits(request.parameters, query, bucket, request.reading)
  },
  facets: request => queryFacets(request.parameters, parametersOf(request).query, request.reading),
  field_names: request => queryFieldNames(request.parameters, parametersOf(request).query, request.reading),
  field_values: request =>
    queryValues(
      request.parameters,
      parametersOf(request).query,
      request.reading,
      fieldOf(request.parameters),
    ),
  streams: request =>
    queryValues(request.parameters, parametersOf(request).query, request.reading, '_stream'),
  stream_ids: request =>
    queryValues(request.parameters, parametersOf(request).query, request.reading, '_stream_id'),
  stream_field_names: request =>
    queryStreamFieldNames(request.parameters, parametersOf(request).query, request.reading),
  stream_field_values: request =>
    queryValues(
      request.parameters,
      parametersOf(request).query,
      request.reading,
      streamLabelOf(fieldOf(request.parameters)),
    ),
  stats_query: request => queryStats(parametersOf(request), request.reading),
  stats_query_range: request => {
    const bucket = readBucket(request.parameters)
    return queryStatsRange(readQuery(request.parameters, request.nowNs, bucket), bucket, request.reading)
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
    const filterNow = createFilterNow({}, identity, options)
    const filter = await filterNow()
    const timeoutMs = timeoutOf(parameters, options.limits().queryTimeoutSeconds * 1000)
    const limited = withConcurrencyLimits(options.store, options.concurrency, exchange)
    const checked = () =>
      withPermissionChecks(limited, exchange, filter, filterNow, options.permissionEveryMs)
    const run = {
      // A tail checks its permission itself.
      store: endpoint === 'tail' ? limited : checked(),
      ...{ timeSlices: options.timeSlices, maxBytes },
      limits: { timeoutMs, signal: AbortSignal.any([left, options.closing]) },
    }
    // Without a filter the scope is empty, and the query returns no lines.
    const within = { ...run, filter: filter ?? { scope: [] } }
    const reading = {
      rows: (given: Query) => runQuery(within, given),
      timeSlices: createQueryTimeSlices(run),
    }
    const request = { exchange, parameters, filter, filterNow, nowNs, run, reading }
    if (endpoint === 'tail') return follow(request, left)
    const slot = await options.enter(identity.username, res)
    try {
      if (res.destroyed) return
      reading.timeSlices.restart()
      if (endpoint === 'query') await sendQuery(request, options.limits().exportLimit)
      else sendJsonText(res, 200, (await endpoints[endpoint]?.(request)) ?? '')
    } finally {
      slot.leave()
    }
  }

  async function follow(request: Request, left: AbortSignal): Promise<void> {
    const { exchange, parameters, filter, nowNs, run } = request
    const query = readQuery(parameters, nowNs)
    const offset = parameters.duration('start_offset', '0s')
    const since = offset > 0n ? nowNs - offset : undefined
    const within = filter ?? { scope: [] }
    const plan = planTail(query, within, { ...run, filter: within }, since)
    const tail = options.concurrency.tail(exchange.identity.username)
    const isPermitted = async () => same(await request.filterNow(), filter)
    const signal = AbortSignal.any([options.closing, left])
    const tailRequest = {
      filter: filter && plan.filter,
      ...{ size: 0, withCursor: false, isPermitted },
      ...{ format: plan.format, begin: plan.history },
    }
    await sendFollow(run.store, exchange, tailRequest, { ...run.limits, signal }).finally(tail.leave)
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
async function sendQuery(request: Request, exportLimit: number): Promise<void> {
  const { exchange, parameters, reading } = request
  const { res, req } = exchange
  if (!['', 'json'].includes(parameters.text('format')))
    throw badRequest('unsupported format: rows are JSON, one per line')
  const { query } = parametersOf(request)
  const limit = parameters.count('limit')
  const offset = parameters.count('offset')
  const cuts: readonly Pipe[] = [
    ...(offset > 0 ? [{ kind: 'offset', count: offset } as const] : []),
    ...(limit > 0 ? [{ kind: 'limit', count: limit } as const] : []),
  ]
  const format = createRowFormat(query.pipes)
  const pages = reading.rows({ ...query, pipes: [...query.pipes, ...cuts] })[Symbol.asyncIterator]()
  const most = exportLimit || Infinity
  let count = 0
  const next = async (): Promise<readonly Row[] | undefined> => {
    const { done, value } = await pages.next()
    if (done) return undefined
    count += value.length
    if (count > most) {
      throw badRequest(
        `the response has more than ${most} lines (logs.exportLimit): restrict the query, for example with limit or _time`,
      )
    }
    return value
  }
  let page = await next()
  res.writeHead(200, {
    'content-type': 'application/stream+json',
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  })
  const write = createPacedWriter(res)
  while (page !== undefined && !res.destroyed && req.method !== 'HEAD') {
    await write(Buffer.from(page.map(format).join('')))
    page = await next()
  }
  await pages.return?.()
  res.end()
}
