import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { pipeline } from 'node:stream'
import type { Endpoint } from '../kube/endpoint.ts'
import type { AuthenticatedExchange, Handler } from '../request/exchange.ts'
import { unavailable } from '../status/status.ts'
import { answerHeaders, forwardableHeaders } from './headers.ts'
import { toImpersonation } from './impersonation.ts'

/**
 * Forwards a request to the orchestrator as its caller, and the answer as it comes: status, headers and bytes untouched,
 * both bodies as streams. When either side goes, so does the other.
 *
 * @throws Status 503 when the orchestrator cannot be reached; what it answers itself is passed on, errors included
 */
export function createKubeProxy(endpoint: Endpoint): Handler {
  return async exchange => {
    const { req, res } = exchange
    const upstream = await startRequest(endpoint, exchange, {})
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    upstream.on('error', error => {
      if (res.headersSent || res.destroyed) {
        res.destroy()
        resolve()
      } else {
        reject(unavailable('the orchestrator does not answer', error))
      }
    })
    upstream.on('response', (answer: IncomingMessage) => {
      res.writeHead(answer.statusCode ?? 502, answer.statusMessage, withoutOwn(answerHeaders(answer)))
      // A watch may have nothing to say for a minute; its client waits for the head.
      res.flushHeaders()
      pipeline(answer, res, () => resolve())
    })
    res.on('close', () => upstream.destroy())
    pipeline(req, upstream, () => undefined)
    return promise
  }
}

/** Begins the request at the orchestrator; its body is still to be written. */
export async function startRequest(
  endpoint: Endpoint,
  exchange: AuthenticatedExchange,
  more: OutgoingHttpHeaders,
): Promise<ClientRequest> {
  const { req, identity, id } = exchange
  const options = await endpoint.options()
  const { cookie: _cookie, host: _host, authorization: _authorization, ...headers } = forwardableHeaders(req)
  const isChunked = req.headers['transfer-encoding'] !== undefined
  const base = endpoint.url.pathname.replace(/\/$/, '')
  return request({
    ...options,
    method: req.method,
    path: base + (req.url ?? '/'),
    headers: {
      ...headers,
      ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
      ...options.headers,
      ...toImpersonation(identity),
      'audit-id': id,
      ...more,
    },
  })
}

/** The id is on the answer already: the two are the same. */
function withoutOwn(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const { 'audit-id': _id, ...rest } = headers
  return rest
}
