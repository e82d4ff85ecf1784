import { routeOf } from '../../../openapi/route.ts'
import type { Handler } from '../../../request/exchange.ts'
import { unknownResource } from '../../../status/status.ts'
import type { LogFace } from '../../logs/serve.ts'
import type { tenantPaths } from './description.ts'

/** `GET /kapis/tenant.<group domain>/v1alpha2/logs`. @throws Status 404 for everything else, and what the log face throws */
export function createTenantFace(logs: LogFace): Handler {
  const routes: Readonly<Record<keyof typeof tenantPaths, Handler>> = { '/logs': exchange => logs(exchange) }
  return exchange => {
    const serve = routeOf(routes, exchange.info.parts)
    if (serve === undefined) throw unknownResource()
    return serve(exchange)
  }
}
