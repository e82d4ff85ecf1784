import type { Identity } from '../../apirequest/identity/identity.ts'
import { toResourceInfo } from '../../apirequest/request-info.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { type Rule, ruleAllows } from '../review/rule.ts'

/** A verb on all objects of a resource in any namespace. */
export type Permission = {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
}

/** Reports whether rules grant a permission; 'any' stands for any permission on any resource. */
export function rulesGrant(rules: readonly Rule[], permission: Permission | 'any'): boolean {
  if (permission === 'any') return rules.some(({ resources }) => resources.length > 0)
  const attributes = toResourceInfo(permission)
  return rules.some(rule => ruleAllows(rule, attributes))
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
