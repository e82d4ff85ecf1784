import { badRequest, isStatus, methodNotAllowed } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isPlatformPrefix, parseRequestInfo, type RequestInfo } from '../../apirequest/request-info.ts'
import { hostCluster } from '../../apirequest/target.ts'
import type { RequirePermission } from '../../authz/authorizer.ts'
import { routeOf } from '../../openapi/route.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { ReadStyle } from '../read/read-tools.ts'

export type ClusterViewTools = {
  readonly groupDomain: string
  /** Returns the names of the member clusters; undefined if Kapis serves none. @throws Status 503 */
  readonly names: () => readonly string[] | undefined
  readonly requirePermission: RequirePermission
  /** Serves a read of a kind of kube-apiserver, with lists as `{items, totalItems}`. */
  readonly read: (exchange: AuthenticatedExchange, how: Pick<ReadStyle, 'narrow'>) => Promise<void>
}

/** The paths of the view. A workspace is in this cluster only. */
const routes = {
  '/clusters': { isOfWorkspace: false },
  '/workspaces/{workspace}/clusters': { isOfWorkspace: true },
}

export type ClusterViewPath = keyof typeof routes

/** Returns whether a request is for the view of clusters. */
export function isForClusterView(groupDomain: string, { info }: AuthenticatedExchange): boolean {
  return routeFor(groupDomain, info) !== undefined
}

function routeFor(groupDomain: string, { prefix, group, version: of, parts }: RequestInfo) {
  const isOfTenant = isPlatformPrefix(prefix) && group === `tenant.${groupDomain}` && of === 'v1alpha2'
  return isOfTenant ? routeOf(routes, parts) : undefined
}

/**
 * Serves `GET /kapis/tenant.<group domain>/v1alpha2/clusters`, also of a workspace, for consoles of
 * KubeSphere 3.4: the Clusters that the caller may get.
 *
 * @throws Status 400 for a watch, 405, 503
 */
export function createClusterView(
  tools: ClusterViewTools,
): (exchange: AuthenticatedExchange) => Promise<void> {
  const { groupDomain, names, requirePermission, read } = tools
  const group = `cluster.${groupDomain}`

  async function mayGet({ identity }: AuthenticatedExchange, name: string): Promise<boolean> {
    try {
      await requirePermission(identity, { verb: 'get', group, resource: 'clusters', name })
      return true
    } catch (error) {
      if (isStatus(error, 403)) return false
      throw error
    }
  }
  async function restrict(exchange: AuthenticatedExchange): Promise<ListRestriction> {
    const isOfWorkspace = routeFor(groupDomain, exchange.info)?.isOfWorkspace === true
    const candidates = isOfWorkspace ? [hostCluster] : [hostCluster, ...(names() ?? [])]
    const seen = new Set<string>()
    for (const name of candidates) if (await mayGet(exchange, name)) seen.add(name)
    return { key: `clusters ${JSON.stringify([...seen])}`, matches: ({ name }) => seen.has(name) }
  }
  return async exchange => {
    const { req, info } = exchange
    if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    if (info.verb === 'watch')
      throw badRequest('watch is not supported here; watch clusters of the resources group')
    const narrowing = await restrict(exchange)
    const native = parseRequestInfo('GET', `/kapis/${group}/v1alpha1/clusters`, exchange.query)
    await read({ ...exchange, info: native }, { narrow: async query => ({ query, narrowing }) })
  }
}
