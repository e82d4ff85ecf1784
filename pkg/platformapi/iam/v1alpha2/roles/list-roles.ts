import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import { isRecordRole } from './member-record-role.ts'
import { type RoleRef, type ScopeRef, scopeLabel } from './role-bindings.ts'
import type { Preset } from './role-presets.ts'
import { isTemplate, isTemplateFor } from './role-templates.ts'

/** Resource names and kinds that consoles use for the roles of each scope. */
export const roleKinds = {
  global: { plural: 'globalroles', kind: 'GlobalRole', isNative: false },
  cluster: { plural: 'clusterroles', kind: 'ClusterRole', isNative: true },
  workspace: { plural: 'workspaceroles', kind: 'WorkspaceRole', isNative: false },
  namespace: { plural: 'roles', kind: 'Role', isNative: true },
} as const

/** A role of KubeSphere, and the roleRef of its bindings; undefined if none can be. */
export type ListedRole = { readonly role: KubeObject; readonly ref: RoleRef | undefined }

export type RoleSources = {
  readonly groupDomain: string
  /** The predefined roles of the scope. */
  readonly presets: readonly Preset[]
  readonly clusterRoles: { readonly get: (namespace: string, name: string) => CachedObject | undefined } & {
    readonly entries: () => Iterable<CachedObject>
  }
  /** The Roles of the namespace; empty in other scopes. */
  readonly roles: readonly CachedObject[]
  /** Whether the caller may read ClusterRoles, otherwise omitted, as are rules. */
  readonly mayReadClusterRoles: boolean
}

/**
 * Returns the roles of a scope: its presets, and RBAC roles with other names. These are the Roles
 * of a namespace, the ClusterRoles of the cluster, or the ClusterRoles with the label of a
 * workspace.
 */
export function listRoles(sources: RoleSources, scopeRef: ScopeRef): readonly ListedRole[] {
  const presets = sources.presets.flatMap(preset => presetRole(sources, scopeRef, preset) ?? [])
  const shown = new Set(presets.map(({ role }) => role.metadata.name))
  return [...presets, ...nativeRoles(sources, scopeRef).filter(({ role }) => !shown.has(role.metadata.name))]
}

function nativeRoles(sources: RoleSources, scopeRef: ScopeRef): readonly ListedRole[] {
  const { groupDomain, clusterRoles, roles, mayReadClusterRoles } = sources
  const { scope, workspace } = scopeRef
  const placed = (kind: string) => (entry: CachedObject) => ({
    role: toRole(groupDomain, scopeRef, entry.parsed()),
    ref: { kind, name: entry.name },
  })
  const native = scope === 'namespace' ? roles.map(placed('Role')) : []
  if (!mayReadClusterRoles) return native
  const shown = [...clusterRoles.entries()]
    .filter(entry => {
      const { meta } = entry
      if (isTemplate(entry, groupDomain)) return isTemplateFor(entry, groupDomain, scope)
      if (scope === 'namespace') return false
      if (isRecordRole(groupDomain, entry)) return false
      const of = meta.labels?.[`${groupDomain}/workspace`]
      if (scope === 'workspace') return of === workspace
      const isGlobal = meta.labels?.[scopeLabel(groupDomain)] === 'global'
      return scope === 'global' ? isGlobal : !isGlobal && of === undefined
    })
    .map(placed('ClusterRole'))
  return [...native, ...shown]
}

function presetRole(
  { groupDomain, clusterRoles, mayReadClusterRoles }: RoleSources,
  scopeRef: ScopeRef,
  { name, clusterRole, modules }: Preset,
): ListedRole | undefined {
  const found = clusterRole === undefined ? unbound : clusterRoles.get('', clusterRole)?.parsed()
  if (found === undefined) return undefined
  const source = mayReadClusterRoles ? found : unbound
  const annotations = {
    ...source.metadata.annotations,
    [`${groupDomain}/creator`]: 'system',
    [`iam.${groupDomain}/role-template-rules`]: JSON.stringify(modules),
  }
  const metadata = { ...source.metadata, name, annotations }
  const ref = clusterRole === undefined ? undefined : { kind: 'ClusterRole', name: clusterRole }
  return { role: toRole(groupDomain, scopeRef, { ...source, metadata }), ref }
}

const unbound: KubeObject = {
  metadata: { name: '', uid: '', resourceVersion: '0', creationTimestamp: '1970-01-01T00:00:00Z' },
}

/** A native role in the format of KubeSphere. */
export function toRole(groupDomain: string, scopeRef: ScopeRef, source: KubeObject): KubeObject {
  const { scope, namespace, workspace } = scopeRef
  const { kind, isNative } = roleKinds[scope]
  const { managedFields: _, namespace: __, ...metadata } = source.metadata
  // Consoles read this label of every workspace role, and show no roles at all if one lacks it.
  const labels = { ...metadata.labels, [`${groupDomain}/workspace`]: workspace }
  return {
    kind,
    apiVersion: isNative ? 'rbac.authorization.k8s.io/v1' : `iam.${groupDomain}/v1alpha2`,
    metadata: {
      ...metadata,
      ...(scope === 'namespace' && { namespace }),
      ...(scope === 'workspace' && { labels }),
    },
    ...(source.aggregationRule !== undefined && { aggregationRule: source.aggregationRule }),
    rules: source.rules ?? [],
  }
}
