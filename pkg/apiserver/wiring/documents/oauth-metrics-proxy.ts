import { methodNotAllowed } from '../../../apierrors/status.ts'
import type { Exchange, Handler } from '../../../apirequest/request-context.ts'
import type { DocumentRoute } from '../router.ts'

/** Requires `get` on the path, as /metrics does. */
const path = '/metrics/oauth'

/** Serves the metrics of kapis-oauth, whose Unix socket collectors cannot reach. */
export function createOAuthMetricsProxy(forward: Handler<Exchange>): DocumentRoute {
  return {
    handles: asked => asked === path,
    handle(exchange) {
      if (exchange.req.method !== 'GET') throw methodNotAllowed(['GET'])
      return forward(exchange)
    },
  }
}
