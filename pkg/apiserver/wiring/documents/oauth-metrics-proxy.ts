import { methodNotAllowed } from '../../../apierrors/status.ts'
import type { Exchange, Handler } from '../../../apirequest/request-context.ts'
import type { DocumentRoute } from '../path-router.ts'

/** Requires the permission `get` on this path, like /metrics. */
const path = '/metrics/oauth'

/** Serves the metrics of kapis-oauth to collectors, which cannot access its Unix socket. */
export function createOAuthMetricsProxy(forward: Handler<Exchange>): DocumentRoute {
  return {
    handles: requestPath => requestPath === path,
    handle(exchange) {
      if (exchange.req.method !== 'GET') throw methodNotAllowed(['GET'])
      return forward(exchange)
    },
  }
}
