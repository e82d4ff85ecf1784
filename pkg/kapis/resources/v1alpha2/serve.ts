import { routeOf } from '../../../openapi/route.ts'
import type { AuthenticatedExchange, Handler } from '../../../request/exchange.ts'
import { sendJson } from '../../../request/respond.ts'
import { badRequest, methodNotAllowed, unknownResource } from '../../../status/status.ts'
import { type ComponentTools, isForComponents, serveComponents } from '../../components.ts'
import type { componentPaths } from '../../components-description.ts'
import type { oldResourcePaths } from './description.ts'
import { type KubeconfigTools, serveKubeconfig } from './kubeconfig.ts'
import { readQuotas } from './quotas.ts'

/**
 * What consoles still ask of `/kapis/resources.<group domain>/v1alpha2`: components, quotas and kubeconfigs. Lists of resources are at
 * v1alpha3.
 *
 * @throws Status 404 that names the replacement, 405, 503
 */
export async function serveOldResources(
  tools: ComponentTools & { readonly kubeconfig: KubeconfigTools },
  exchange: AuthenticatedExchange,
): Promise<void> {
  const { info } = exchange
  if (isForComponents(info.resource)) return serveComponents(tools, exchange)
  const quotas: Handler = () => serveQuotas(tools, exchange)
  const routes: Readonly<
    Record<Exclude<keyof typeof oldResourcePaths, keyof typeof componentPaths>, Handler>
  > = {
    '/quotas': quotas,
    '/namespaces/{namespace}/quotas': quotas,
    '/users/{user}/kubeconfig': () => serveKubeconfig(tools.kubeconfig, exchange),
  }
  const serve = routeOf(routes, info.parts)
  if (serve === undefined)
    throw unknownResource(
      `resource ${JSON.stringify(info.resource)} is not served in v1alpha2: use /kapis/${info.group}/v1alpha3`,
    )
  return serve(exchange)
}

async function serveQuotas(tools: ComponentTools, { req, res, info }: AuthenticatedExchange): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  if (info.verb !== 'list') throw badRequest(`${info.verb} is not supported here`)
  const data = await readQuotas(tools.collectionOf, info.namespace)
  sendJson(res, 200, { namespace: info.namespace, data })
}
