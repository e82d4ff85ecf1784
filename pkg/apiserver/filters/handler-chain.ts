import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toStatus } from '../../apierrors/status.ts'
import { rejectAmbiguousHead } from '../../apirequest/ambiguous-headers.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Exchange, Handler } from '../../apirequest/request-context.ts'
import { createLineReader, type RequestLine, unreadableLine } from '../../apirequest/request-line.ts'
import type { Clusters } from '../../apirequest/target.ts'
import type { Auditor, AuditRecord } from '../../audit/auditor.ts'
import { UnusableIdentity } from '../../authn/authenticator.ts'
import { traceId } from '../../httpserver/request/trace-id.ts'
import { renderError } from '../../httpserver/response/render-error.ts'
import { fieldsOf } from '../../kubeclient/object/object.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { withAuditId } from './audit-id.ts'
import { type Caller, toAuthenticated, toExchange } from './authenticated-exchange.ts'
import { withLingeringClose } from './lingering-close.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { type ServeOptions, serveAuthenticated } from './serve-authenticated.ts'
import type { SlowClients } from './slow-clients.ts'

/** Authenticates the caller. @throws Status 401, 503 */
export type Authenticate = (req: IncomingMessage) => Promise<Caller> | Caller

/** Returns the impersonated identity; null without impersonation. @throws Status 400, 403, 503 */
export type Impersonate = (exchange: AuthenticatedExchange) => Promise<Identity | null> | Identity | null

export type HandlerChainOptions = ServeOptions & {
  readonly logger: Logger
  /** Returns whether requests are logged at level info rather than debug. */
  readonly accessLog: () => boolean
  readonly metrics: RequestMetrics
  readonly auditor: Auditor
  /** The routes that are served without authentication: probes and kapis-oauth, for example. */
  readonly publicRoutes: {
    readonly handles: (path: string) => boolean
    /** Returns whether requests for a path are audited; probes are not. */
    readonly isAudited: (path: string) => boolean
    readonly handle: Handler<Exchange>
  }
  readonly authenticate: Authenticate
  readonly impersonate: Impersonate
  readonly slowClients: SlowClients
  /** Maximum length of a query parameter for requests that Kapis handles itself. */
  readonly maxParameterLength?: number
  /** Whether paths of member clusters are accepted. */
  readonly clusters?: Clusters
  /** Handles an upgrade request; `exchange.upgrade` contains the bytes after its headers. */
  readonly upgrade: Handler
}

const uuid = /^[0-9A-Fa-f-]{8,64}$/

export type HandlerChain = {
  readonly request: (req: IncomingMessage, res: ServerResponse) => void
  /** Handles an upgrade request; `head` contains the bytes after its headers. */
  readonly upgrade: (req: IncomingMessage, res: ServerResponse, head: Buffer) => void
}

/**
 * Creates the handler chain, in this order: audit ID, access log, metrics, RequestInfo, public
 * routes, audit, authentication, impersonation, max-in-flight, deadline, session revocation,
 * authorization, routing, error rendering.
 */
export function createHandlerChain(chainOptions: HandlerChainOptions): HandlerChain {
  const options = {
    ...chainOptions,
    readLine: createLineReader(chainOptions.maxParameterLength, chainOptions.clusters),
  }
  const upgrading = { ...options, route: options.upgrade }
  return {
    request: (req, res) => void handle(options, req, res, undefined),
    upgrade: (req, res, head) => void handle(upgrading, req, res, head),
  }
}

type Tools = HandlerChainOptions & { readonly readLine: (method: string, url: string) => RequestLine }

// An error on the response means that the client disconnected, which is not logged.
const ignore = () => undefined

/** Handles one request, synchronously where possible: a microtask here is measurable. */
async function handle(
  options: Tools,
  req: IncomingMessage,
  res: ServerResponse,
  head: Buffer | undefined,
): Promise<void> {
  const startedAt = performance.now()
  const id = auditId(req)
  withAuditId(req, res, id)
  res.on('error', ignore)
  withLingeringClose(req, res)
  options.metrics.started()
  const atEnd: (() => void)[] = []
  let isOver = false
  let isLasting = false
  // The client may disconnect before the last cleanup function is registered.
  const onFinish = (end: () => void) => void (isOver ? end() : atEnd.push(end))
  const slowClient = options.slowClients.follow(req, res)
  onFinish(slowClient.stop)
  let exchange: Exchange | undefined
  let user: string | undefined
  let impersonatedUser: string | undefined
  // Only the first event counts: a WebSocket emits close again after a disconnect.
  res.once('close', () => {
    isOver = true
    const seconds = (performance.now() - startedAt) / 1000
    options.metrics.finished(exchange?.info, res.statusCode, isLasting ? undefined : seconds)
    for (const end of atEnd) end()
    // The level is checked first: at ten thousand requests per second, even creating an unused log
    // record is measurable.
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
    onFinish(() => begun.completed(res.statusCode))
    record = begun
    return begun
  }
  try {
    rejectAmbiguousHead(req)
    // OPTIONS * applies to the server, not to a resource (RFC 9110 section 9.3.7). net/http of Go
    // also responds before any handler.
    if (req.method === 'OPTIONS' && req.url === '*')
      return void res.writeHead(200, { 'content-length': '0' }).end()
    exchange = toExchange(options.readLine(req.method ?? 'GET', req.url ?? '/'), req, res, id)
    const { path } = exchange.info
    const isPublic = options.publicRoutes.handles(path)
    if (isPublic && !options.publicRoutes.isAudited(path)) return await options.publicRoutes.handle(exchange)
    const { identified, allowed } = audit(exchange)
    if (isPublic) return await options.publicRoutes.handle(exchange)

    const unauthenticated = exchange
    const found = withAuthentication(options.authenticate, req, rejected => {
      user = rejected.identity.username
      identified(toAuthenticated(unauthenticated, rejected), undefined)
    })
    const caller = found instanceof Promise ? await found : found
    user = caller.identity.username
    const authenticated = toAuthenticated(exchange, caller)
    let acting = authenticated
    let impersonated: Identity | null = null
    try {
      const requested = options.impersonate(authenticated)
      impersonated = requested instanceof Promise ? await requested : requested
    } finally {
      identified(authenticated, impersonated ?? undefined)
    }
    if (impersonated !== null) {
      impersonatedUser = impersonated.username
      acting = { ...authenticated, identity: impersonated, impersonator: caller.identity }
    }
    if (head !== undefined) acting = { ...acting, upgrade: head }
    const lasted = () => {
      isLasting = true
    }
    const scope = { onFinish, allowed, lasted, slowClient, caller: caller.identity }
    await serveAuthenticated(options, acting, scope)
  } catch (error) {
    // A request line that cannot be parsed is audited too.
    if (exchange === undefined) audit(toExchange(unreadableLine(req.method ?? ''), req, res, id))
    record?.failed(error)
    sendFailure(options, { res, id, path: exchange?.info.path }, error)
  }
}

type FailedRequest = { readonly res: ServerResponse; readonly id: string; readonly path: string | undefined }

/** Sends an error response, unless the deadline has already sent one. */
function sendFailure(
  { logger }: HandlerChainOptions,
  { res, id, path }: FailedRequest,
  error: unknown,
): void {
  if (res.writableEnded && isLateWrite(error)) return
  const status = res.writableEnded ? toStatus(error) : renderError(res, error)
  if (status.code < 500) return
  logger.error({ id, path, code: status.code, err: status.cause ?? status }, 'request failed')
}

/** Returns whether a handler failed to respond because the deadline had already done so. */
function isLateWrite(error: unknown): boolean {
  return fieldsOf(error).code === 'ERR_HTTP_HEADERS_SENT'
}

/** Authenticates. @param onRejected called for unusable identities @throws Status 401, 403, 503 */
function withAuthentication(
  authenticate: Authenticate,
  req: IncomingMessage,
  refused: (caller: Caller) => void,
): Promise<Caller> | Caller {
  function fail(error: unknown): never {
    if (error instanceof UnusableIdentity)
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

function logRequest({ accessLog, logger }: HandlerChainOptions, record: object): void {
  if (accessLog()) logger.info(record, 'request')
  else logger.debug(record, 'request')
}

/** Returns the Audit-ID that kube-apiserver sent with the request, or a new one. */
function auditId(req: IncomingMessage): string {
  const sentId = req.headers['audit-id']
  return typeof sentId === 'string' && uuid.test(sentId) ? sentId : randomUUID()
}
