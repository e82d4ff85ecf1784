import type { AuthenticatedExchange, Handler } from '../../../../apirequest/request-context.ts'
import type { ScopeReader } from '../roles/role-reader.ts'
import { createGroupBindingHandlers } from './group-bindings.ts'
import { createGroupRoleHandlers } from './group-roles.ts'
import { createGroupHandlers } from './groups.ts'
import type { GroupPath } from './groups-description.ts'
import { createWorkspaceGroups, type GroupTools } from './workspace-groups.ts'

type ServeScope = (exchange: AuthenticatedExchange, scopeRef: string, name: string) => Promise<void>

/** Creates the routes for groups of KubeSphere 3.4; each handler authorizes its caller. */
export function createGroupRoutes(
  tools: GroupTools,
  scopes: ScopeReader,
): Readonly<Record<GroupPath, Handler>> {
  const known = createWorkspaceGroups(tools, scopes)
  const groups = createGroupHandlers(tools, known, scopes)
  const bindings = createGroupBindingHandlers(tools, known, scopes)
  const roles = createGroupRoleHandlers(tools, scopes)
  const at = (serve: ServeScope): Handler => {
    return exchange => {
      const [, scopeRef = '', , name = ''] = exchange.info.parts
      return serve(exchange, scopeRef, name)
    }
  }
  return {
    '/workspaces/{workspace}/groups': at(groups.collection),
    '/workspaces/{workspace}/groups/{group}': at(groups.one),
    '/workspaces/{workspace}/groupbindings': at(bindings.collection),
    '/workspaces/{workspace}/groupbindings/{groupbinding}': at(bindings.one),
    '/workspaces/{workspace}/workspacerolebindings': at(roles.ofWorkspace),
    '/workspaces/{workspace}/workspacerolebindings/{rolebinding}': at(roles.oneOfWorkspace),
    '/workspaces/{workspace}/rolebindings': at(roles.inNamespacesOf),
    '/namespaces/{namespace}/rolebindings': at(roles.ofNamespace),
    '/namespaces/{namespace}/rolebindings/{rolebinding}': at(roles.oneOfNamespace),
  }
}
