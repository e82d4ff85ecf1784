import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthenticatedExchange, Exchange, Handler } from '../request/exchange.ts'
import type { Identity } from '../request/identity.ts'
import { parseRequestInfo, type RequestInfo } from '../request/request-info.ts'
import { parseTarget } from '../request/target.ts'
import { renderKube } from '../status/render-kube.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RequestMetrics } from './request-metrics.ts'

export type ChainOptions = {
  readonly logger: Logger
  readonly metrics: RequestMetrics
  /** Answered before anything else is asked of the caller: the probes. */
  readonly unguarded: { readonly handles: (path: string) => boolean; readonly handle: Handler<Exchange> }
  /** Who. @throws Status 401, 503 */
  readonly authenticate: (req: IncomingMessage) => Promise<Identity> | Identity
  /** May. @throws Status 401, 403, 503 */
  readonly authorize: (info: RequestInfo, identity: Identity, query: URLSearchParams) => Promise<void> | void
  readonly route: Handler
}

const uuid = /^[0-9A-Fa-f-]{8,64}$/

/** A request's way, in one place: id, access log and metrics, RequestInfo, who, may, route, and the one error writer. */
export function createChain(options: ChainOptions): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    void answer(options, req, res)
  }
}

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
    options.logger.debug(
      { id, method: req.method, path: exchange?.info.path, code: res.statusCode, user, seconds },
      'request',
    )
  })
  try {
    exchange = toExchange(req, res, id)
    if (options.unguarded.handles(exchange.info.path)) return await options.unguarded.handle(exchange)
    const identity = await options.authenticate(req)
    user = identity.username
    const authenticated: AuthenticatedExchange = { ...exchange, identity }
    await options.authorize(exchange.info, identity, exchange.query)
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
  const query = new URLSearchParams(rawQuery)
  const info = parseRequestInfo(req.method ?? 'GET', path, query)
  return { req, res, id, info, rawPath, rawQuery, query }
}

/** The id under which kube-apiserver audits the same request, or one of our own. */
function auditId(req: IncomingMessage): string {
  const given = req.headers['audit-id']
  return typeof given === 'string' && uuid.test(given) ? given : randomUUID()
}
