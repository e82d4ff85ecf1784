import { notFound } from '../../../../apierrors/status.ts'
import { authenticatedGroup } from '../../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import type { User } from '../../../../iam/users/user.ts'
import { type ListedRole, roleKinds } from './list-roles.ts'
import { createMemberHandlers, type MemberTools, requireMethod } from './member-routes.ts'
import {
  type AssignedRole,
  isSameRole,
  type ScopeRef,
  type Subject,
  workspaceRolesOf,
} from './role-bindings.ts'
import { createScopeReader, rbacGroup, type ScopeReaderTools } from './role-reader.ts'
import { isTemplate, templateLabel } from './role-templates.ts'
import { labelsOf, writeRole } from './role-writes.ts'
import type { RolePath } from './roles-description.ts'

export type RoleTools = ScopeReaderTools &
  MemberTools & {
    readonly users: { readonly get: (name: string) => User | undefined }
    /** Returns whether a name is the caller's own user, and not another credential. */
    readonly isCaller: (exchange: AuthenticatedExchange, name: string) => boolean
  }

/**
 * Creates the routes for roles and members in the format of KubeSphere 3.4. Callers who may list
 * RBAC roles and bindings see them in this format; bindings are written as the caller.
 */
export function createRoleRoutes(
  tools: RoleTools,
  scopes = createScopeReader(tools),
): Readonly<Record<RolePath, Handler>> {
  const { groupDomain, callAs } = tools
  const iam = `iam.${groupDomain}`
  const { members, member } = createMemberHandlers(tools, scopes)

  async function isLabelled(scopeRef: ScopeRef, name: string): Promise<boolean> {
    const labels = (await scopes.latest('clusterroles')).get('', name)?.meta.labels ?? {}
    return Object.entries(labelsOf(groupDomain, scopeRef)).every(([key, value]) => labels[key] === value)
  }

  const requireWrite: Parameters<typeof writeRole>[0]['require'] = (exchange, permission) =>
    tools.require(exchange, { ...permission, group: rbacGroup, resource: 'clusterroles', namespace: '' })

  function selectsTemplates({ query }: AuthenticatedExchange): boolean {
    const selectors = ['label', 'labelSelector'].map(key => query.get(key) ?? '')
    return selectors.some(selector => selector.includes(templateLabel(groupDomain)))
  }

  async function serveRoles(exchange: AuthenticatedExchange, scopeRef: ScopeRef, name = ''): Promise<void> {
    if (exchange.req.method !== 'GET' && exchange.req.method !== 'HEAD') {
      const writing = {
        ...{ groupDomain, callAs, require: requireWrite, isLabelled },
        requireTemplates: (exchange: AuthenticatedExchange) =>
          tools.require(exchange, {
            verb: 'list',
            group: rbacGroup,
            resource: 'clusterroles',
            namespace: '',
          }),
        clusterRoles: () => scopes.latest('clusterroles'),
      }
      return writeRole(writing, exchange, { scopeRef, name })
    }
    await scopes.requireList(exchange, await scopes.resolve(scopeRef), 'roles')
    const { plural, kind, isNative } = roleKinds[scopeRef.scope]
    const api = isNative ? { group: rbacGroup, version: 'v1' } : { group: iam, version: 'v1alpha2' }
    const namespaced = scopeRef.scope === 'namespace'
    const within = namespaced ? ['namespaces', scopeRef.namespace] : []
    const info = scopes.viewInfo(exchange, ...within, plural, name)
    const found = await scopes.rolesAt(scopeRef, await scopes.mayList(exchange, rbacGroup, 'clusterroles'))
    const roles = found.map(({ role }) => role)
    // As in KubeSphere, only this list shows templates if they are asked for.
    const isWithTemplates = name !== '' || scopeRef.scope !== 'workspace' || selectsTemplates(exchange)
    const shown = isWithTemplates
      ? roles
      : roles.filter(role => !isTemplate({ meta: role.metadata }, groupDomain))
    await scopes.show({ ...exchange, info }, { plural, kind, namespaced, ...api }, shown)
  }

  /**
   * Sends the roles of a user in a scope, from bindings of the user name or of a group. Users may
   * read their own roles. Callers who may not read users only see roles bound to the user name: the
   * response shows neither the groups of the user nor whether the user exists.
   */
  async function sendRolesOf(
    exchange: AuthenticatedExchange,
    scopeRef: ScopeRef,
    name: string,
  ): Promise<void> {
    requireMethod(exchange, ['GET', 'HEAD'])
    const known = await scopes.resolve(scopeRef)
    const isOwn = tools.isCaller(exchange, name)
    if (!isOwn) await scopes.requireList(exchange, known, 'bindings')
    const mayReadUsers = isOwn || (await scopes.mayList(exchange, iam, 'users'))
    const mayReadRoles = isOwn || (await scopes.mayList(exchange, rbacGroup, 'clusterroles'))
    const user = mayReadUsers ? tools.users.get(name) : { groups: [] }
    if (user === undefined) throw notFound({ group: iam, resource: 'users' }, name)
    const groups = new Set(user.groups)
    groups.delete(authenticatedGroup)
    const is = (subject: Subject) =>
      subject.kind === 'User' ? subject.name === name : subject.kind === 'Group' && groups.has(subject.name)
    const found = await (isOwn ? scopes.assignedRoles(known, is) : scopes.visibleRoles(exchange, known, is))
    const held = found.map(each => ({ ...each, user: name }))
    const isHeld = scopeRef.scope === 'workspace' ? isOfWorkspace(held, known) : isBound(held)
    const shown = (await scopes.rolesAt(scopeRef, true)).filter(isHeld)
    sendJson(
      exchange.res,
      200,
      shown.map(({ role, ref }) => (mayReadRoles || ref?.kind === 'Role' ? role : { ...role, rules: [] })),
    )
  }

  const roles = (scopeRefOf: (parts: readonly string[]) => ScopeRef): Handler => {
    return exchange => serveRoles(exchange, scopeRefOf(exchange.info.parts))
  }
  const role = (scopeRefOf: (parts: readonly string[]) => ScopeRef): Handler => {
    return exchange => serveRoles(exchange, scopeRefOf(exchange.info.parts), exchange.info.parts.at(-1))
  }
  const rolesOf = (scopeRefOf: (parts: readonly string[]) => ScopeRef): Handler => {
    return exchange =>
      sendRolesOf(exchange, scopeRefOf(exchange.info.parts), exchange.info.parts.at(-2) ?? '')
  }
  const global = (): ScopeRef => ({ scope: 'global', namespace: '', workspace: '' })
  const cluster = () => ({ scope: 'cluster', namespace: '', workspace: '' }) as const
  const inWorkspace = ([, workspace = '']: readonly string[]) =>
    ({ scope: 'workspace', namespace: '', workspace }) as const
  const inNamespace = ([, namespace = '']: readonly string[]) =>
    ({ scope: 'namespace', namespace, workspace: '' }) as const

  return {
    '/globalroles': roles(global),
    '/globalroles/{globalrole}': role(global),
    '/users/{user}/globalroles': rolesOf(global),
    '/clusterroles': roles(cluster),
    '/clusterroles/{clusterrole}': role(cluster),
    '/clustermembers': members(cluster),
    '/clustermembers/{clustermember}': member(cluster),
    '/clustermembers/{clustermember}/clusterroles': rolesOf(cluster),
    '/workspaces/{workspace}/workspaceroles': roles(inWorkspace),
    '/workspaces/{workspace}/workspaceroles/{workspacerole}': role(inWorkspace),
    '/workspaces/{workspace}/workspacemembers': members(inWorkspace),
    '/workspaces/{workspace}/workspacemembers/{workspacemember}': member(inWorkspace),
    '/workspaces/{workspace}/workspacemembers/{workspacemember}/workspaceroles': rolesOf(inWorkspace),
    '/namespaces/{namespace}/roles': roles(inNamespace),
    '/namespaces/{namespace}/roles/{role}': role(inNamespace),
    '/namespaces/{namespace}/members': members(inNamespace),
    '/namespaces/{namespace}/members/{member}': member(inNamespace),
    '/namespaces/{namespace}/members/{member}/roles': rolesOf(inNamespace),
  }
}

/** Selects roles by the roleRef of bindings: a Role and a ClusterRole with the same name differ. */
function isBound(held: readonly AssignedRole[]) {
  return ({ ref }: ListedRole) =>
    ref !== undefined && held.some(({ binding }) => isSameRole(binding.roleRef, ref))
}

function isOfWorkspace(
  held: readonly AssignedRole[],
  scopeRef: { readonly workspace: string; readonly namespaces: readonly string[] },
) {
  const members = workspaceRolesOf(held, scopeRef.workspace, scopeRef.namespaces).values()
  const names = new Set([...members].map(({ role }) => role))
  return ({ role }: ListedRole) => names.has(role.metadata.name)
}
