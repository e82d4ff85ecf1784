import type { Identity } from '../../apirequest/identity/identity.ts'
import { isRecord } from '../../kubeclient/object/object.ts'

/** A verb on a resource in any namespace; `resource` may be a subresource (`pods/log`). */
export type Permission = { readonly verb: string; readonly group: string; readonly resource: string }

/**
 * Reports whether the rules of a role grant a permission for all object names, like the RBAC
 * authorizer of k8s.io/kubernetes. With 'any', any permission on any resource counts.
 *
 * @param rules the unparsed field `rules` of a Role or ClusterRole
 */
export function ruleGrants(rules: unknown, permission: Permission | 'any'): boolean {
  if (!Array.isArray(rules)) return false
  if (permission === 'any') return rules.some(rule => isRecord(rule) && Array.isArray(rule.resources))
  const { verb, group, resource } = permission
  const subresource = resource.includes('/') ? resource.slice(resource.indexOf('/')) : undefined
  return rules.some(rule => {
    if (!isRecord(rule)) return false
    const has = (list: unknown, ...values: readonly string[]) =>
      Array.isArray(list) && values.some(value => list.includes(value))
    // resourceNames restrict a rule to single objects; only rules for whole namespaces count here.
    const isForAllNames = !Array.isArray(rule.resourceNames) || rule.resourceNames.length === 0
    return (
      isForAllNames &&
      has(rule.verbs, verb, '*') &&
      has(rule.apiGroups, group, '*') &&
      has(rule.resources, resource, '*', ...(subresource === undefined ? [] : [`*${subresource}`]))
    )
  })
}

/** Returns keys of the subjects of a binding; equivalent subjects have the same key. */
export function subjectKeys(subjects: unknown, namespace: string): readonly string[] {
  if (!Array.isArray(subjects)) return []
  return subjects.filter(isRecord).flatMap(({ kind, name, namespace: own }) => {
    if (typeof name !== 'string') return []
    if (kind === 'User') return [`user ${name}`]
    if (kind === 'Group') return [`group ${name}`]
    const place = typeof own === 'string' && own !== '' ? own : namespace
    // A service account without a namespace is invalid in a ClusterRoleBinding, which has no
    // namespace to default to.
    return kind === 'ServiceAccount' && place !== '' ? [`user system:serviceaccount:${place}:${name}`] : []
  })
}

/** Returns the subject keys that match a caller. */
export function keysOfCaller({ username, groups }: Identity): readonly string[] {
  return [`user ${username}`, ...groups.map(group => `group ${group}`)]
}
