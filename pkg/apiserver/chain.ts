import { randomUUID } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AuthenticatedExchange, Exchange, Handler } from '../request/exchange.ts'
import type { Identity } from '../request/identity.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import { parseTarget } from '../request/target.ts'
import { renderKube } from '../status/render-kube.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** Finds out who calls, and whether kube-apiserver's aggregator says so. @throws Status 401, 503 */
export type Authenticate = (
  req: IncomingMessage,
) => Promise<{ readonly identity: Identity; readonly isAggregated: boolean }>

export type ChainOptions = {
  readonly logger: Logger
  readonly metrics: RequestMetrics
  /** Answered before anything else is asked of the caller: the probes. */
  readonly unguarded: { readonly handles: (path: string) => boolean; readonly handle: Handler<Exchange> }
  /** Who. @throws Status 401, 503 */
  readonly authenticate: Authenticate
  /** May. @throws Status 401, 403, 503 */
  readonly authorize: Handler
  readonly route: Handler
  /** The same for a request that wants another protocol; `head` is what was read behind it. */
  readonly upgrade: (exchange: AuthenticatedExchange, head: Buffer) => Promise<void> | void
}

const uuid = /^[0-9A-Fa-f-]{8,64}$/

export type Chain = {
  readonly request: (req: IncomingMessage, res: ServerResponse) => void
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** A request's way, in one place: id, access log and metrics, RequestInfo, who, may, route, and the one error writer. */
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
  res.setHeader('audit-id', id)
  // A peer that goes away in the middle is no error of ours.
  res.on('error', () => undefined)
  options.metrics.started()
  let exchange: Exchange | undefined
  let user: string | undefined
  res.once('close', () => {
    const seconds = (performance.now() - startedAt) / 1000
    options.metrics.finished(exchange?.info, res.statusCode, seconds)
    // Asked first: at ten thousand requests a second even the record that nobody reads costs something.
    if (!options.logger.isLevelEnabled('debug')) return
    const path = exchange?.info.path
    options.logger.debug({ id, method: req.method, path, code: res.statusCode, user, seconds }, 'request')
  })
  try {
    exchange = toExchange(req, res, id)
    if (options.unguarded.handles(exchange.info.path)) return await options.unguarded.handle(exchange)
    const caller = await options.authenticate(req)
    user = caller.identity.username
    const authenticated: AuthenticatedExchange = { ...exchange, ...caller }
    await options.authorize(authenticated)
    await options.route(authenticated)
  } catch (error) {
    const status = renderKube(res, error)
    if (status.code >= 500) {
      options.logger.error(
        { id, path: exchange?.info.path, code: status.code, err: status.cause ?? status },
        'request failed',
      )
    }
  }
}

function toExchange(req: IncomingMessage, res: ServerResponse, id: string): Exchange {
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
