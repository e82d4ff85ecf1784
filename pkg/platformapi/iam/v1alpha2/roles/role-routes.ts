import { notFound } from '../../../../apierrors/status.ts'
import { authenticatedGroup } from '../../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../../apirequest/request-context.ts'
import { sendJson } from '../../../../httpserver/response/respond.ts'
import type { User } from '../../../../iam/users/user.ts'
import { type PlacedRole, roleKinds } from './list-roles.ts'
import { createMemberHandlers, type MemberTools, requireMethod } from './member-routes.ts'
import { type HeldRole, isSameRole, type Place, type Subject, workspaceRolesOf } from './role-bindings.ts'
import { labelsOf, writeRole } from './role-writes.ts'
import type { RolePath } from './roles-description.ts'
import { createScopeReader, rbacGroup, type ScopeReaderTools } from './scope-reader.ts'

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
  places = createScopeReader(tools),
): Readonly<Record<RolePath, Handler>> {
  const { groupDomain, callAs } = tools
  const iam = `iam.${groupDomain}`
  const { members, member } = createMemberHandlers(tools, places)

  async function isLabelled(place: Place, name: string): Promise<boolean> {
    const labels = (await places.latest('clusterroles')).get('', name)?.meta.labels ?? {}
    return Object.entries(labelsOf(groupDomain, place)).every(([key, value]) => labels[key] === value)
  }

  const requireWrite: Parameters<typeof writeRole>[0]['require'] = (exchange, permission) =>
    tools.require(exchange, { ...permission, group: rbacGroup, resource: 'clusterroles', namespace: '' })

  async function serveRoles(exchange: AuthenticatedExchange, place: Place, name = ''): Promise<void> {
    if (exchange.req.method !== 'GET' && exchange.req.method !== 'HEAD') {
      const writing = {
        ...{ groupDomain, callAs, require: requireWrite, isLabelled },
        requireTemplates: (asked: AuthenticatedExchange) =>
          tools.require(asked, { verb: 'list', group: rbacGroup, resource: 'clusterroles', namespace: '' }),
        clusterRoles: () => places.latest('clusterroles'),
      }
      return writeRole(writing, exchange, { place, name })
    }
    await places.requireList(exchange, await places.know(place), 'roles')
    const { plural, kind, isNative } = roleKinds[place.scope]
    const api = isNative ? { group: rbacGroup, version: 'v1' } : { group: iam, version: 'v1alpha2' }
    const namespaced = place.scope === 'namespace'
    const within = namespaced ? ['namespaces', place.namespace] : []
    const info = places.viewInfo(exchange, ...within, plural, name)
    const found = await places.rolesAt(place, await places.mayList(exchange, rbacGroup, 'clusterroles'))
    const shown = found.map(({ role }) => role)
    await places.show({ ...exchange, info }, { plural, kind, namespaced, ...api }, shown)
  }

  /**
   * Sends the roles of a user in a scope, from bindings of the user name or of a group. Users may
   * read their own roles. Callers who may not read users only see roles bound to the user name: the
   * response shows neither the groups of the user nor whether the user exists.
   */
  async function sendRolesOf(exchange: AuthenticatedExchange, place: Place, name: string): Promise<void> {
    requireMethod(exchange, ['GET', 'HEAD'])
    const known = await places.know(place)
    const isOwn = tools.isCaller(exchange, name)
    if (!isOwn) await places.requireList(exchange, known, 'bindings')
    const mayReadUsers = isOwn || (await places.mayList(exchange, iam, 'users'))
    const mayReadRoles = isOwn || (await places.mayList(exchange, rbacGroup, 'clusterroles'))
    const user = mayReadUsers ? tools.users.get(name) : { groups: [] }
    if (user === undefined) throw notFound({ group: iam, resource: 'users' }, name)
    const groups = new Set(user.groups)
    groups.delete(authenticatedGroup)
    const is = (subject: Subject) =>
      subject.kind === 'User' ? subject.name === name : subject.kind === 'Group' && groups.has(subject.name)
    const found = await (isOwn ? places.heldAt(known, is) : places.heldFor(exchange, known, is))
    const held = found.map(each => ({ ...each, user: name }))
    const isHeld = place.scope === 'workspace' ? isOfWorkspace(held, known) : isBound(held)
    const shown = (await places.rolesAt(place, true)).filter(isHeld)
    sendJson(
      exchange.res,
      200,
      shown.map(({ role, ref }) => (mayReadRoles || ref?.kind === 'Role' ? role : { ...role, rules: [] })),
    )
  }

  const roles = (placeOf: (parts: readonly string[]) => Place): Handler => {
    return exchange => serveRoles(exchange, placeOf(exchange.info.parts))
  }
  const role = (placeOf: (parts: readonly string[]) => Place): Handler => {
    return exchange => serveRoles(exchange, placeOf(exchange.info.parts), exchange.info.parts.at(-1))
  }
  const rolesOf = (placeOf: (parts: readonly string[]) => Place): Handler => {
    return exchange => sendRolesOf(exchange, placeOf(exchange.info.parts), exchange.info.parts.at(-2) ?? '')
  }
  const global = (): Place => ({ scope: 'global', namespace: '', workspace: '' })
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
function isBound(held: readonly HeldRole[]) {
  return ({ ref }: PlacedRole) =>
    ref !== undefined && held.some(({ binding }) => isSameRole(binding.roleRef, ref))
}

function isOfWorkspace(
  held: readonly HeldRole[],
  place: { readonly workspace: string; readonly namespaces: readonly string[] },
) {
  const members = workspaceRolesOf(held, place.workspace, place.namespaces).values()
  const names = new Set([...members].map(({ role }) => role))
  return ({ role }: PlacedRole) => names.has(role.metadata.name)
}
