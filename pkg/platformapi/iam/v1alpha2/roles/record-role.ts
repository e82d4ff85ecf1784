const prefix = 'kapis:workspace:'

/** A reference to a role, as in bindings. */
type RoleRef = { readonly kind: string; readonly name: string }

/** What a binding records for a workspace: the ClusterRole in its namespaces; undefined for none. */
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
    // A record promises rights, so kube-apiserver requires the verb of those who bind it.
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

/** Whether a role is one that records a member of a workspace. */
export function isRecordRole({ kind, name }: RoleRef): boolean {
  return kind === 'ClusterRole' && name.startsWith(prefix)
}

/** What the name of a role records for a workspace; undefined for the names of other roles. */
export function recordedFor(workspace: string, roleRef: RoleRef): Recorded | undefined {
  if (!isRecordRole(roleRef)) return undefined
  // Names of workspaces have no colon.
  const [of, ...rest] = roleRef.name.slice(prefix.length).split(':')
  if (of !== workspace) return undefined
  return { role: rest.length === 0 ? undefined : rest.join(':') }
}
