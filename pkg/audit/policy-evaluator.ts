import type { Identity } from '../apirequest/identity/identity.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'
import type { GroupResources, Level, Policy, PolicyRule, Stage } from './policy.ts'

export type PolicyDecision = {
  readonly level: Level
  readonly omitStages: readonly Stage[]
  readonly omitManagedFields: boolean
}

/** Returns the decision of the first matching rule, or level None. @param identity if known */
export function evaluatePolicy(
  policy: Policy,
  info: RequestInfo,
  identity: Identity | undefined,
): PolicyDecision {
  const rule = policy.rules.find(candidate => matches(candidate, info, identity))
  if (rule === undefined) return { level: 'None', omitStages: policy.omitStages, omitManagedFields: false }
  const { level, omitManagedFields } = rule
  return { level, omitStages: [...policy.omitStages, ...rule.omitStages], omitManagedFields }
}

function matches(rule: PolicyRule, info: RequestInfo, identity: Identity | undefined): boolean {
  if (rule.users.length > 0 && !rule.users.includes(identity?.username ?? '')) return false
  if (rule.userGroups.length > 0 && !identity?.groups.some(group => rule.userGroups.includes(group)))
    return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(info.verb)) return false
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, info)
  if (rule.nonResourceURLs.length > 0)
    return !info.isResource && rule.nonResourceURLs.some(url => covers(url, info.path))
  return true
}

function matchesResource(rule: PolicyRule, info: RequestInfo): boolean {
  if (!info.isResource) return false
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(info.namespace)) return false
  return rule.resources.length === 0 || rule.resources.some(group => matchesGroup(group, info))
}

function matchesGroup({ group, resources, resourceNames }: GroupResources, info: RequestInfo): boolean {
  if (group !== info.group) return false
  if (resources.length === 0) return true
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false
  const { resource, subresource } = info
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  return resources.some(
    pattern =>
      pattern === '*' ||
      pattern === full ||
      (subresource !== '' && (pattern === `*/${subresource}` || pattern === `${resource}/*`)),
  )
}

function covers(pattern: string, path: string): boolean {
  if (pattern === '*') return true
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path
}
