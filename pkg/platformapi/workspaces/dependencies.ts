import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { Form } from '../../resourcecache/list/list-body.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { CallAs } from '../write/as-caller.ts'

export type WorkspaceTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  /** Called with each new namespace of a workspace: gives its members their roles, as the caller. */
  readonly created: (
    exchange: AuthenticatedExchange,
    where: { readonly workspace: string; readonly namespace: string },
  ) => Promise<void>
  /**
   * Reads namespaces or workspaces like `resources.<group domain>/v1alpha3`: those visible to the
   * caller.
   *
   * @param exchange with the RequestInfo of that read
   */
  readonly read: (
    exchange: AuthenticatedExchange,
    how: { readonly only?: ListRestriction | undefined; readonly form?: Form },
  ) => Promise<void>
  /**
   * Whether the caller may see the object that `only` selects, in the newest state.
   *
   * @param exchange as of `read`
   */
  readonly isVisible: (exchange: AuthenticatedExchange, only?: ListRestriction) => Promise<boolean>
  /** The namespaces that a user sees. @throws Status 403 for a caller who may not read them, 404 */
  readonly visibleTo: (
    exchange: AuthenticatedExchange,
    member: string,
  ) => Promise<ListRestriction | undefined>
}
