import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import { parseObject } from '../../../../kubeclient/object/object.ts'
import type { KindOptions } from '../../../../resourcecache/kind.ts'
import { users } from '../../../../resourcecache/kinds/platform.ts'
import { anyOf, joinValues } from '../../../../resourcecache/list/filters.ts'
import { objectBytes, platformForm } from '../../../../resourcecache/list/list-body.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import type { AssignedRole, ScopeRef } from './role-bindings.ts'
import { workspaceRolesOf } from './role-bindings.ts'

/** For each scope, the name of members in consoles, and the annotation of their role. */
export const memberKinds = {
  cluster: { plural: 'clustermembers', role: 'clusterrole' },
  workspace: { plural: 'workspacemembers', role: 'workspacerole' },
  namespace: { plural: 'members', role: 'role' },
} as const

export type MemberScope = keyof typeof memberKinds

/** Returns the role of each member of a scope; several roles are joined by commas. */
export function rolesByMember(
  held: readonly AssignedRole[],
  { scope, workspace }: ScopeRef,
  namespaces: readonly string[],
): ReadonlyMap<string, string> {
  if (scope === 'workspace')
    return new Map([...workspaceRolesOf(held, workspace, namespaces)].map(([user, { role }]) => [user, role]))
  const roles = new Map<string, Set<string>>()
  for (const { user, role } of held) roles.set(user, (roles.get(user) ?? new Set()).add(role))
  return new Map([...roles].map(([user, names]) => [user, [...names].sort().join(',')]))
}

/** Extends the filters of users by the role in a scope. */
export function memberKindOptions(groupDomain: string, scope: MemberScope): KindOptions {
  const { role } = memberKinds[scope]
  const annotation = `iam.${groupDomain}/${role}`
  return {
    ...users,
    toFields(object) {
      const fields = users.toFields(object)
      const roles = object.metadata.annotations?.[annotation]?.split(',') ?? []
      return { ...fields, values: { ...fields.values, [role]: joinValues(roles) } }
    },
    filters: { ...users.filters, [role]: anyOf(role) },
  }
}

/**
 * Returns members as Users with their role in an annotation.
 *
 * @param userOf returns the stored User; undefined if the caller may not read it, and the member
 * then has only a name
 */
export function toMembers(
  roles: ReadonlyMap<string, string>,
  { groupDomain, scope }: { readonly groupDomain: string; readonly scope: MemberScope },
  userOf: (name: string) => CachedObject | undefined,
): readonly KubeObject[] {
  const annotation = `iam.${groupDomain}/${memberKinds[scope].role}`
  return [...roles].map(([name, role]) => {
    const entry = userOf(name)
    const user = entry === undefined ? unknown(groupDomain, name) : toShownObject(entry)
    const annotations = { ...user.metadata.annotations, [annotation]: role }
    return { ...user, metadata: { ...user.metadata, annotations } }
  })
}

/** Returns a stored User without the fields that callers must not read. */
function toShownObject(entry: CachedObject): KubeObject {
  return parseObject(JSON.parse(objectBytes(entry, platformForm).toString('utf8')))
}

function unknown(groupDomain: string, name: string): KubeObject {
  return {
    kind: 'User',
    apiVersion: `iam.${groupDomain}/v1alpha2`,
    metadata: { name, uid: '', resourceVersion: '0', creationTimestamp: '1970-01-01T00:00:00Z' },
  }
}
