import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'

const prefix = 'kapis:workspace:'

/** The roleRef of a binding. */
type RoleRef = { readonly kind: string; readonly name: string }

/**
 * The content of a membership record: the ClusterRole that the member gets in the namespaces of the
 * workspace; undefined for none.
 */
export type RecordedRole = { readonly role: string | undefined }

/**
 * Returns the ClusterRole of a membership record. Its rules grant access to the Workspace object,
 * and its name contains the role that the member gets in new namespaces.
 *
 * @param role the ClusterRole for the namespaces; undefined for a member without one
 */
export function recordRole(groupDomain: string, workspace: string, role: string | undefined) {
  const verb = role === undefined ? 'member' : `member:${role}`
  return {
    name: `${prefix}${workspace}${role === undefined ? '' : `:${role}`}`,
    // A record results in permissions in new namespaces. This verb makes kube-apiserver check that
    // the user who binds the role has the same permission.
    rules: [
      {
        apiGroups: [`tenant.${groupDomain}`],
        resources: ['workspaces'],
        resourceNames: [workspace],
        verbs: ['get', verb],
      },
    ],
  }
}

/** Parses the role name of a record; undefined for the names of other roles. */
export function recordedFor(workspace: string, { kind, name }: RoleRef): RecordedRole | undefined {
  if (kind !== 'ClusterRole') return undefined
  const named = namedBy(name)
  return named?.workspace === workspace ? { role: named.role } : undefined
}

/**
 * Returns whether a ClusterRole is that of a record. The rules are compared too, since a
 * ClusterRole with other rules may have the same name.
 */
export function isRecordRole(groupDomain: string, entry: Pick<CachedObject, 'name' | 'parsed'>): boolean {
  const named = namedBy(entry.name)
  if (named === undefined) return false
  return hasRulesOf(entry.parsed(), recordRole(groupDomain, named.workspace, named.role))
}

/** Returns whether a ClusterRole has exactly the rules of a record. */
export function hasRulesOf(
  clusterRole: KubeObject | undefined,
  { rules }: ReturnType<typeof recordRole>,
): boolean {
  return isDeepStrictEqual(clusterRole?.rules, rules)
}

function namedBy(
  name: string,
): { readonly workspace: string; readonly role: string | undefined } | undefined {
  if (!name.startsWith(prefix)) return undefined
  // The first colon ends the workspace name, which cannot contain one.
  const [workspace = '', ...rest] = name.slice(prefix.length).split(':')
  return { workspace, role: rest.length === 0 ? undefined : rest.join(':') }
}
