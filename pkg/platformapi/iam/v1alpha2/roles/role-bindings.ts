import { fieldsOf, isRecord, itemsOf, textOf } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import type { RecordedRole } from './member-record-role.ts'
import { type Preset, presetsOf, type RoleScope } from './role-presets.ts'

/** A scope of roles with its namespace or workspace, of which the unused one is ''. */
export type ScopeRef = { readonly scope: RoleScope; readonly namespace: string; readonly workspace: string }

export type RoleRef = { readonly kind: string; readonly name: string }

export type Subject = { readonly kind: string; readonly name: string }

/** The relevant fields of a RoleBinding or ClusterRoleBinding. */
export type Binding = {
  readonly entry: CachedObject
  readonly roleRef: RoleRef
  readonly subjects: readonly Subject[]
}

export type AssignedRole = {
  /** Name of the subject: a user, or a group where bindings of groups are read. */
  readonly user: string
  /** The role name in the API of KubeSphere. */
  readonly role: string
  readonly binding: Binding
  /** The role of new namespaces of a workspace, if the binding grants none itself. */
  readonly recorded?: RecordedRole
}

/** The label of platform-wide bindings and roles, whose subjects are not cluster members. */
export function scopeLabel(groupDomain: string): string {
  return `iam.${groupDomain}/scope`
}

/** Returns a parser of bindings that caches each version: there may be ten thousand. */
export function createBindingReader(): (entry: CachedObject) => Binding {
  const read = new WeakMap<CachedObject, Binding>()
  return entry => {
    const known = read.get(entry)
    if (known !== undefined) return known
    const { roleRef, subjects } = entry.parsed()
    const { kind, name } = fieldsOf(roleRef)
    const binding = {
      entry,
      roleRef: { kind: textOf(kind), name: textOf(name) },
      subjects: itemsOf(subjects)
        .filter(isRecord)
        .map(subject => ({ kind: textOf(subject.kind), name: textOf(subject.name) })),
    }
    read.set(entry, binding)
    return binding
  }
}

/**
 * Returns the roles that bindings grant to the selected subjects.
 *
 * @param names returns the role name of a binding in the scope; undefined for bindings to ignore
 */
export function findAssignedRoles(
  bindings: Iterable<Binding>,
  names: (binding: Binding) => string | undefined,
  is: (subject: Subject) => boolean,
): readonly AssignedRole[] {
  const found: AssignedRole[] = []
  for (const binding of bindings) {
    const meant = binding.subjects.filter(is)
    if (meant.length === 0) continue
    const role = names(binding)
    if (role !== undefined) for (const { name } of meant) found.push({ user: name, role, binding })
  }
  return found
}

/** Returns whether a subject is a person. Users of Kubernetes components are never members. */
export function isMember({ kind, name }: Subject): boolean {
  return kind === 'User' && name !== '' && !name.startsWith('system:')
}

/** Returns whether a subject is a group of people, as only these get roles here. */
export function isGroup({ kind, name }: Subject): boolean {
  return kind === 'Group' && name !== '' && !name.startsWith('system:')
}

export function isSameRole(a: RoleRef, b: RoleRef): boolean {
  return a.kind === b.kind && a.name === b.name
}

/** Returns the role name of a binding in KubeSphere: that of the preset, or of the role. */
export function nameAt(presets: readonly Preset[], { kind, name }: RoleRef): string {
  if (kind !== 'ClusterRole') return name
  return presets.find(({ clusterRole }) => clusterRole === name)?.name ?? name
}

export type WorkspaceMember = {
  readonly role: string
  /** The role that is granted in each namespace; undefined for a regular member. */
  readonly clusterRole: string | undefined
}

/**
 * Returns the members of a workspace and their roles, from the role bindings in its namespaces. A
 * user has a role if every namespace grants the same ClusterRole, and is a regular member
 * otherwise. If there are several, the recorded one counts: a self-provisioner is an administrator
 * of each namespace that they have created. Without namespaces, the recorded role applies. Roles of
 * the workspace itself are known by their records.
 *
 * @param namespaces of the workspace
 */
export function workspaceRolesOf(
  held: readonly AssignedRole[],
  workspace: string,
  namespaces: readonly string[],
): ReadonlyMap<string, WorkspaceMember> {
  const givenTo = new Map<string, Set<string>>()
  const recordedFor = new Map<string, string[]>()
  for (const { user, binding, recorded } of held) {
    const given = givenTo.get(user) ?? new Set()
    givenTo.set(user, given)
    if (recorded?.role !== undefined) {
      given.add(`/${recorded.role}`)
      recordedFor.set(user, [...(recordedFor.get(user) ?? []), recorded.role])
    }
    const { kind, name } = binding.roleRef
    if (kind === 'ClusterRole') given.add(`${binding.entry.namespace}/${name}`)
  }
  const presets = presetsOf('workspace', workspace)
  const scopes = namespaces.length === 0 ? [''] : namespaces
  return new Map(
    [...givenTo].map(([user, given]) => {
      const isGiven = (clusterRole = '') =>
        scopes.every(namespace => given.has(`${namespace}/${clusterRole}`))
      const own = recordedFor.get(user)?.filter(role => isGiven(role)) ?? []
      const preset = presets.find(({ clusterRole = '' }) =>
        own.length > 0 ? own.includes(clusterRole) : isGiven(clusterRole),
      )
      const clusterRole = preset?.clusterRole ?? own[0]
      return [user, { role: preset?.name ?? own[0] ?? `${workspace}-regular`, clusterRole }] as const
    }),
  )
}
