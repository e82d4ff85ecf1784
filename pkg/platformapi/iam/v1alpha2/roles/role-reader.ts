import { isStatus } from '../../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { parseRequestInfo, type RequestInfo } from '../../../../apirequest/request-info.ts'
import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { KindOptions } from '../../../../resourcecache/kind.ts'
import type { ObjectStore } from '../../../../resourcecache/store/store.ts'
import type { ReadStyle } from '../../../read/read-tools.ts'
import { type ListedRole, listRoles } from './list-roles.ts'
import { isRecordRole, recordedFor } from './member-record-role.ts'
import { type RecordedMember, recordsOf } from './member-records.ts'
import {
  type AssignedRole,
  type Binding,
  createBindingReader,
  findAssignedRoles,
  nameAt,
  type ScopeRef,
  type Subject,
  scopeLabel,
} from './role-bindings.ts'
import { type Preset, presetsOf } from './role-presets.ts'

/** A permission on a resource, in one namespace or in the whole cluster. */
export type ScopedPermission = {
  readonly verb: 'list' | 'update' | 'patch' | 'delete'
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name?: string
}

export type ScopeReaderTools = {
  readonly groupDomain: string
  /** @throws Status 403, 503 */
  readonly require: (exchange: AuthenticatedExchange, permission: ScopedPermission) => Promise<void>
  /** Returns the cache of a kind, as new as kube-apiserver at the call. @throws Status 503 */
  readonly latest: (plural: string) => Promise<ObjectStore>
  /** Sends generated objects with the list parameters of the platform API. */
  readonly show: (
    exchange: AuthenticatedExchange,
    what: {
      readonly plural: string
      readonly kind: string
      readonly namespaced: boolean
      readonly group: string
      readonly version: string
      /** Filters and sort keys of the objects. */
      readonly traits?: KindOptions
      /** Format of the list; items by default. */
      readonly list?: ReadStyle['list']
    },
    items: readonly KubeObject[],
  ) => Promise<void>
}

/** A scope with its namespaces, resolved once for authorization and handler. */
export type ResolvedScope = ScopeRef & {
  readonly namespaces: readonly string[]
  /** Namespaces that are being deleted: their bindings remain for now, but none can be created. */
  readonly ending?: readonly string[]
}

export const rbacGroup = 'rbac.authorization.k8s.io'
const maxNamespaces = 64

export type ScopeReader = ReturnType<typeof createScopeReader>

/** Reads the roles and bindings of a scope, for callers who may list them. */
export function createScopeReader(tools: ScopeReaderTools) {
  const { groupDomain, latest } = tools
  const label = scopeLabel(groupDomain)
  const iam = `iam.${groupDomain}`
  const toBinding = createBindingReader()

  async function resolve(scopeRef: ScopeRef): Promise<ResolvedScope> {
    if (scopeRef.scope === 'namespace') return { ...scopeRef, namespaces: [scopeRef.namespace] }
    if (scopeRef.scope !== 'workspace') return { ...scopeRef, namespaces: [] }
    const all = [...(await latest('namespaces')).entries()].filter(
      ({ fields }) => fields.values.workspace === scopeRef.workspace,
    )
    const named = (isEnding: boolean) =>
      all
        .filter(({ meta }) => (meta.deletionTimestamp !== undefined) === isEnding)
        .map(({ name }) => name)
        .sort()
    return { ...scopeRef, namespaces: named(false), ending: named(true) }
  }

  /** @throws Status 403 for a caller who may not list the objects of a view */
  async function requireList(
    exchange: AuthenticatedExchange,
    { scope, namespace, namespaces, ending = [] }: ResolvedScope,
    what: 'roles' | 'bindings',
  ): Promise<void> {
    const list = (resource: string, within: string) =>
      tools.require(exchange, { verb: 'list', group: rbacGroup, resource, namespace: within })
    if (scope === 'namespace') return list(what === 'roles' ? 'roles' : 'rolebindings', namespace)
    if (scope !== 'workspace') return list(what === 'roles' ? 'clusterroles' : 'clusterrolebindings', '')
    if (what === 'bindings')
      await requireEach([...namespaces, ...ending], within => list('rolebindings', within))
  }

  /** Requires a permission in all namespaces, or in each one if there are only a few. */
  async function requireEach(
    namespaces: readonly string[],
    check: (namespace: string) => Promise<void>,
  ): Promise<void> {
    try {
      await check('')
    } catch (error) {
      const isFew = namespaces.length > 0 && namespaces.length <= maxNamespaces
      if (!isStatus(error, 403) || !isFew) throw error
      const rejections = await Promise.all(namespaces.map(name => errorFrom(() => check(name))))
      // Not all callers may know the namespaces of a workspace, so the error for all namespaces is
      // sent, which names none.
      if (rejections.some(rejection => rejection !== undefined)) throw error
    }
  }

  async function mayList(exchange: AuthenticatedExchange, group: string, resource: string): Promise<boolean> {
    const permission = { verb: 'list', group, resource, namespace: '' } as const
    return (await errorFrom(() => tools.require(exchange, permission))) === undefined
  }

  /**
   * Returns the presets of a scope, without those that a Role of the namespace replaces. KubeSphere
   * creates such Roles with the names of presets in each namespace.
   */
  async function presetsAt({ scope, namespace, workspace }: ScopeRef): Promise<readonly Preset[]> {
    const presets = presetsOf(scope, workspace)
    if (scope !== 'namespace') return presets
    const roles = await latest('roles')
    return presets.filter(({ name }) => roles.get(namespace, name) === undefined)
  }

  /** @param mayReadClusterRoles if false, their rules are omitted */
  async function rolesAt(scopeRef: ScopeRef, mayReadClusterRoles: boolean): Promise<readonly ListedRole[]> {
    const clusterRoles = await latest('clusterroles')
    const roles =
      scopeRef.scope === 'namespace'
        ? [...(await latest('roles')).entries()].filter(each => each.namespace === scopeRef.namespace)
        : []
    const presets = await presetsAt(scopeRef)
    return listRoles({ groupDomain, presets, clusterRoles, roles, mayReadClusterRoles }, scopeRef)
  }

  /** Returns the members of a workspace that are stored as records. */
  async function recordsAt(workspace: string): Promise<readonly RecordedMember[]> {
    const bindings = [...(await latest('clusterrolebindings')).entries()]
      .map(toBinding)
      .filter(({ roleRef }) => recordedFor(workspace, roleRef) !== undefined)
    if (bindings.length === 0) return []
    const uid = (await latest('workspaces')).get('', workspace)?.meta.uid
    return recordsOf(bindings, { groupDomain, workspace, uid }, await latest('clusterroles'))
  }

  /** Returns whether a ClusterRoleBinding refers to the ClusterRole, which may not exist. */
  async function isBound(clusterRole: string): Promise<boolean> {
    const bindings = await latest('clusterrolebindings')
    return [...bindings.entries()].map(toBinding).some(({ roleRef: { name } }) => name === clusterRole)
  }

  /** Returns the roles of the selected subjects in a scope, from its bindings and records. */
  async function assignedRoles(
    scopeRef: ResolvedScope,
    is: (subject: Subject) => boolean,
  ): Promise<readonly AssignedRole[]> {
    const { scope, namespaces, ending = [] } = scopeRef
    const presets = await presetsAt(scopeRef)
    if (scope === 'namespace' || scope === 'workspace') {
      const within = new Set([...namespaces, ...ending])
      const all = [...(await latest('rolebindings')).entries()].filter(each => within.has(each.namespace))
      const held = findAssignedRoles(all.map(toBinding), ({ roleRef }) => nameAt(presets, roleRef), is)
      if (scope === 'namespace') return held
      const records = await recordsAt(scopeRef.workspace)
      return [...held, ...records.filter(({ kind, user: name }) => is({ kind, name }))]
    }
    const all = [...(await latest('clusterrolebindings')).entries()].map(toBinding)
    const roles =
      scope === 'global'
        ? new Set((await rolesAt(scopeRef, true)).map(({ role }) => role.metadata.name))
        : undefined
    const clusterRoles = await latest('clusterroles')
    const named = ({ entry, roleRef }: Binding) => {
      const clusterRole = clusterRoles.get('', roleRef.name)
      if (clusterRole !== undefined && isRecordRole(groupDomain, clusterRole)) return undefined
      const name = nameAt(presets, roleRef)
      if (roles !== undefined) return roles.has(name) ? name : undefined
      return entry.meta.labels?.[label] === 'global' ? undefined : name
    }
    return findAssignedRoles(all, named, is)
  }

  /** The same as assignedRoles, without records for callers who may not list ClusterRoleBindings. */
  async function visibleRoles(
    exchange: AuthenticatedExchange,
    scopeRef: ResolvedScope,
    is: (subject: Subject) => boolean,
  ): Promise<readonly AssignedRole[]> {
    const held = await assignedRoles(scopeRef, is)
    if (!held.some(isRecorded) || (await mayList(exchange, rbacGroup, 'clusterrolebindings'))) return held
    return held.filter(each => !isRecorded(each))
  }

  /** Returns the RequestInfo for a read of a resource that only the platform API has. */
  function viewInfo({ query }: AuthenticatedExchange, ...below: readonly string[]): RequestInfo {
    const path = below.filter(part => part !== '').join('/')
    return parseRequestInfo('GET', `/kapis/${iam}/v1alpha2/${path}`, query)
  }

  return {
    resolve,
    requireList,
    mayList,
    presetsAt,
    rolesAt,
    assignedRoles,
    visibleRoles,
    recordsAt,
    isBound,
    viewInfo,
    latest,
    show: tools.show,
  }
}

function isRecorded({ recorded }: AssignedRole): boolean {
  return recorded !== undefined
}

/** Returns the 403 of a check, or undefined if it succeeds. Any other error is thrown. */
async function errorFrom(check: () => Promise<void>): Promise<unknown> {
  try {
    await check()
    return undefined
  } catch (error) {
    if (isStatus(error, 403)) return error
    throw error
  }
}
