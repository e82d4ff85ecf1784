import { isRecord } from '../kubeclient/object/object.ts'
import { parseYaml } from '../yaml/read.ts'

/** Audit levels, in ascending order of detail. */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type Level = (typeof levels)[number]

export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type Stage = (typeof stages)[number]

export type GroupResources = {
  readonly group: string
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

/** A rule of an audit.k8s.io/v1 Policy. An empty list matches everything. */
export type PolicyRule = {
  readonly level: Level
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly GroupResources[]
  readonly namespaces: readonly string[]
  readonly nonResourceURLs: readonly string[]
  readonly omitStages: readonly Stage[]
  readonly omitManagedFields: boolean
}

export type Policy = {
  readonly rules: readonly PolicyRule[]
  readonly omitStages: readonly Stage[]
}

/** The default policy: records the metadata of all requests except discovery and health checks. */
export const defaultPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    verbs: [get, head, options]
    nonResourceURLs: ["/api*", "/apis*", "/openapi*", "/healthz*", "/livez*", "/readyz*", "/version", "/metrics", "/metrics/oauth"]
  - level: Metadata
`

/**
 * Parses an audit policy like kube-apiserver, except that unknown fields are errors: a rule with a
 * misspelt field would match more requests than meant.
 *
 * @throws Error with all problems, each with its path
 */
export function parsePolicy(text: string): Policy {
  const problems: string[] = []
  const document = members(readYaml(text), '', problems, [
    ...['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'],
  ])
  if (document.apiVersion !== 'audit.k8s.io/v1') problems.push('apiVersion: must be audit.k8s.io/v1')
  if (document.kind !== 'Policy') problems.push('kind: must be Policy')
  const rules = Array.isArray(document.rules) ? document.rules : []
  if (rules.length === 0) problems.push('rules: must have at least one rule, otherwise nothing is audited')
  const omitsAll = document.omitManagedFields === true
  const policy = {
    rules: rules.map((rule: unknown, i) => parseRule(rule, { at: `rules[${i}]`, problems, omitsAll })),
    omitStages: parseStages(document.omitStages, 'omitStages', problems),
  }
  if (problems.length > 0) throw new Error(`invalid audit policy:\n${problems.map(p => `  ${p}`).join('\n')}`)
  return policy
}

type ParseContext = { readonly at: string; readonly problems: string[]; readonly omitsAll: boolean }

const ruleMembers = [
  ...['level', 'users', 'userGroups', 'verbs', 'resources', 'namespaces', 'nonResourceURLs'],
  ...['omitStages', 'omitManagedFields'],
]

function parseRule(value: unknown, { at, problems, omitsAll }: ParseContext): PolicyRule {
  const rule = members(value, at, problems, ruleMembers)
  const list = (key: string) => texts(rule[key], `${at}.${key}`, problems)
  const level = levels.find(name => name === rule.level)
  if (level === undefined) problems.push(`${at}.level: must be one of ${levels.join(', ')}`)
  const groups = Array.isArray(rule.resources) ? rule.resources : []
  const nonResourceURLs = list('nonResourceURLs')
  if (nonResourceURLs.length > 0 && (groups.length > 0 || list('namespaces').length > 0))
    problems.push(`${at}: resources and nonResourceURLs cannot be combined in a rule`)
  for (const url of nonResourceURLs) {
    if (!(url === '*' || url.startsWith('/')) || url.slice(0, -1).includes('*'))
      problems.push(
        `${at}.nonResourceURLs: ${JSON.stringify(url)} must begin with / and may have * only at its end`,
      )
  }
  return {
    level: level ?? 'None',
    users: list('users'),
    userGroups: list('userGroups'),
    verbs: list('verbs'),
    resources: groups.map((group: unknown, i) => parseGroup(group, `${at}.resources[${i}]`, problems)),
    namespaces: list('namespaces'),
    nonResourceURLs,
    omitStages: parseStages(rule.omitStages, `${at}.omitStages`, problems),
    omitManagedFields: typeof rule.omitManagedFields === 'boolean' ? rule.omitManagedFields : omitsAll,
  }
}

function parseGroup(value: unknown, at: string, problems: string[]): GroupResources {
  const fields = members(value, at, problems, ['group', 'resources', 'resourceNames'])
  const resources = texts(fields.resources, `${at}.resources`, problems)
  const resourceNames = texts(fields.resourceNames, `${at}.resourceNames`, problems)
  if (resourceNames.length > 0 && resources.length === 0)
    problems.push(`${at}.resourceNames: requires resources`)
  return { group: typeof fields.group === 'string' ? fields.group : '', resources, resourceNames }
}

function parseStages(value: unknown, at: string, problems: string[]): readonly Stage[] {
  return texts(value, at, problems).flatMap(text => {
    const stage = stages.find(name => name === text)
    if (stage === undefined)
      problems.push(`${at}: must be one of ${stages.join(', ')}, not ${JSON.stringify(text)}`)
    return stage ?? []
  })
}

function texts(value: unknown, at: string, problems: string[]): readonly string[] {
  if (value === undefined || value === null) return []
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  const found = list.filter(item => typeof item === 'string')
  if (!Array.isArray(value) || found.length !== list.length) problems.push(`${at}: must be a list of strings`)
  return found
}

function members(
  value: unknown,
  at: string,
  problems: string[],
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) {
    problems.push(`${at === '' ? '(document)' : at}: must be a mapping`)
    return {}
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      problems.push(`${at === '' ? '' : `${at}.`}${key}: unknown; supported: ${known.join(', ')}`)
  }
  return value
}

function readYaml(text: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    throw new Error(`invalid audit policy: ${error instanceof Error ? error.message : String(error)}`)
  }
}
