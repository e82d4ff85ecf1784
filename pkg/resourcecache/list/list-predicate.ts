import { badRequest } from '../../apierrors/status.ts'
import { parseJsonPath } from '../../apirequest/query/json-path.ts'
import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { FieldRequirement } from '../../apirequest/selector/field-selector.ts'
import {
  type LabelRequirement,
  matchesLabels,
  parseLabelSelector,
} from '../../apirequest/selector/label-selector.ts'
import { requirementsOf } from '../../apirequest/selector/selector.ts'
import { formatShardSelector, matchesShard } from '../../apirequest/selector/shard-selector.ts'
import { decodeString } from '../../json/scan.ts'
import { compareAmounts, parseAmount } from '../decorate/amount.ts'
import type { Kind } from '../kind.ts'
import type { CachedObject } from '../store/cached-object.ts'
import { createFieldExtractor } from '../store/field-extractor.ts'
import { parseSearch } from './search.ts'

/** A predicate with a key: predicates with the same key select the same objects. */
export type ListPredicate = {
  readonly key: string
  readonly matches: (entry: CachedObject) => boolean
  /** Namespaces that contain all matching objects; undefined if they are not known. */
  readonly namespaces?: ReadonlySet<string> | undefined
}

/** A restriction of a list in addition to its query. */
export type ListRestriction = ListPredicate

/** Combines several restrictions: an object must match all of them. */
export function joinRestrictions(narrowings: readonly ListRestriction[]): ListRestriction {
  return {
    key: JSON.stringify(narrowings.map(({ key }) => key)),
    matches: entry => narrowings.every(({ matches }) => matches(entry)),
    namespaces: commonOf(narrowings.map(({ namespaces }) => namespaces)),
  }
}

/** Returns the intersection of sets, of which undefined contains everything. */
function commonOf(sets: readonly (ReadonlySet<string> | undefined)[]): ReadonlySet<string> | undefined {
  const [first, ...rest] = sets.filter(each => each !== undefined)
  return first && new Set([...first].filter(name => rest.every(each => each.has(name))))
}

type Predicate = (entry: CachedObject) => boolean

/** The filters of every kind; `groupDomain` is part of the name of the alias annotation. */
const commonFilters: Readonly<Record<string, (value: string, groupDomain: string) => Predicate>> = {
  name: value => entry => entry.name.includes(value),
  names: value => {
    const names = new Set(value.split(','))
    return entry => names.has(entry.name)
  },
  alias: (value, groupDomain) => {
    const annotation = `${groupDomain}/alias-name`
    return entry => entry.meta.annotations?.[annotation]?.includes(value) === true
  },
  uid: value => entry => entry.meta.uid === value,
  namespace: value => entry => entry.namespace === value,
  ownerReference: value => entry => (entry.meta.ownerReferences ?? []).some(owner => owner.uid === value),
  ownerKind: value => entry => (entry.meta.ownerReferences ?? []).some(owner => owner.kind === value),
  annotation: value => {
    const selector = parseLabelSelector(value, 'annotation')
    return entry => matchesLabels(selector, entry.annotations)
  },
  label: value => byLabels(parseLabelSelector(value, 'label')),
  status: value => {
    const expected = value.toLowerCase()
    return entry => entry.fields.status.toLowerCase() === expected
  },
  q: parseSearch,
}

/**
 * Builds the predicate for the filters and selectors of a query, in one namespace or, with '', in
 * all.
 *
 * @throws Status 400 for an unknown filter, with the supported ones, and for an invalid value
 */
export function toListPredicate(
  kind: Kind,
  request: {
    readonly query: ListQuery
    readonly namespace: string
    readonly name?: string
    readonly groupDomain: string
    readonly narrowing?: ListRestriction
  },
): ListPredicate {
  const { query, namespace, name = '', groupDomain, narrowing } = request
  const predicates: Predicate[] = []
  if (narrowing !== undefined) predicates.push(narrowing.matches)
  if (namespace !== '') predicates.push(entry => entry.namespace === namespace)
  if (name !== '') predicates.push(entry => entry.name === name)
  const labels = requirementsOf(query.labelSelector)
  if (labels.length > 0) predicates.push(byLabels(labels))
  const fields = requirementsOf(query.fieldSelector)
  if (fields.length > 0) predicates.push(byFields(fields))
  const { shards } = query
  if (shards.length > 0)
    predicates.push(({ meta, namespace }) => matchesShard(shards, { uid: meta.uid ?? '', namespace }))
  for (const [key, value] of query.filters) predicates.push(toPredicate(kind, groupDomain, key, value))
  const filters = [...query.filters].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    key: JSON.stringify([
      ...[namespace, name, query.labelSelector.text, query.fieldSelector.text],
      formatShardSelector(shards),
      ...[filters, narrowing?.key],
    ]),
    matches: entry => predicates.every(matches => matches(entry)),
    namespaces: commonOf([narrowing?.namespaces, namespace === '' ? undefined : new Set([namespace])]),
  }
}

function toPredicate(kind: Kind, groupDomain: string, key: string, value: string): Predicate {
  const own = Object.hasOwn(kind.filters, key) ? kind.filters[key] : undefined
  if (own) {
    const matches = own(value)
    return entry => matches(entry.fields)
  }
  const common = Object.hasOwn(commonFilters, key) ? commonFilters[key] : undefined
  if (common) return common(value, groupDomain)
  throw badRequest(
    `unknown filter ${JSON.stringify(key)} for ${kind.plural}; supported filters: ${filterNames(kind).join(', ')}`,
  )
}

/** Returns the names of the filters of a kind in alphabetical order. */
export function filterNames(kind: Pick<Kind, 'filters'>): readonly string[] {
  return [...new Set([...Object.keys(commonFilters), ...Object.keys(kind.filters)])].sort()
}

function byLabels(requirements: readonly LabelRequirement[]): Predicate {
  return entry => matchesLabels(requirements, entry.meta.labels ?? {})
}

/**
 * Returns the predicate of a field selector with arbitrary paths. A missing field matches neither
 * `=` nor `!=`. The exception is `path=`, which matches missing and empty fields.
 */
function byFields(requirements: readonly FieldRequirement[]): Predicate {
  const paths = requirements.map(({ field }) => parseJsonPath(field, 'fieldSelector'))
  return createFieldExtractor(paths, values =>
    requirements.every(({ operator, value }, i) => {
      const found = values[i]
      if (found === undefined || found === 'null') return operator === '=' && value === ''
      if (found.startsWith('{') || found.startsWith('[')) return false
      return isValue(found, value) === (operator === '=')
    }),
  )
}

const jsonNumber = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Compares a value, given as JSON text, with the requested one. Numbers are compared exactly. */
export function isValue(source: string, expected: string): boolean {
  if (source.startsWith('"')) return decodeString(source, 0, source.length) === expected
  const [found, requested] = [
    parseAmount(source),
    jsonNumber.test(expected) ? parseAmount(expected) : undefined,
  ]
  return found && requested ? compareAmounts(found, requested) === 0 : source === expected
}
