import { badRequest, methodNotAllowed, notFound } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { createPacedWriter, sendJson } from '../../../httpserver/response/respond.ts'
import { addWarning } from '../../../httpserver/response/warning.ts'
import { exportHits } from '../../../logs/export-records.ts'
import { allOf, type Expression, isOneOf } from '../../../logs/filter/expression.ts'
import type { LogFilter, Scope } from '../../../logs/filter/filter.ts'
import { readTimes } from '../../../logs/query/page-parameters.ts'
import { readParameters } from '../../../logs/query/parameters.ts'
import type { Hit, LogStore, QueryLimits } from '../../../logs/store.ts'
import { toAsciicast } from '../../../recording/asciicast.ts'
import { idOf, ofParts, readFields } from '../../../recording/session.ts'
import { withAbortOnDisconnect } from '../../logs/abort-on-disconnect.ts'
import { type LogConcurrency, withConcurrencyLimits } from '../../logs/concurrency-limits.ts'

export type SessionRecordingApiOptions = {
  readonly store: LogStore
  readonly concurrency: LogConcurrency
  /** Returns the creation times of all namespaces, in Unix seconds. @throws Status 503 */
  readonly created: () => ReadonlyMap<string, number>
  readonly limits: () => { readonly queryTimeoutSeconds: number }
}

const known = ['user', 'pod', 'namespace', 'start_time', 'end_time', 'limit', 'continue'] as const
const pageSize = { fallback: 100, max: 1_000 }
const nsPerSecond = 1_000_000_000n

/** Returns whether a path below the API is one of recorded sessions. */
export function isOfSessionRecordings(parts: readonly string[]): boolean {
  return parts[parts[0] === 'namespaces' ? 2 : 0] === 'sessionrecordings'
}

/**
 * Serves recorded sessions: a list, the newest first, and each as an asciicast (version 2).
 * Requests have been authorized: `list` and `get` of sessionrecordings. Below a namespace, sessions
 * of a deleted namespace with the same name are not shown.
 *
 * @throws Status 400 that names the parameter, 404, 405, 429, 503, 504
 */
export function createSessionRecordingApi(options: SessionRecordingApiOptions): Handler {
  return async exchange => {
    const { req, info } = exchange
    if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    if (info.verb === 'watch') throw badRequest('recordings cannot be watched')
    const store = withConcurrencyLimits(options.store, options.concurrency, exchange)
    const timeoutMs = options.limits().queryTimeoutSeconds * 1000
    await withAbortOnDisconnect(exchange, async signal => {
      const scope = scopeOf(exchange, options.created)
      const scopedQuery = { store, scope, limits: { timeoutMs, signal } }
      // A field selector sets `info.name` too, but such a request was authorized as a list.
      if (info.namedBy !== 'path') await sendList(exchange, scopedQuery)
      else await sendCast(exchange, scopedQuery)
    })
  }
}

type ScopedQuery = { readonly store: LogStore; readonly scope: Scope; readonly limits: QueryLimits }

function scopeOf({ info }: AuthenticatedExchange, created: () => ReadonlyMap<string, number>): Scope {
  const { isInNamespace, namespace } = info
  if (!isInNamespace) return 'everything'
  const since = created().get(namespace)
  return since === undefined ? [] : [{ namespace, sinceNs: BigInt(since) * nsPerSecond }]
}

async function sendList(
  exchange: AuthenticatedExchange,
  { store, scope, limits }: ScopedQuery,
): Promise<void> {
  const { info, query, res } = exchange
  const parameters = readParameters(query, known, text => addWarning(res, text))
  const size = parameters.integer('limit', pageSize) || pageSize.fallback
  const after = parameters.text('continue')
  const named = (field: Parameters<typeof isOneOf>[0], name: string): readonly Expression[] => {
    const values = parameters.list(name)
    return values === undefined ? [] : [isOneOf(field, values)]
  }
  const expression = allOf([
    ofParts(['start']),
    ...named({ field: 'user' }, 'user'),
    ...named('pod', 'pod'),
    ...named('namespace', 'namespace'),
  ])
  const filter = toFilter(scope, expression, readTimes(parameters))
  const start = after === '' ? { from: 0 } : { after }
  const { hits, isCut } = await store.query({ filter, order: 'desc', size, start, withTotal: false }, limits)
  const ends = await findEnds(hits, { store, scope, limits })
  const last = hits.at(-1)
  const isMore = last !== undefined && (hits.length === size || isCut)
  sendJson(res, 200, {
    kind: 'SessionRecordingList',
    apiVersion: `${info.group}/${info.version}`,
    metadata: isMore ? { continue: last.cursor } : {},
    items: hits.map(hit => toObject(hit, ends.get(idOf(hit.record)))),
  })
}

async function findEnds(
  starts: readonly Hit[],
  { store, scope, limits }: ScopedQuery,
): Promise<ReadonlyMap<string, Members>> {
  const ids = starts.map(({ record }) => idOf(record))
  if (ids.length === 0) return new Map()
  const query = { order: 'asc', size: ids.length, start: { from: 0 }, withTotal: false } as const
  const filter = toFilter(scope, ofParts(['end'], ids))
  const { hits } = await store.query({ ...query, filter }, limits)
  return new Map(hits.map(({ record }) => [idOf(record), readFields(record)]))
}

type Members = Readonly<Record<string, unknown>>

function toObject({ record }: Hit, end: Members | undefined): object {
  const { id, namespace, startTimestamp, ...spec } = readFields(record)
  return {
    metadata: { name: id, namespace, creationTimestamp: startTimestamp },
    spec,
    status: end ?? {},
  }
}

/** Writes the events of a recording as fast as the client reads. */
async function sendCast(
  { info, res }: AuthenticatedExchange,
  { store, scope, limits }: ScopedQuery,
): Promise<void> {
  const filter = toFilter(scope, ofParts(['start', 'output'], [info.name]))
  const pages = exportHits(store, { filter, order: 'asc', limit: Number.POSITIVE_INFINITY }, limits)
  const parts = toAsciicast(pages)
  let part = await parts.next()
  if (part.done === true) throw notFound(info, info.name)
  res.writeHead(200, {
    'content-type': 'application/x-asciicast',
    'content-disposition': `attachment; filename="${info.name}.cast"`,
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  })
  const write = createPacedWriter(res)
  for (; part.done !== true && !res.destroyed; part = await parts.next()) await write(Buffer.from(part.value))
  await parts.return(undefined)
  res.end()
}

function toFilter(
  scope: Scope,
  expression: Expression | undefined,
  times: Pick<LogFilter, 'startNs' | 'endNs'> = {},
): LogFilter {
  return { ...times, scope, ...(expression === undefined ? {} : { expression }) }
}
