import { badRequest, notFound, unauthorized, unknownResource } from '../../../apierrors/status.ts'
import { authenticatedGroup, hasNoCredential } from '../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import type { RequestInfo } from '../../../apirequest/request-info.ts'
import type { User } from '../../../iam/users/user.ts'
import {
  type ClusterViewTools,
  createClusterView,
  isForClusterView,
} from '../../../platformapi/workspaces/clusters.ts'
import type { WorkspaceTools } from '../../../platformapi/workspaces/dependencies.ts'
import { createWorkspaceViews } from '../../../platformapi/workspaces/serve.ts'
import { viewOf } from '../../../platformapi/workspaces/views.ts'
import type { Resources } from './resources.ts'

export type TenantOptions = Pick<
  WorkspaceTools,
  | 'groupDomain'
  | 'ownNamespace'
  | 'callAs'
  | 'callAsKapis'
  | 'isAllowedNow'
  | 'created'
  | 'addManager'
  | 'requirePermission'
> & {
  readonly narrowed: Resources['narrowed']
  readonly users: { readonly get: (name: string) => User | undefined }
  /** Returns the names of the member clusters; undefined if Kapis serves none. @throws Status 503 */
  readonly memberNames: ClusterViewTools['names']
  /** Serves a read of a kind of kube-apiserver. */
  readonly items: Resources['items']
  /** Serves searches of logs, events and audit events in tenant.<group domain>/v1alpha2. */
  readonly searches: Handler
}

export type Tenant = {
  readonly v1alpha2: Handler
  readonly v1alpha3: Handler
  /** Returns the read of resources.<group domain> as which a read of a view is authorized. */
  readonly attributesOf: (exchange: AuthenticatedExchange) => RequestInfo | undefined
  /**
   * Returns whether a request is proxied to kube-apiserver, which then authorizes the caller, or
   * shows only Clusters that the caller may get.
   *
   * @throws Status 401
   */
  readonly authorizesItself: (exchange: AuthenticatedExchange) => boolean
}

/** Wires the views of workspaces and namespaces, and their writes. */
export function createTenant(options: TenantOptions): Tenant {
  const { groupDomain, narrowed, users, requirePermission, searches } = options
  const { ownNamespace, callAs, callAsKapis, isAllowedNow, created, addManager } = options
  const serve = createWorkspaceViews({
    ...{ groupDomain, ownNamespace, callAs, callAsKapis, isAllowedNow, requirePermission },
    ...{ created, addManager },
    ...narrowed,
    async visibleTo({ identity, info }, member) {
      if (member === identity.username) return undefined
      const group = 'rbac.authorization.k8s.io'
      await requirePermission(identity, { verb: 'list', group, resource: 'rolebindings', name: '' })
      const user = users.get(member)
      if (user === undefined) {
        const iam = `iam.${groupDomain}`
        await requirePermission(identity, { verb: 'list', group: iam, resource: 'users', name: '' })
        throw notFound({ group: iam, resource: 'users' }, member)
      }
      if (info.verb === 'watch') throw badRequest('the namespaces of another user cannot be watched')
      const visible = await narrowed.visible(
        { verb: 'list', resource: 'namespaces', name: '' },
        { username: user.name, uid: user.uid, groups: [...user.groups, authenticatedGroup], extra: {} },
      )
      return visible && { key: visible.key, matches: visible.has }
    },
  })
  const serveClusters = createClusterView({
    ...{ groupDomain, requirePermission },
    names: options.memberNames,
    read: options.items,
  })
  const isForClusters = (exchange: AuthenticatedExchange) =>
    isForClusterView(groupDomain, exchange) && options.memberNames() !== undefined
  const isRead = ({ req }: AuthenticatedExchange) => req.method === 'GET' || req.method === 'HEAD'

  return {
    v1alpha2(exchange) {
      if (isForClusters(exchange)) return serveClusters(exchange)
      const view = viewOf(groupDomain, exchange)
      return view === undefined ? searches(exchange) : serve(exchange, view)
    },
    v1alpha3(exchange) {
      const view = viewOf(groupDomain, exchange)
      if (view === undefined) throw unknownResource()
      return serve(exchange, view)
    },
    attributesOf: exchange => (isRead(exchange) ? viewOf(groupDomain, exchange)?.info : undefined),
    authorizesItself(exchange) {
      const isProxied = !isRead(exchange) && viewOf(groupDomain, exchange) !== undefined
      if (!isProxied && !isForClusters(exchange)) return false
      if (hasNoCredential(exchange.identity)) throw unauthorized()
      return true
    },
  }
}
