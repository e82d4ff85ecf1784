import { badRequest, methodNotAllowed, unknownResource } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { sendJson } from '../../../httpserver/response/respond.ts'
import { routeOf } from '../../../openapi/route.ts'
import type { componentPaths } from '../../components/description.ts'
import { type ComponentTools, isForComponents, serveComponents } from '../../components/serve.ts'
import { countAbnormal } from './abnormal-workloads.ts'
import type { oldResourcePaths } from './description.ts'
import { type KubeconfigTools, serveKubeconfig } from './kubeconfig.ts'
import { readQuotas } from './quotas.ts'
import { rejectRemovedRoute } from './removed-routes.ts'
import type { removedRoutePaths } from './removed-routes-description.ts'

/**
 * Serves the parts of `/kapis/resources.<group domain>/v1alpha2` that consoles still use:
 * components, quotas, abnormal workloads and kubeconfigs. Lists of resources are in v1alpha3.
 *
 * @throws Status 404 that names the replacement, 405, 503
 */
export async function serveOldResources(
  tools: ComponentTools & { readonly kubeconfig: KubeconfigTools },
  exchange: AuthenticatedExchange,
): Promise<void> {
  const { info } = exchange
  if (isForComponents(info.resource)) return serveComponents(tools, exchange)
  const storeOf = (plural: string) => tools.storeOf(info, plural)
  const quotas: Handler = () => serveData(exchange, () => readQuotas(storeOf, info.namespace))
  const abnormal: Handler = () => serveData(exchange, () => countAbnormal(storeOf, info.namespace))
  const routes: Readonly<
    Record<
      Exclude<keyof typeof oldResourcePaths, keyof typeof componentPaths | keyof typeof removedRoutePaths>,
      Handler
    >
  > = {
    '/quotas': quotas,
    '/namespaces/{namespace}/quotas': quotas,
    '/abnormalworkloads': abnormal,
    '/namespaces/{namespace}/abnormalworkloads': abnormal,
    '/users/{user}/kubeconfig': () => serveKubeconfig(tools.kubeconfig, exchange),
  }
  const serve = routeOf(routes, info.parts)
  if (serve !== undefined) return serve(exchange)
  throw (
    rejectRemovedRoute(exchange) ??
    unknownResource(
      `resource ${JSON.stringify(info.resource)} is not served in v1alpha2: use /kapis/${info.group}/v1alpha3`,
    )
  )
}

async function serveData(
  { req, res, info }: AuthenticatedExchange,
  read: () => Promise<object>,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  if (info.verb !== 'list') throw badRequest(`${info.verb} is not supported here`)
  sendJson(res, 200, { namespace: info.namespace, data: await read() })
}
