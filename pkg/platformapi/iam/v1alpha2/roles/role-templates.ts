import { badRequest } from '../../../../apierrors/status.ts'
import { stringifyExactly } from '../../../../json/stringify.ts'
import { fieldsOf, isRecord, itemsOf } from '../../../../kubeclient/object/object.ts'
import type { CachedObject } from '../../../../resourcecache/store/cached-object.ts'
import type { ObjectStore } from '../../../../resourcecache/store/store.ts'
import { scopeLabel } from './role-bindings.ts'
import type { RoleScope } from './role-presets.ts'

/** Returns the label of ClusterRoles that are templates, from which consoles compose roles. */
export function templateLabel(groupDomain: string): string {
  return `iam.${groupDomain}/role-template`
}

/** Returns the annotation with the template names as JSON, as KubeSphere's consoles send it. */
export function aggregationAnnotation(groupDomain: string): string {
  return `iam.${groupDomain}/aggregation-roles`
}

type LabelledObject = Pick<CachedObject, 'meta'>

/** Returns whether a ClusterRole is a template, for roles of any scope. */
export function isTemplate({ meta }: LabelledObject, groupDomain: string): boolean {
  return meta.labels?.[templateLabel(groupDomain)] === 'true'
}

export function isTemplateFor(entry: LabelledObject, groupDomain: string, scope: RoleScope): boolean {
  return isTemplate(entry, groupDomain) && entry.meta.labels?.[scopeLabel(groupDomain)] === scope
}

/**
 * Returns the names of templates in a role or a merge patch.
 *
 * @returns undefined without the annotation
 * @throws Status 400 for an annotation that is not a list of names
 */
export function templatesIn(sent: unknown, groupDomain: string): readonly string[] | undefined {
  const annotation = aggregationAnnotation(groupDomain)
  const text = fieldsOf(fieldsOf(fieldsOf(sent).metadata).annotations)[annotation]
  if (typeof text !== 'string') return undefined
  const names = parseNames(text)
  if (names === undefined)
    throw badRequest(`invalid annotation ${annotation}: expected a JSON list of at most 256 names`)
  return names
}

function parseNames(text: string): readonly string[] | undefined {
  try {
    const names: unknown = JSON.parse(text)
    const isList = Array.isArray(names) && names.length <= 256
    return isList && names.every(name => typeof name === 'string') ? names : undefined
  } catch {
    return undefined
  }
}

/** The ClusterRoles, among which are templates. */
type Source = {
  readonly groupDomain: string
  readonly clusterRoles: Pick<ObjectStore, 'get' | 'entries'>
}

/** Returns the rules of templates without duplicates. @returns also the names without a template */
export function aggregate(
  names: readonly string[],
  from: Source,
): { readonly rules: readonly unknown[]; readonly unknown: readonly string[] } {
  const rules = new Map<string, unknown>()
  const unknown: string[] = []
  for (const name of new Set(names)) {
    const entry = from.clusterRoles.get('', name)
    if (entry === undefined || !isTemplate(entry, from.groupDomain)) unknown.push(name)
    else for (const rule of rulesOf(entry)) rules.set(toRuleKey(rule), rule)
  }
  return { rules: [...rules.values()], unknown }
}

/** Returns the rules that no template has. */
export function withoutTemplateRules(
  rules: readonly unknown[],
  { groupDomain, clusterRoles }: Source,
): readonly unknown[] {
  const templates = [...clusterRoles.entries()].filter(entry => isTemplate(entry, groupDomain))
  const known = new Set(templates.flatMap(rulesOf).map(toRuleKey))
  return rules.filter(rule => !known.has(toRuleKey(rule)))
}

function rulesOf(entry: CachedObject): readonly object[] {
  return itemsOf(entry.parsed().rules).filter(isRecord)
}

/** Returns a key that is the same for rules that differ only in the order of their members. */
function toRuleKey(rule: unknown): string {
  return stringifyExactly(Object.entries(fieldsOf(rule)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function areRulesIncluded(rules: readonly unknown[], others: readonly unknown[]): boolean {
  const known = new Set(others.map(toRuleKey))
  return rules.every(rule => known.has(toRuleKey(rule)))
}
