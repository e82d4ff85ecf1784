import { randomUUID } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Auditor, AuditRecord } from '../audit/auditor.ts'
import { refuseAmbiguousHost } from '../request/ambiguity.ts'
import type { AuthenticatedExchange, Exchange, Handler } from '../request/exchange.ts'
import type { Identity } from '../request/identity.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import { parseTarget } from '../request/target.ts'
import { traceId } from '../request/trace.ts'
import { renderKube } from '../status/render-kube.ts'
import type { Logger } from '../telemetry/logger.ts'
import { startDeadline } from './deadline.ts'
import type { InFlight } from './in-flight.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { limitRest } from './rest-of-request.ts'

/** Finds out who calls, and whether kube-apiserver's aggregator says so. @throws Status 401, 503 */
export type Authenticate = (
  req: IncomingMessage,
) => Promise<{ readonly identity: Identity; readonly isAggregated: boolean }>

/** Whom a caller wants to act as; null for nobody else. @throws Status 400, 403, 503 */
export type Impersonate = (req: IncomingMessage, caller: Identity) => Promise<Identity | null>

export type ChainOptions = {
  readonly logger: Logger
  /** Whether each request is a line at info level, and not at debug level alone. */
  readonly accessLog: boolean
  readonly metrics: RequestMetrics
  readonly auditor: Auditor
  /** Answered before anything else is asked of the caller: the probes, and the token listener. */
  readonly unguarded: {
    readonly handles: (path: string) => boolean
    /** Probes come every second and say nothing about anybody. */
    readonly isAudited: (path: string) => boolean
    readonly handle: Handler<Exchange>
  }
  /** Who. @throws Status 401, 503 */
  readonly authenticate: Authenticate
  readonly impersonate: Impersonate
  readonly inFlight: InFlight
  readonly requestSeconds: number
  /** May; or `elsewhere`, when whoever serves the request judges its caller. @throws Status 401, 403, 503 */
  readonly authorize: (exchange: AuthenticatedExchange) => Promise<void> | 'elsewhere' | void
  readonly route: Handler
  /** The same for a request that wants another protocol; `head` is what was read behind it. */
  readonly upgrade: (exchange: AuthenticatedExchange, head: Buffer) => Promise<void> | void
}

const uuid = /^[0-9A-Fa-f-]{8,64}$/
const requestId = /^[\w.:/+=-]{1,128}$/

export type Chain = {
  readonly request: (req: IncomingMessage, res: ServerResponse) => void
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/**
 * A request's way, in one place: id, access log and metrics, RequestInfo, who, audit, as whom, whether there is a place,
 * may, route, and the one error writer.
 */
export function createChain(options: ChainOptions): Chain {
  return {
    request: (req, res) => void answer(options, req, res),
    upgrade(req, socket, head) {
      socket.on('error', () => socket.destroy())
      // Node gives an upgrade no response object; with one it goes the same way as every other request.
      const res = new ServerResponse(req)
      res.shouldKeepAlive = false
      res.assignSocket(req.socket)
      res.once('finish', () => socket.end())
      const route = (exchange: AuthenticatedExchange) => options.upgrade(exchange, head)
      void answer({ ...options, route }, req, res)
    },
  }
}

// Nobody writes to a query.
const noQuery = new URLSearchParams()

async function answer(options: ChainOptions, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const startedAt = performance.now()
  const id = auditId(req)
  setIds(req, res, id)
  // A peer that goes away in the middle is no error of ours.
  res.on('error', () => undefined)
  limitRest(req, res)
  options.metrics.started()
  const atEnd: (() => void)[] = []
  let isOver = false
  // The client may be gone before all is begun that has to be ended.
  const hold = (end: () => void) => void (isOver ? end() : atEnd.push(end))
  let exchange: Exchange | undefined
  let user: string | undefined
  res.once('close', () => {
    isOver = true
    const seconds = (performance.now() - startedAt) / 1000
    options.metrics.finished(exchange?.info, res.statusCode, seconds)
    for (const end of atEnd) end()
    // Asked first: at ten thousand requests a second even the record that nobody reads costs something.
    if (!options.accessLog && !options.logger.isLevelEnabled('debug')) return
    const line = { id, method: req.method, path: exchange?.info.path, code: res.statusCode, user, seconds }
    const record = { ...line, trace: traceId(req) }
    if (options.accessLog) options.logger.info(record, 'request')
    else options.logger.debug(record, 'request')
  })
  let record: AuditRecord | undefined
  const audit = (target: Exchange) => {
    const begun = options.auditor.begin(target)
    hold(() => begun.completed(res.statusCode))
    record = begun
    return begun
  }
  try {
    exchange = toExchange(req, res, id)
    const { path } = exchange.info
    const isUnguarded = options.unguarded.handles(path)
    if (isUnguarded && !options.unguarded.isAudited(path)) return await options.unguarded.handle(exchange)
    const { identified, allowed } = audit(exchange)
    if (isUnguarded) return await options.unguarded.handle(exchange)

    const caller = await options.authenticate(req)
    user = caller.identity.username
    const authenticated: AuthenticatedExchange = { ...exchange, ...caller }
    let acting = authenticated
    let impersonated: Identity | null = null
    try {
      impersonated = await options.impersonate(req, caller.identity)
    } finally {
      identified(authenticated, impersonated ?? undefined)
    }
    if (impersonated !== null) acting = { ...authenticated, identity: impersonated }
    hold(options.inFlight.enter(acting))
    hold(startDeadline(acting, options.requestSeconds))
    if ((await options.authorize(acting)) !== 'elsewhere') allowed()
    await options.route(acting)
  } catch (error) {
    // What cannot be read as a request is an attempt all the same.
    if (exchange === undefined) audit({ ...unreadable, req, res, id })
    record?.failed(error)
    const status = renderKube(res, error)
    if (status.code >= 500) {
      options.logger.error(
        { id, path: exchange?.info.path, code: status.code, err: status.cause ?? status },
        'request failed',
      )
    }
  }
}

const unreadable = {
  info: parseRequestInfo('GET', '', noQuery),
  rawPath: '',
  rawQuery: '',
  query: noQuery,
}

function toExchange(req: IncomingMessage, res: ServerResponse, id: string): Exchange {
  refuseAmbiguousHost(req)
  const { path, rawPath, rawQuery } = parseTarget(req.url ?? '/')
  const query = rawQuery === '' ? noQuery : new URLSearchParams(rawQuery)
  const info = parseRequestInfo(req.method ?? 'GET', path, query)
  return { req, res, id, info, rawPath, rawQuery, query }
}

/** The id under which kube-apiserver audits the same request, or one of our own. */
function auditId(req: IncomingMessage): string {
  const given = req.headers['audit-id']
  return typeof given === 'string' && uuid.test(given) ? given : randomUUID()
}

/** The id goes on every answer; and the caller's own, for those who look for theirs. */
function setIds(req: IncomingMessage, res: ServerResponse, id: string): void {
  res.setHeader('audit-id', id)
  const { 'x-request-id': given } = req.headers
  if (typeof given === 'string' && requestId.test(given)) res.setHeader('x-request-id', given)
}
