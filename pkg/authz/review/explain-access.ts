import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import type { Binding, RbacReader } from '../rbac/rbac-index.ts'
import { appliesTo, type Grant, grantsOf, type ObjectRef, refsOf, toRoleRef } from './grant.ts'
import {
  type AccessAttributes,
  hasGroup,
  hasName,
  hasResource,
  hasVerb,
  type Rule,
  ruleAllows,
  toPolicyRule,
} from './rule.ts'

/** A binding of the caller that does not allow the request, with the missing attributes. */
export type NearMiss = {
  readonly binding: ObjectRef
  readonly role: ObjectRef
  /** The closest rule; absent if the role does not exist. */
  readonly rule?: Partial<Rule>
  readonly missing: readonly string[]
}

export type Explanation = {
  readonly isAllowed: boolean
  readonly grants: readonly Grant[]
  /** For a denied request: the bindings that are closest to allowing it, closest first. */
  readonly nearest: readonly NearMiss[]
  /** For a denied request: the smallest rule that allows it, in a role that is bound there. */
  readonly missingRule?: Partial<Rule>
}

const maxNearest = 5
// A rule that differs in more attributes is unrelated to the request.
const maxMissing = 2

/** Explains why RBAC allows or denies a request. @throws Status 503 before the first lists */
export function explainAccess(
  reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf'>,
  identity: Identity,
  attributes: AccessAttributes,
): Explanation {
  const grants = grantsOf(reader, identity, attributes)
  if (grants.length > 0 || isSuperuser(identity)) return { isAllowed: true, grants, nearest: [] }
  const nearest = reader
    .bindingsOf(identity)
    .flatMap(binding => nearMissOf(reader, binding, attributes) ?? [])
    .sort((a, b) => a.missing.length - b.missing.length || compareNames(a.binding, b.binding))
    .slice(0, maxNearest)
  return { isAllowed: false, grants, nearest, missingRule: toMissingRule(attributes) }
}

/**
 * Returns roles that would allow the request, except those of Kubernetes: those with the fewest
 * wildcards first, then those with the fewest rules.
 */
export function rolesThatAllow(
  reader: Pick<RbacReader, 'rolesFor'>,
  attributes: AccessAttributes,
): readonly ObjectRef[] {
  const namespace = attributes.isResource ? attributes.namespace : ''
  return [...reader.rolesFor(namespace)]
    .filter(
      ([role, rules]) => !role.startsWith('system:') && rules.some(rule => ruleAllows(rule, attributes)),
    )
    .sort(([a, x], [b, y]) => wildcardsIn(x) - wildcardsIn(y) || x.length - y.length || (a < b ? -1 : 1))
    .slice(0, maxNearest)
    .map(([role]) => toRoleRef(role))
}

function wildcardsIn(rules: readonly Rule[]): number {
  return rules.flatMap(rule => Object.values(rule).flat()).filter(value => value === '*').length
}

function compareNames(a: ObjectRef, b: ObjectRef): number {
  const [x, y] = [a, b].map(({ namespace = '', name }) => `${namespace}/${name}`)
  return (x ?? '') < (y ?? '') ? -1 : 1
}

function nearMissOf(
  reader: Pick<RbacReader, 'rulesOf'>,
  binding: Binding,
  attributes: AccessAttributes,
): NearMiss | undefined {
  const refs = refsOf(binding)
  const place = appliesTo(binding, attributes) ? [] : [placeText(binding, attributes)]
  const rules = reader.rulesOf(binding.role)
  // The role does not exist, so only the binding is compared.
  if (rules === undefined)
    return place.length > 0 ? undefined : { ...refs, missing: [`the ${refs.role.kind} does not exist`] }
  const [best] = rules
    .flatMap(rule => {
      const missing = gapsOf(rule, attributes)
      return missing === undefined ? [] : [{ rule, missing: [...place, ...missing] }]
    })
    .sort((a, b) => a.missing.length - b.missing.length)
  if (best === undefined || best.missing.length > maxMissing) return undefined
  return { ...refs, rule: toPolicyRule(best.rule), missing: best.missing }
}

function placeText({ namespace }: Binding, attributes: AccessAttributes): string {
  const scopeText = `the binding applies in the namespace ${JSON.stringify(namespace)}`
  if (!attributes.isResource || attributes.namespace === '')
    return `${scopeText} only, not at the cluster scope`
  return `${scopeText}, not in ${JSON.stringify(attributes.namespace)}`
}

/** Returns what a rule does not allow of a request; undefined for other resources. */
function gapsOf(rule: Rule, attributes: AccessAttributes): readonly string[] | undefined {
  const verb = hasVerb(rule, attributes)
    ? []
    : [`the verbs are ${rule.verbs.join(', ')}, not ${attributes.verb}`]
  if (!attributes.isResource) {
    const { nonResourceURLs } = rule
    return ruleAllows({ ...rule, verbs: ['*'] }, attributes) && nonResourceURLs.length > 0 ? verb : undefined
  }
  const { resource, subresource, group, name } = attributes
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  const isRelated = rule.resources.some(pattern => pattern === '*' || pattern.split('/')[0] === resource)
  if (!isRelated && !hasResource(rule, attributes)) return undefined
  const gaps = [...verb]
  if (!hasResource(rule, attributes)) gaps.push(`the resources are ${rule.resources.join(', ')}, not ${full}`)
  if (!hasGroup(rule, attributes))
    gaps.push(`the API groups are ${rule.apiGroups.map(quote).join(', ')}, not ${quote(group)}`)
  if (!hasName(rule, attributes)) {
    const names = rule.resourceNames.map(quote).join(', ')
    gaps.push(
      name === '' ? `it allows only the names ${names}` : `the names are ${names}, not ${quote(name)}`,
    )
  }
  return gaps
}

function quote(text: string): string {
  return JSON.stringify(text)
}

function toMissingRule(attributes: AccessAttributes): Partial<Rule> {
  const verbs = [attributes.verb]
  if (!attributes.isResource) return { verbs, nonResourceURLs: [attributes.path] }
  const { group, resource, subresource, name } = attributes
  return {
    verbs,
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(name === '' ? {} : { resourceNames: [name] }),
  }
}
