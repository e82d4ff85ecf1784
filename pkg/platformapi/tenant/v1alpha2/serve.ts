import { unknownResource } from '../../../apierrors/status.ts'
import type { Handler } from '../../../apirequest/request-context.ts'
import { routeOf } from '../../../openapi/route.ts'
import type { LogApi } from '../../logs/serve.ts'
import { describeTenantOutOfScope } from '../../out-of-scope.ts'
import { tenantPaths } from './description.ts'

export type TenantApis = { readonly logs: LogApi; readonly events: Handler; readonly auditing: Handler }

/** Returns whether `createTenantApi` serves a path below `tenant.<group domain>/v1alpha2`. */
export function isOfTenantApi(parts: readonly string[]): boolean {
  return routeOf(tenantPaths, parts) !== undefined
}

/**
 * Serves `GET /kapis/tenant.<group domain>/v1alpha2/logs`, `/events` and `/auditing/events`.
 *
 * @throws Status 404 for any other path, with what to use instead, and the errors of these APIs
 */
export function createTenantApi({ logs, events, auditing }: TenantApis): Handler {
  const routes: Readonly<Record<keyof typeof tenantPaths, Handler>> = {
    '/logs': exchange => logs(exchange),
    '/events': events,
    '/auditing/events': auditing,
  }
  return exchange => {
    const serve = routeOf(routes, exchange.info.parts)
    if (serve === undefined) throw unknownResource(describeTenantOutOfScope(exchange.info.parts))
    return serve(exchange)
  }
}
