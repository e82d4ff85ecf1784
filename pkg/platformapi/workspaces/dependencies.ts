import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { ObjectPermission, RequirePermission } from '../../authz/authorizer.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { CallAs } from '../write/as-caller.ts'

export type WorkspaceTools = {
  readonly groupDomain: string
  /** The namespace of Kapis. */
  readonly ownNamespace: string
  readonly callAs: CallAs
  /** Sends a request with the permissions of Kapis, after Kapis has authorized the caller. */
  readonly callAsKapis: CallAs
  readonly requirePermission: RequirePermission
  /** Returns the decision of kube-apiserver at the call. @throws Status 503 */
  readonly isAllowedNow: (identity: Identity, permission: ObjectPermission) => Promise<boolean>
  /**
   * Called for each new namespace of a workspace: grants its members their roles, as the caller.
   *
   * @param where.isAdmin whether the caller already is bound to the ClusterRole `admin` there
   */
  readonly created: (
    exchange: AuthenticatedExchange,
    where: { readonly workspace: string; readonly namespace: string; readonly isAdmin?: boolean },
  ) => Promise<void>
  /** Called for each new workspace with a manager, who becomes a member, as the caller. */
  readonly addManager: (
    exchange: AuthenticatedExchange,
    of: { readonly workspace: string; readonly manager: string },
  ) => Promise<void>
  /**
   * Serves a read of namespaces or workspaces as in `resources.<group domain>/v1alpha3`: those that
   * the caller may see.
   *
   * @param exchange with the RequestInfo of that read
   */
  readonly read: (
    exchange: AuthenticatedExchange,
    how: { readonly only?: ListRestriction | undefined; readonly form?: Form },
  ) => Promise<void>
  /**
   * Returns whether the caller may see the object that `only` selects, at the newest state.
   *
   * @param exchange with the RequestInfo of a read, as for `read`
   */
  readonly isVisible: (exchange: AuthenticatedExchange, only?: ListRestriction) => Promise<boolean>
  /** Returns the namespaces that a user may see. @throws Status 403 for the caller, 404 */
  readonly visibleTo: (
    exchange: AuthenticatedExchange,
    member: string,
  ) => Promise<ListRestriction | undefined>
}
