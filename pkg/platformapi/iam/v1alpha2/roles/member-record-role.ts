import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { Entry } from '../../../../resourcecache/store/cached-object.ts'

const prefix = 'kapis:workspace:'

/** A reference to a role, as in bindings. */
type RoleRef = { readonly kind: string; readonly name: string }

/** The ClusterRole in the namespaces of a workspace that a binding records; undefined for none. */
export type Recorded = { readonly role: string | undefined }

/**
 * The ClusterRole that a member of a workspace is bound to: it gives the Workspace itself, and its
 * binding records the role that the member has in later namespaces.
 *
 * @param role the ClusterRole for the namespaces; undefined for a member without one
 */
export function recordRole(groupDomain: string, workspace: string, role: string | undefined) {
  const verb = role === undefined ? 'member' : `member:${role}`
  return {
    name: `${prefix}${workspace}${role === undefined ? '' : `:${role}`}`,
    // A record grants permissions in later namespaces, so kube-apiserver requires this verb for
    // binding it.
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

/** Parses the name of a role of a record; undefined for the names of other roles. */
export function recordedFor(workspace: string, { kind, name }: RoleRef): Recorded | undefined {
  if (kind !== 'ClusterRole') return undefined
  const named = namedBy(name)
  return named?.workspace === workspace ? { role: named.role } : undefined
}

/**
 * Whether a ClusterRole is that of a record. Its rules are checked too, since anyone may choose its
 * name.
 */
export function isRecordRole(groupDomain: string, entry: Pick<Entry, 'name' | 'parsed'>): boolean {
  const named = namedBy(entry.name)
  if (named === undefined) return false
  return hasRulesOf(entry.parsed(), recordRole(groupDomain, named.workspace, named.role))
}

/** Whether a ClusterRole has exactly the rules of a record. */
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
  // Names of workspaces have no colon.
  const [workspace = '', ...rest] = name.slice(prefix.length).split(':')
  return { workspace, role: rest.length === 0 ? undefined : rest.join(':') }
}
