import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { isRecord, itemsOf } from '../../kubeclient/object/object.ts'

/** A PolicyRule of rbac.authorization.k8s.io/v1; absent lists are empty. */
export type Rule = {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** The attributes of a RequestInfo that rules are compared with; omitted ones are ''. */
export type AccessAttributes =
  | {
      readonly isResource: true
      readonly verb: string
      readonly group: string
      readonly resource: string
      readonly subresource: string
      readonly name: string
      /** The namespace; '' for cluster-scoped objects and for all namespaces. */
      readonly namespace: string
    }
  | { readonly isResource: false; readonly verb: string; readonly path: string }

/**
 * Reports whether a rule allows a request, like k8s.io/kubernetes/pkg/apis/rbac/v1 (VerbMatches,
 * APIGroupMatches, ResourceMatches, ResourceNameMatches, NonResourceURLMatches).
 */
export function ruleAllows(rule: Rule, attributes: AccessAttributes): boolean {
  if (!hasVerb(rule, attributes)) return false
  if (!attributes.isResource) return rule.nonResourceURLs.some(url => urlMatches(url, attributes.path))
  return hasGroup(rule, attributes) && hasResource(rule, attributes) && hasName(rule, attributes)
}

type ResourceAttributes = Extract<AccessAttributes, { isResource: true }>

/** Reports whether a rule has the verb (VerbMatches). */
export function hasVerb({ verbs }: Rule, { verb }: AccessAttributes): boolean {
  return verbs.includes('*') || verbs.includes(verb)
}

/** Reports whether a rule has the API group (APIGroupMatches). */
export function hasGroup({ apiGroups }: Rule, { group }: ResourceAttributes): boolean {
  return apiGroups.includes('*') || apiGroups.includes(group)
}

/** Reports whether a rule has the resource or its subresource (ResourceMatches). */
export function hasResource({ resources }: Rule, { resource, subresource }: ResourceAttributes): boolean {
  if (resources.includes('*')) return true
  if (subresource === '') return resources.includes(resource)
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

/** Reports whether a rule without names, or with this one, applies (ResourceNameMatches). */
export function hasName({ resourceNames }: Rule, { name }: ResourceAttributes): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name)
}

function urlMatches(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(trimStars(url)))
}

/** Removes all stars at the end, like strings.TrimRight of Go. */
function trimStars(url: string): string {
  let end = url.length
  while (url[end - 1] === '*') end--
  return url.slice(0, end)
}

// Hundreds of namespaces usually have the same few roles, so equal rules are shared.
const maxSharedBytes = 4 * 1024 * 1024

/** Returns a parser for the `rules` of roles; equal rules share one value. */
export function createRuleReader(): (rules: unknown) => readonly Rule[] {
  const shared = createBoundedCache<readonly Rule[]>({
    maxBytes: maxSharedBytes,
    sizeOf: rules => 400 * rules.length,
  })
  return rules => {
    const read = parseRules(rules)
    const key = JSON.stringify(read)
    const known = shared.get(key)
    if (known !== undefined) return known
    shared.set(key, read)
    return read
  }
}

/** Parses the `rules` of a role; rules and values of the wrong type are omitted. */
export function parseRules(rules: unknown): readonly Rule[] {
  return itemsOf(rules)
    .filter(isRecord)
    .map(rule => ({
      verbs: textsOf(rule.verbs),
      apiGroups: textsOf(rule.apiGroups),
      resources: textsOf(rule.resources),
      resourceNames: textsOf(rule.resourceNames),
      nonResourceURLs: textsOf(rule.nonResourceURLs),
    }))
}

function textsOf(value: unknown): readonly string[] {
  return itemsOf(value).filter(item => typeof item === 'string')
}

/** Converts a rule to a PolicyRule without empty lists. */
export function toPolicyRule(rule: Rule): Partial<Rule> {
  return Object.fromEntries(Object.entries(rule).filter(([, values]) => values.length > 0))
}
