import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { renderError } from '../../request/render-error.ts'
import type { Auditor, AuditRecord } from '../../audit/auditor.ts'
import { RefusedIdentity } from '../../authn/authenticator.ts'
import { refuseAmbiguousHost } from '../../request/ambiguity.ts'
import type { AuthenticatedExchange, Exchange, Handler } from '../../request/exchange.ts'
import type { Identity } from '../../request/identity.ts'
import { mayLast } from '../../request/long-running.ts'
import { createLineReader, type RequestLine, unreadableLine } from '../../request/request-line.ts'
import { traceId } from '../../request/trace.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { setIds } from './audit-id.ts'
import { startDeadline } from './deadline.ts'
import { limitRest } from './lingering-close.ts'
import type { InFlight, Stay } from './max-in-flight.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { EndedLogins } from './session-revocation.ts'
import type { Pace, Paced } from './slow-clients.ts'

type Caller = { readonly identity: Identity; readonly isAggregated: boolean }

/** Finds out who calls, and whether kube-apiserver's aggregator says so. @throws Status 401, 503 */
export type Authenticate = (req: IncomingMessage) => Promise<Caller> | Caller

/** Whom a caller wants to act as; null for nobody else. @throws Status 400, 403, 503 */
export type Impersonate = (exchange: AuthenticatedExchange) => Promise<Identity | null> | Identity | null

export type ChainOptions = {
  readonly logger: Logger
  /** Whether each request is a line at info level, and not at debug level alone. */
  readonly accessLog: () => boolean
  readonly metrics: RequestMetrics
  readonly auditor: Auditor
  /** Answered before anything else is asked of the caller: the probes, and kapis-oauth. */
  readonly unguarded: {
    readonly handles: (path: string) => boolean
    /** Probes come every second and say nothing about anybody. */
    readonly isAudited: (path: string) => boolean
    readonly handle: Handler<Exchange>
  }
  /** Who. @throws Status 401, 503 */
  readonly authenticate: Authenticate
  readonly impersonate: Impersonate
  readonly endedLogins: EndedLogins
  readonly inFlight: InFlight
  readonly pace: Pace
  /** Whether kube-apiserver serves the request. */
  readonly isElsewhere: (exchange: AuthenticatedExchange) => boolean
  readonly requestSeconds: () => number
  /** Characters of a query parameter at most, where Kapis answers by itself. */
  readonly maxParameterLength?: number
  /** May; or `elsewhere`, when anyone who serves the request judges its caller. @throws Status 401, 403, 503 */
  readonly authorize: (exchange: AuthenticatedExchange) => Promise<void> | 'elsewhere' | void
  readonly route: Handler
  /** The same for a request that wants another protocol; `exchange.upgrade` is what was read behind it. */
  readonly upgrade: Handler
}

const uuid = /^[0-9A-Fa-f-]{8,64}$/

export type Chain = {
  readonly request: (req: IncomingMessage, res: ServerResponse) => void
  /** The same for one that wants another protocol; `head` is what was read behind it. */
  readonly upgrade: (req: IncomingMessage, res: ServerResponse, head: Buffer) => void
}

/**
 * A request's way, in one place: id, access log and metrics, RequestInfo, who, audit, as whom, whether there is a place,
 * may, route, and the one error writer.
 */
export function createChain(given: ChainOptions): Chain {
  const options = { ...given, readLine: createLineReader(given.maxParameterLength) }
  const upgrading = { ...options, route: options.upgrade }
  return {
    request: (req, res) => void answer(options, req, res, undefined),
    upgrade: (req, res, head) => void answer(upgrading, req, res, head),
  }
}

type Tools = ChainOptions & { readonly readLine: (method: string, url: string) => RequestLine }

// A peer that goes away in the middle is no error of ours.
const ignore = () => undefined

/** What is known at once is not waited for: for a small answer each turn that a promise takes would be felt. */
async function answer(
  options: Tools,
  req: IncomingMessage,
  res: ServerResponse,
  head: Buffer | undefined,
): Promise<void> {
  const startedAt = performance.now()
  const id = auditId(req)
  setIds(req, res, id)
  res.on('error', ignore)
  limitRest(req, res)
  options.metrics.started()
  const atEnd: (() => void)[] = []
  let isOver = false
  // The client may be gone before all is begun that has to be ended.
  const hold = (end: () => void) => void (isOver ? end() : atEnd.push(end))
  const pace = options.pace.follow(req, res)
  hold(pace.stop)
  let exchange: Exchange | undefined
  let user: string | undefined
  let impersonatedUser: string | undefined
  res.on('close', () => {
    isOver = true
    const seconds = (performance.now() - startedAt) / 1000
    options.metrics.finished(exchange?.info, res.statusCode, seconds)
    for (const end of atEnd) end()
    // Asked first: at ten thousand requests a second even the record that nobody reads costs something.
    if (options.accessLog() || options.logger.isLevelEnabled('debug'))
      logRequest(options, {
        id,
        method: req.method,
        path: exchange?.info.path,
        code: res.statusCode,
        user,
        ...(impersonatedUser === undefined ? {} : { impersonatedUser }),
        seconds,
        trace: traceId(req),
      })
  })
  let record: AuditRecord | undefined
  const audit = (target: Exchange) => {
    const begun = options.auditor.begin(target)
    hold(() => begun.completed(res.statusCode))
    record = begun
    return begun
  }
  try {
    // Of the server and no resource (RFC 9110 section 9.3.7). Go's servers answer it before any handler too.
    if (req.method === 'OPTIONS' && req.url === '*')
      return void res.writeHead(200, { 'content-length': '0' }).end()
    refuseAmbiguousHost(req)
    exchange = toExchange(options.readLine(req.method ?? 'GET', req.url ?? '/'), req, res, id)
    const { path } = exchange.info
    const isUnguarded = options.unguarded.handles(path)
    if (isUnguarded && !options.unguarded.isAudited(path)) return await options.unguarded.handle(exchange)
    const { identified, allowed } = audit(exchange)
    if (isUnguarded) return await options.unguarded.handle(exchange)

    const asked = exchange
    const found = authenticateCaller(options.authenticate, req, refused => {
      user = refused.identity.username
      identified(toAuthenticated(asked, refused), undefined)
    })
    const caller = found instanceof Promise ? await found : found
    user = caller.identity.username
    const authenticated = toAuthenticated(exchange, caller)
    let acting = authenticated
    let impersonated: Identity | null = null
    try {
      const wanted = options.impersonate(authenticated)
      impersonated = wanted instanceof Promise ? await wanted : wanted
    } finally {
      identified(authenticated, impersonated ?? undefined)
    }
    if (impersonated !== null) {
      impersonatedUser = impersonated.username
      acting = { ...authenticated, identity: impersonated, impersonator: caller.identity }
    }
    if (head !== undefined) acting = { ...acting, upgrade: head }
    const course = { hold, allowed, pace, caller: caller.identity }
    await serve(options, acting, course)
  } catch (error) {
    // What cannot be read as a request is an attempt all the same.
    if (exchange === undefined) audit(toExchange(unreadableLine(req.method ?? ''), req, res, id))
    record?.failed(error)
    const status = renderError(res, error)
    if (status.code >= 500) {
      options.logger.error(
        { id, path: exchange?.info.path, code: status.code, err: status.cause ?? status },
        'request failed',
      )
    }
  }
}

/** @param refused called with a caller who is authenticated, and whose identity is refused. @throws Status 401, 403, 503 */
function authenticateCaller(
  authenticate: Authenticate,
  req: IncomingMessage,
  refused: (caller: Caller) => void,
): Promise<Caller> | Caller {
  function fail(error: unknown): never {
    if (error instanceof RefusedIdentity)
      refused({ identity: error.identity, isAggregated: error.method === 'front-proxy' })
    throw error
  }
  try {
    const found = authenticate(req)
    return found instanceof Promise ? found.catch(fail) : found
  } catch (error) {
    return fail(error)
  }
}

type Course = {
  readonly hold: (end: () => void) => void
  readonly allowed: () => void
  readonly pace: Paced
  /** Who calls, whomever they act as. */
  readonly caller: Identity
}

/** Place, authorization, and the answer. Where nothing is waited for, no clock need run. */
async function serve(
  options: ChainOptions,
  given: AuthenticatedExchange,
  { hold, allowed, pace, caller }: Course,
): Promise<void> {
  const { res } = given
  const asksToLast = mayLast(given)
  // A log that is followed may have nothing to say for hours, and kube-apiserver then has not even sent the head.
  const isUntimed = asksToLast && options.isElsewhere(given)
  let stay: Stay | undefined
  let stopDeadline: (() => void) | undefined
  let isFollowed = false
  let isLasting = false

  function followLogin(): void {
    if (isFollowed) return
    isFollowed = true
    hold(options.endedLogins.follow(given, caller))
  }
  function attend(): void {
    if (asksToLast) followLogin()
    if (isUntimed || isLasting || stopDeadline !== undefined) return
    stopDeadline = startDeadline(given, options.requestSeconds())
    hold(stopDeadline)
  }
  function lasts(): void {
    isLasting = true
    stopDeadline?.()
    pace.stop()
    stay?.lasts()
    followLogin()
  }

  const entered = options.inFlight.enter(given, isUntimed)
  if (entered instanceof Promise) attend()
  stay = entered instanceof Promise ? await entered : entered
  hold(stay.leave)
  pace.stay = stay
  // It was over before it had a place.
  if (res.writableEnded || res.destroyed) return

  const exchange = withLasts(given, lasts)
  const decided = options.authorize(exchange)
  const isJudged = !(decided instanceof Promise)
  if (!isJudged) attend()
  if ((isJudged ? decided : await decided) !== 'elsewhere') allowed()
  const served = options.route(exchange)
  if (isJudged && !res.writableEnded) attend()
  if (served instanceof Promise) await served
}

function logRequest({ accessLog, logger }: ChainOptions, record: object): void {
  if (accessLog()) logger.info(record, 'request')
  else logger.debug(record, 'request')
}

function toExchange(line: RequestLine, req: IncomingMessage, res: ServerResponse, id: string): Exchange {
  const { info, rawPath, rawQuery, query } = line
  return { req, res, id, info, rawPath, rawQuery, query }
}

// Each member by its name: this is done for every request, and a spread costs ten times as much.
function toAuthenticated(exchange: Exchange, { identity, isAggregated }: Caller): AuthenticatedExchange {
  const { req, res, id, info, rawPath, rawQuery, query } = exchange
  return { req, res, id, info, rawPath, rawQuery, query, identity, isAggregated }
}

function withLasts(exchange: AuthenticatedExchange, lasts: () => void): AuthenticatedExchange {
  const { req, res, id, info, rawPath, rawQuery, query, identity, isAggregated } = exchange
  if (exchange.upgrade !== undefined || exchange.impersonator !== undefined) return { ...exchange, lasts }
  return { req, res, id, info, rawPath, rawQuery, query, identity, isAggregated, lasts }
}

/** The id under which kube-apiserver audits the same request, or one of our own. */
function auditId(req: IncomingMessage): string {
  const given = req.headers['audit-id']
  return typeof given === 'string' && uuid.test(given) ? given : randomUUID()
}
