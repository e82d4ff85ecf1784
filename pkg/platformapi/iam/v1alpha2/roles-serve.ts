import { badRequest, methodNotAllowed, notFound, Status } from '../../../apierrors/status.ts'
import { authenticatedGroup } from '../../../apirequest/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { parseRequestInfo, type RequestInfo } from '../../../apirequest/request-info.ts'
import { sendJson } from '../../../httpserver/respond.ts'
import type { User } from '../../../iam/users/user.ts'
import type { KubeObject } from '../../../kubeclient/object.ts'
import type { Entry } from '../../../resourcecache/store/cached-object.ts'
import type { Collection } from '../../../resourcecache/store/store.ts'
import type { CallAs } from '../../as-caller.ts'
import { readJson } from '../../body.ts'
import { readDeleteOptions } from '../../delete-options.ts'
import {
  bind,
  type Member,
  parseMember,
  parseMembers,
  placeText,
  unbind,
  unknownRole,
} from './member-writes.ts'
import { type MemberScope, memberKinds, rolesByMember, toMembers } from './members.ts'
import {
  type Held,
  heldBy,
  isMember,
  nameAt,
  type Place,
  type RoleRef,
  roleRefOf,
  scopeLabel,
  workspaceRolesOf,
} from './role-bindings.ts'
import { presetsOf } from './role-presets.ts'
import { labelsOf, writeRole } from './role-writes.ts'
import { listRoles, roleKinds } from './roles.ts'
import type { RolePath } from './roles-description.ts'

/** A right on objects of RBAC, at a place. */
export type PlaceRight = {
  readonly verb: 'list'
  readonly group: string
  readonly resource: string
  readonly namespace: string
}

export type RoleTools = {
  readonly groupDomain: string
  readonly callAs: CallAs
  /** @throws Status 403, 503 */
  readonly require: (exchange: AuthenticatedExchange, right: PlaceRight) => Promise<void>
  /** The newest state of a kind of kube-apiserver. @throws Status 503 */
  readonly latest: (plural: string) => Promise<Collection>
  readonly users: { readonly get: (name: string) => User | undefined }
  /** Whether a name is the caller's own: that of a stored user, and no other credential that bears it. */
  readonly isCaller: (exchange: AuthenticatedExchange, name: string) => boolean
  /** Answers a read of objects that are made for it, in the list language of the platform. */
  readonly show: (
    exchange: AuthenticatedExchange,
    what: {
      readonly plural: string
      readonly kind: string
      readonly namespaced: boolean
      readonly group: string
      readonly version: string
    },
    items: readonly KubeObject[],
  ) => Promise<void>
  readonly audit: (exchange: AuthenticatedExchange, action: string, user: string) => void
}

const rbac = 'rbac.authorization.k8s.io'
const mostNamespaces = 64

/**
 * Roles and members as consoles of KubeSphere 3.4 know them: views of RBAC's roles and bindings, for callers who may list those, and
 * writers of bindings as the caller.
 */
export function createRoleRoutes(tools: RoleTools): Readonly<Record<RolePath, Handler>> {
  const { groupDomain, callAs, latest } = tools
  const label = scopeLabel(groupDomain)
  const iam = `iam.${groupDomain}`

  async function namespacesOf(place: Place): Promise<readonly string[]> {
    if (place.scope === 'namespace') return [place.namespace]
    if (place.scope !== 'workspace') return []
    const all = await latest('namespaces')
    return [...all.entries()]
      .filter(({ facts }) => facts.values.workspace === place.workspace)
      .map(({ name }) => name)
      .sort()
  }

  /** @throws Status 403 for a caller who may not list what a view is made of */
  async function requireList(exchange: AuthenticatedExchange, place: Place, what: 'roles' | 'bindings') {
    const { scope } = place
    const list = (resource: string, namespace: string) =>
      tools.require(exchange, { verb: 'list', group: rbac, resource, namespace })
    if (scope === 'namespace') return list(what === 'roles' ? 'roles' : 'rolebindings', place.namespace)
    if (scope !== 'workspace') return list(what === 'roles' ? 'clusterroles' : 'clusterrolebindings', '')
    if (what === 'roles') return
    try {
      await list('rolebindings', '')
    } catch (error) {
      const names = await namespacesOf(place)
      const isFew = names.length > 0 && names.length <= mostNamespaces
      if (!(error instanceof Status && error.code === 403) || !isFew) throw error
      await Promise.all(names.map(name => list('rolebindings', name)))
    }
  }

  /** @param mayReadClusterRoles false leaves out what they say */
  async function rolesAt(place: Place, mayReadClusterRoles: boolean): Promise<readonly KubeObject[]> {
    const clusterRoles = await latest('clusterroles')
    const roles =
      place.scope === 'namespace'
        ? [...(await latest('roles')).entries()].filter(each => each.namespace === place.namespace)
        : []
    return listRoles({ groupDomain, clusterRoles, roles, mayReadClusterRoles }, place)
  }

  async function mayList(exchange: AuthenticatedExchange, group: string, resource: string): Promise<boolean> {
    try {
      await tools.require(exchange, { verb: 'list', group, resource, namespace: '' })
      return true
    } catch (error) {
      if (error instanceof Status && error.code === 403) return false
      throw error
    }
  }

  /** The bindings that count at a place, each under the name of its role there. */
  async function heldAt(place: Place, is: Parameters<typeof heldBy>[2]): Promise<readonly Held[]> {
    const { scope } = place
    if (scope === 'namespace' || scope === 'workspace') {
      const names = new Set(await namespacesOf(place))
      const all = [...(await latest('rolebindings')).entries()].filter(each => names.has(each.namespace))
      return heldBy(all, binding => nameAt(place, roleRefOf(binding)), is)
    }
    const all = (await latest('clusterrolebindings')).entries()
    const roles = scope === 'global' ? new Set((await rolesAt(place, true)).map(nameOf)) : undefined
    const named = (binding: Entry) => {
      const name = nameAt(place, roleRefOf(binding))
      if (roles !== undefined) return roles.has(name) ? name : undefined
      return binding.meta.labels?.[label] === 'global' ? undefined : name
    }
    return heldBy(all, named, is)
  }

  /** A read of the views themselves, which are in no list of kube-apiserver. */
  function viewInfo({ query }: AuthenticatedExchange, ...below: readonly string[]): RequestInfo {
    const path = below.filter(part => part !== '').map(encodeURIComponent)
    return parseRequestInfo('GET', `/kapis/${iam}/v1alpha2/${path.join('/')}`, query)
  }

  async function isLabelled(place: Place, name: string): Promise<boolean> {
    const labels = (await latest('clusterroles')).get('', name)?.meta.labels ?? {}
    return Object.entries(labelsOf(groupDomain, place)).every(([key, value]) => labels[key] === value)
  }

  async function serveRoles(exchange: AuthenticatedExchange, place: Place, name = ''): Promise<void> {
    if (exchange.req.method !== 'GET' && exchange.req.method !== 'HEAD')
      return writeRole({ groupDomain, callAs, isLabelled }, exchange, { place, name })
    await requireList(exchange, place, 'roles')
    const { plural, kind, isNative } = roleKinds[place.scope]
    const api = isNative ? { group: rbac, version: 'v1' } : { group: iam, version: 'v1alpha2' }
    const namespaced = place.scope === 'namespace'
    const within = namespaced ? ['namespaces', place.namespace] : []
    const info = viewInfo(exchange, ...within, plural, name)
    const shown = await rolesAt(place, await mayList(exchange, rbac, 'clusterroles'))
    await tools.show({ ...exchange, info }, { plural, kind, namespaced, ...api }, shown)
  }

  async function showMembers(exchange: AuthenticatedExchange, place: MemberPlace, name = ''): Promise<void> {
    requireMethod(exchange, ['GET', 'HEAD', ...(name === '' ? ['POST'] : ['PUT', 'DELETE'])])
    await requireList(exchange, place, 'bindings')
    const held = await heldAt(place, isMember)
    const roles = rolesByMember(held, place, await namespacesOf(place))
    // Bindings say no more of users than their names.
    const users = (await mayList(exchange, iam, 'users')) ? await latest('users') : undefined
    const items = toMembers(roles, { groupDomain, scope: place.scope }, user => users?.get('', user))
    const { plural } = memberKinds[place.scope]
    const info = viewInfo(exchange, plural, name)
    const what = { plural, kind: 'User', namespaced: false, group: iam, version: 'v1alpha2' }
    await tools.show({ ...exchange, info }, what, items)
  }

  /** The roles that a user has at a place, by name or by a group; everybody may ask for their own. */
  async function sendRolesOf(exchange: AuthenticatedExchange, place: Place, name: string): Promise<void> {
    requireMethod(exchange, ['GET', 'HEAD'])
    if (!tools.isCaller(exchange, name)) await requireList(exchange, place, 'bindings')
    const user = tools.users.get(name)
    if (user === undefined) throw notFound({ group: iam, resource: 'users' }, name)
    const groups = new Set(user.groups)
    groups.delete(authenticatedGroup)
    const found = await heldAt(place, subject =>
      subject.kind === 'User' ? subject.name === name : subject.kind === 'Group' && groups.has(subject.name),
    )
    const held = found.map(each => ({ ...each, user: name }))
    const names =
      place.scope === 'workspace'
        ? [...workspaceRolesOf(held, place.workspace, await namespacesOf(place)).values()]
        : held
    const wanted = new Set(names.map(({ role }) => role))
    sendJson(
      exchange.res,
      200,
      (await rolesAt(place, true)).filter(role => wanted.has(nameOf(role))),
    )
  }

  /** @throws Status 403 for a role of another name, by a caller who may not list roles; 422 for one that the place does not have */
  async function resolve(
    exchange: AuthenticatedExchange,
    place: MemberPlace,
    role: string,
  ): Promise<RoleRef> {
    const { scope, namespace, workspace } = place
    const presets = presetsOf(scope, workspace)
    const preset = presets.find(({ name }) => name === role)
    if (preset?.clusterRole !== undefined) return { kind: 'ClusterRole', name: preset.clusterRole }
    const known = presets.flatMap(({ name, clusterRole }) => (clusterRole === undefined ? [] : name))
    if (preset !== undefined) throw unknownRole(role, known)
    await requireList(exchange, scope === 'workspace' ? { ...place, scope: 'cluster' } : place, 'roles')
    if (scope === 'namespace') {
      if ((await latest('roles')).get(namespace, role) !== undefined) return { kind: 'Role', name: role }
      throw unknownRole(role, known)
    }
    const native = (await latest('clusterroles')).get('', role)
    const of = native?.meta.labels?.[`${groupDomain}/workspace`]
    const isHere = scope === 'workspace' ? of === workspace : of === undefined
    if (native === undefined || !isHere) throw unknownRole(role, known)
    return { kind: 'ClusterRole', name: role }
  }

  /** @throws Status 409 for a workspace without namespaces, which has nothing to be a member of */
  async function targetsOf(place: MemberPlace): Promise<readonly string[]> {
    if (place.scope === 'cluster') return ['']
    const names = await namespacesOf(place)
    if (names.length > 0) return names
    const message = `${placeText(place)} has no namespaces: its members are those who have role bindings in them`
    throw new Status(409, 'Conflict', message)
  }

  async function give(
    exchange: AuthenticatedExchange,
    place: MemberPlace,
    { username, roleRef }: Member,
    ref: RoleRef,
  ): Promise<void> {
    const held = await heldAt(place, ({ kind, name }) => kind === 'User' && name === username)
    const isSame = ({ binding }: Held) => {
      const { kind, name } = roleRefOf(binding)
      return kind === ref.kind && name === ref.name
    }
    for (const namespace of await targetsOf(place)) {
      if (held.some(each => each.binding.namespace === namespace && isSame(each))) continue
      await bind(callAs, exchange, { user: username, namespace, roleRef: ref, labels: {} })
    }
    // The new one first: a user who may not be given it keeps what there was.
    if (exchange.req.method === 'PUT')
      for (const { binding } of held.filter(each => !isSame(each)))
        await unbind(callAs, exchange, binding.parsed(), username)
    tools.audit(exchange, `give ${roleRef} in ${placeText(place)}`, username)
  }

  async function addMembers(exchange: AuthenticatedExchange, place: MemberPlace): Promise<void> {
    const members = parseMembers(await readJson(exchange.req, ['application/json']))
    // Whether it has namespaces is for those who may know them.
    if (place.scope === 'workspace') await requireList(exchange, place, 'bindings')
    const refs = await Promise.all(members.map(({ roleRef }) => resolve(exchange, place, roleRef)))
    for (const [i, member] of members.entries()) {
      const ref = refs[i]
      if (ref !== undefined) await give(exchange, place, member, ref)
    }
    sendJson(exchange.res, 200, members)
  }

  async function changeMember(exchange: AuthenticatedExchange, place: MemberPlace, name: string) {
    const member = parseMember(await readJson(exchange.req, ['application/json']))
    if (member.username !== name)
      throw badRequest(`username must be the name in the path, ${JSON.stringify(name)}`)
    await requireList(exchange, place, 'bindings')
    await give(exchange, place, member, await resolve(exchange, place, member.roleRef))
    sendJson(exchange.res, 200, member)
  }

  async function removeMember(exchange: AuthenticatedExchange, place: MemberPlace, name: string) {
    const given = await readDeleteOptions(exchange.req)
    if (given?.isDryRun === true) throw badRequest('dryRun must be a query parameter here: ?dryRun=All')
    await requireList(exchange, place, 'bindings')
    const held = await heldAt(place, ({ kind, name: subject }) => kind === 'User' && subject === name)
    if (held.length === 0) throw notFound({ group: '', resource: memberKinds[place.scope].plural }, name)
    for (const { binding } of held) await unbind(callAs, exchange, binding.parsed(), name)
    tools.audit(exchange, `remove from ${placeText(place)}`, name)
    sendJson(exchange.res, 200, { message: 'success' })
  }

  const members = (placeOf: (parts: readonly string[]) => MemberPlace): Handler => {
    return exchange => {
      const place = placeOf(exchange.info.parts)
      return exchange.req.method === 'POST' ? addMembers(exchange, place) : showMembers(exchange, place)
    }
  }
  const member = (placeOf: (parts: readonly string[]) => MemberPlace): Handler => {
    return exchange => {
      const place = placeOf(exchange.info.parts)
      const name = exchange.info.parts.at(-1) ?? ''
      const { method = '' } = exchange.req
      if (method === 'PUT') return changeMember(exchange, place, name)
      return method === 'DELETE' ? removeMember(exchange, place, name) : showMembers(exchange, place, name)
    }
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

type MemberPlace = Place & { readonly scope: MemberScope }

function nameOf({ metadata }: KubeObject): string {
  return metadata.name
}

function requireMethod({ req }: AuthenticatedExchange, allowed: readonly string[]): void {
  if (!allowed.includes(req.method ?? '')) throw methodNotAllowed(allowed)
}
