import { badRequest, type Status } from '../../apierrors/status.ts'
import type { Expression, Test } from '../filter/expression.ts'
import type { LogFilter, PermittedNamespace, Scope } from '../filter/filter.ts'
import type { Field } from '../record.ts'
import { literalNodes, parseRegex } from '../regex/parse.ts'
import { formatTime } from '../rfc3339.ts'
import { escapeLucene, toLuceneRegexp, wildcardToLucene } from './regexp.ts'

export type Dsl = Readonly<Record<string, unknown>>

const fields: Readonly<
  Record<Extract<Field, string>, { readonly text: string; readonly whole: readonly string[] }>
> = {
  // In indices that Fluent Bit writes, `log.keyword` has lines up to a maximum length.
  log: { text: 'log', whole: ['log.raw', 'log.keyword'] },
  namespace: { text: 'kubernetes.namespace_name', whole: ['kubernetes.namespace_name.keyword'] },
  pod: { text: 'kubernetes.pod_name', whole: ['kubernetes.pod_name.keyword'] },
  container: { text: 'kubernetes.container_name', whole: ['kubernetes.container_name.keyword'] },
  host: { text: 'kubernetes.host', whole: ['kubernetes.host.keyword'] },
  dockerId: { text: 'kubernetes.docker_id', whole: ['kubernetes.docker_id.keyword'] },
}

// The default of index.max_terms_count, and a number of clauses far below any limit.
const maxTerms = 65_536
const maxGroups = 256
const latestNs = 2n ** 63n - 1n
// Maximum number of indexed words that a prefix may match.
const maxExpansions = 20_000

/**
 * Translates a filter to a query of the search engine, in filter context so that it can be cached.
 * Input of the caller only becomes values in the JSON, never query syntax.
 */
export function toDsl({ scope, startNs, endNs, expression }: LogFilter): Dsl {
  // Always with a lower bound: without it, Elasticsearch 9 fails for nanosecond times.
  const range = {
    gte: toBound(startNs ?? 0n),
    ...(endNs === undefined ? {} : { lte: toBound(endNs) }),
  }
  const isBounded = startNs !== undefined || endNs !== undefined
  const filter = [
    isBounded ? { range: { time: range } } : { exists: { field: 'time' } },
    ...toScope(scope, startNs),
    ...(expression === undefined ? [] : [toQuery(expression)]),
  ]
  return { bool: { filter } }
}

/**
 * Formats a time with nine fractional digits: Elasticsearch 8 rounds an upper bound without a
 * fraction up to the end of its second. Times after 2262, which search engines reject, become the
 * latest valid time.
 */
function toBound(timeNs: bigint): string {
  const boundNs = timeNs > latestNs ? latestNs : timeNs
  return formatTime(boundNs).replace(/(\.\d+)?Z$/, (_, fraction = '.') => `${fraction.padEnd(10, '0')}Z`)
}

/**
 * Limits a query to the caller's scope. Namespaces older than the requested time share a `terms`
 * clause. Younger ones get a clause per creation time if these are few, otherwise a script with a
 * table.
 */
function toScope(scope: Scope, startNs: bigint | undefined): readonly Dsl[] {
  if (scope === 'everything') return []
  const older = scope.filter(({ sinceNs }) => startNs !== undefined && sinceNs <= startNs)
  const younger = new Map<bigint, PermittedNamespace[]>()
  for (const permitted of scope) {
    if (startNs !== undefined && permitted.sinceNs <= startNs) continue
    younger.set(permitted.sinceNs, [...(younger.get(permitted.sinceNs) ?? []), permitted])
  }
  if (younger.size > maxGroups) return [namespaces(scope), createdBefore(scope)]
  const groups = [...younger].map(([sinceNs, group]) => ({
    bool: { filter: [namespaces(group), { range: { time: { gte: toBound(sinceNs) } } }] },
  }))
  return [anyOf([...(older.length > 0 ? [namespaces(older)] : []), ...groups])]
}

const ofNamespace = 'kubernetes.namespace_name.keyword'

function namespaces(permitted: readonly PermittedNamespace[]): Dsl {
  const names = permitted.map(({ namespace }) => namespace)
  const clauses: Dsl[] = []
  for (let at = 0; at < names.length; at += maxTerms) {
    clauses.push({ terms: { [ofNamespace]: names.slice(at, at + maxTerms) } })
  }
  return anyOf(clauses)
}

/**
 * Matches lines that are younger than their namespace, by a script. The source is constant, so that
 * it is compiled once; the namespaces are parameters. Creation times are whole seconds.
 */
function createdBefore(permitted: readonly PermittedNamespace[]): Dsl {
  const since = Object.fromEntries(
    permitted.map(({ namespace, sinceNs }) => [namespace, Number(sinceNs / 1_000_000n)]),
  )
  const source = `def from = params.since.get(doc['${ofNamespace}'].value); return from != null && doc['time'].value.toInstant().toEpochMilli() >= from`
  return { script: { script: { lang: 'painless', source, params: { since } } } }
}

function toQuery(expression: Expression): Dsl {
  if (expression.op === 'match') {
    const { field, test } = expression
    if (typeof field === 'string') return toFieldQuery(field, test)
    return 'label' in field ? toLabelQuery(field.label, test) : toPairQuery('field_pairs', field.field, test)
  }
  if (expression.op === 'not') return { bool: { must_not: [toQuery(expression.operand)] } }
  const operands = expression.operands.map(toQuery)
  return expression.op === 'and' ? { bool: { filter: operands } } : anyOf(operands)
}

/** Returns the disjunction. Without queries it matches nothing. */
function anyOf(queries: readonly Dsl[]): Dsl {
  const [first] = queries
  if (first === undefined) return { match_none: {} }
  return queries.length === 1 ? first : { bool: { should: queries, minimum_should_match: 1 } }
}

function toFieldQuery(field: Extract<Field, string>, test: Test): Dsl {
  const { text, whole } = fields[field]
  const onWhole = (query: (name: string) => Dsl) => anyOf(whole.map(query))
  switch (test.kind) {
    case 'in': {
      const values = test.values.filter(value => value !== '')
      const isEmpty = test.values.length > values.length
      const absent = { bool: { must_not: [{ exists: { field: text } }] } }
      const terms = values.length > 0 ? [onWhole(name => ({ terms: { [name]: values } }))] : []
      return anyOf([...terms, ...(isEmpty ? [absent] : [])])
    }
    case 'words':
      return toPhrase(text, test.words, test.prefix)
    case 'contains':
      return onWhole(name => contains(name, test.text, test.caseSensitive))
    case 'wildcard':
      return onWhole(name => regexp(name, wildcardToLucene(test)))
    case 'regex': {
      const value = translate(test)
      return onWhole(name => regexp(name, value))
    }
    case 'compare':
      throw noComparison()
    case 'workload':
      return onWhole(name => regexp(name, test.names.map(podNames).join('|')))
  }
}

/** Translates a regular expression to Lucene's syntax. @throws Status 400 if impossible */
function translate({ source, caseSensitive }: Extract<Test, { readonly kind: 'regex' }>): string {
  const node = parseRegex(source)
  const value = node && toLuceneRegexp(node, caseSensitive)
  if (value !== undefined) return value
  throw badRequest(
    `unsupported regular expression ${JSON.stringify(source)}: this log store has no flags, Unicode classes, \\A, \\z, \\B, ^ and $ inside, and \\b except at an end next to a letter or digit; literal braces are \\{ and \\}`,
  )
}

function noComparison(): Status {
  return badRequest(
    'unsupported comparison: this log store compares fields as strings; use wildcards or a regular expression',
  )
}

function toPhrase(field: string, words: readonly string[], prefix: boolean): Dsl {
  const [first = ''] = words
  // Without words everything matches, also a missing field, which counts as empty text.
  if (words.length === 0) return { match_all: {} }
  if (prefix && words.length === 1) return { prefix: { [field]: { value: first } } }
  const query = words.join(' ')
  if (prefix) return { match_phrase_prefix: { [field]: { query, max_expansions: maxExpansions } } }
  return { match_phrase: { [field]: { query } } }
}

/** Matches values that contain a text. @param before start of the value, such as `name=` */
function contains(field: string, text: string, caseSensitive: boolean, before = ''): Dsl {
  // The search engine only folds the case of ASCII. Case variants of other characters are spelled
  // out.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (!caseSensitive && !/^[\x00-\x7f]*$/.test(text))
    return regexp(field, escapeLucene(before) + foldedText(text))
  const value = [before, text, ''].map(part => part.replaceAll(/[\\*?]/g, '\\$&')).join('*')
  return { wildcard: { [field]: { value, ...(caseSensitive ? {} : { case_insensitive: true }) } } }
}

function regexp(field: string, value: string): Dsl {
  return { regexp: { [field]: { value, flags: 'NONE' } } }
}

// Characters of ReplicaSet hashes and generated names (see workload-pods.ts).
const hash = '[bcdfghjklmnpqrstvwxz2456789]'
const longestBase = 58

/** Returns a regular expression for the names of a workload's pods, truncated as in Kubernetes. */
function podNames(workload: string): string {
  const name = escapeLucene(workload)
  const suffix = '[a-z0-9]{5}'
  const names = [`${name}`, `${name}-(${hash}{1,10}-)?${suffix}`, `${name}-[0-9]+`]
  const stem = `${workload}-`
  if (stem.length >= longestBase)
    return [...names, `${escapeLucene(stem.slice(0, longestBase))}${suffix}`].join('|')
  const room = longestBase - stem.length
  if (room <= 10) names.push(`${escapeLucene(stem)}${hash}{${room}}${suffix}`)
  if (room - 1 <= 10) names.push(`${escapeLucene(stem)}${hash}{${room - 1}}-${suffix}`)
  return names.join('|')
}

/** Queries a label: `key=value` in one field, or a field of an object of other programs. */
function toLabelQuery(label: string, test: Test): Dsl {
  const own = toPairQuery('kubernetes.label_pairs', label, test)
  return test.kind === 'in'
    ? anyOf([own, { terms: { [`kubernetes.labels.${label}.keyword`]: test.values } }])
    : own
}

/** Queries a field that contains all names and values as `name=value`. */
function toPairQuery(pairs: string, name: string, test: Test): Dsl {
  const key = `${escapeLucene(name)}=`
  switch (test.kind) {
    case 'in':
      return { terms: { [pairs]: test.values.map(value => `${name}=${value}`) } }
    case 'words':
      return regexp(pairs, key + toWords(test.words, test.prefix))
    case 'contains':
      return contains(pairs, test.text, test.caseSensitive, `${name}=`)
    case 'regex':
      return regexp(pairs, `${key}(${translate(test)})`)
    case 'wildcard':
      return regexp(pairs, `${key}(${wildcardToLucene(test)})`)
    case 'compare':
      throw noComparison()
    case 'workload':
      return { match_none: {} }
  }
}

/** Returns a regular expression for values that contain a text in any case. */
function foldedText(text: string): string {
  return toLuceneRegexp({ kind: 'sequence', items: literalNodes(text) }, false) ?? ''
}

/** Returns a regular expression for words in sequence, separated by `-`, `_` and `.`. */
function toWords(words: readonly string[], prefix: boolean): string {
  const spelled = words.map(word =>
    foldedText(word)
      .replace('(.|\n)*', '')
      .replace(/\(\.\|\n\)\*$/, ''),
  )
  return `(.*[-_.])?${spelled.join('[-_.]+')}${prefix ? '.*' : '([-_.].*)?'}`
}
