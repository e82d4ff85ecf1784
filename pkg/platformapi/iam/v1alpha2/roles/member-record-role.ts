import { isDeepStrictEqual } from 'node:util'
import { parseRules, ruleAllows } from '../../../../authz/review/rule.ts'
import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'

const prefix = 'kapis:workspace:'

/** The roleRef of a binding. */
type RoleRef = { readonly kind: string; readonly name: string }

/**
 * The content of a membership record: the ClusterRole that the member gets in the namespaces of the
 * workspace; undefined for none.
 */
export type RecordedRole = {
  readonly role: string | undefined
  /** Whether the ClusterRole of the record has rules that are no longer written. */
  readonly isOutdated?: boolean
}

/** The ClusterRole of a membership record, with the rules that it may have. */
export type RecordClusterRole = {
  readonly name: string
  readonly rules: readonly object[]
  /** The rules of the other kind of record: with, or without, permission to create namespaces. */
  readonly otherRules: readonly object[]
}

/**
 * Returns the ClusterRole of a membership record. Its rules grant access to the Workspace object,
 * and its name contains the role that the member gets in new namespaces.
 *
 * @param role the ClusterRole for the namespaces; undefined for a member without one
 * @param createsNamespaces whether the member may create namespaces in the workspace
 */
export function recordRole(
  groupDomain: string,
  workspace: string,
  role: string | undefined,
  createsNamespaces = role !== undefined && creators.has(role),
): RecordClusterRole {
  const verb = role === undefined ? 'member' : `member:${role}`
  const of = { apiGroups: [`tenant.${groupDomain}`], resourceNames: [workspace] }
  // A record results in permissions in new namespaces. The verb makes kube-apiserver check that the
  // user who binds the role has the same permission.
  const plain = [{ ...of, resources: ['workspaces'], verbs: ['get', verb] }]
  const creating = [...plain, { ...of, resources: ['workspaces/namespaces'], verbs: ['create'] }]
  return {
    name: `${prefix}${workspace}${role === undefined ? '' : `:${role}`}`,
    rules: createsNamespaces ? creating : plain,
    otherRules: createsNamespaces ? plain : creating,
  }
}

/** The ClusterRoles of administrators and self-provisioners of a workspace. */
const creators: ReadonlySet<string> = new Set(['admin', 'edit'])

/** Returns the ClusterRole of a record as it is written now. @param roles all ClusterRoles */
export function currentRecordRole(
  groupDomain: string,
  { workspace, role }: { readonly workspace: string; readonly role: string | undefined },
  roles: { readonly get: (namespace: string, name: string) => Pick<CachedObject, 'parsed'> | undefined },
): RecordClusterRole {
  if (role === undefined || creators.has(role)) return recordRole(groupDomain, workspace, role)
  const group = `tenant.${groupDomain}`
  const of = { group, resource: 'workspaces', subresource: 'namespaces', name: workspace, namespace: '' }
  const rules = parseRules(roles.get('', role)?.parsed().rules)
  const creates = rules.some(rule => ruleAllows(rule, { isResource: true, verb: 'create', ...of }))
  return recordRole(groupDomain, workspace, role, creates)
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

/** Returns whether a ClusterRole has exactly the rules of a record, of either kind. */
export function hasRulesOf(
  clusterRole: KubeObject | undefined,
  { rules, otherRules }: Pick<RecordClusterRole, 'rules' | 'otherRules'>,
): boolean {
  return isDeepStrictEqual(clusterRole?.rules, rules) || isDeepStrictEqual(clusterRole?.rules, otherRules)
}

function namedBy(
  name: string,
): { readonly workspace: string; readonly role: string | undefined } | undefined {
  if (!name.startsWith(prefix)) return undefined
  // The first colon ends the workspace name, which cannot contain one.
  const [workspace = '', ...rest] = name.slice(prefix.length).split(':')
  return { workspace, role: rest.length === 0 ? undefined : rest.join(':') }
}
