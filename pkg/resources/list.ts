import { type LabelRequirement, matchesLabels, parseLabelSelector } from '../request/label-selector.ts'
import type { ListQuery } from '../request/list-query.ts'
import { badRequest } from '../status/status.ts'
import type { Collection } from './collection.ts'
import type { Entry } from './entry.ts'
import type { Kind } from './kind.ts'
import { type Selection, selectPage } from './leaf.ts'
import { type SortKey, sortKeys, toOrder } from './order.ts'

type Predicate = (entry: Entry) => boolean

/** The filters that every kind has; `groupDomain` names the alias annotation. */
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
    return entry => matchesLabels(selector, entry.meta.annotations ?? {})
  },
  label: value => byLabels(parseLabelSelector(value, 'label')),
}

/** A page of a platform list, and how many objects the filters leave in all. */
export type Page = { readonly selection: Selection; readonly total: number }

/**
 * Answers a platform list. What the filters select is kept ready by the collection, so that a page of a repeated query
 * costs the page.
 *
 * @param namespace '' for the whole cluster
 * @throws Status 400 for a filter or sort key that the kind does not have, naming those it has
 */
export function listPage(
  collection: Collection,
  request: { readonly query: ListQuery; readonly namespace: string; readonly groupDomain: string },
): Page {
  const { query, namespace } = request
  const sortBy = toSortKey(query.sortBy)
  const predicates = toPredicates(collection.served.kind, query, request.groupDomain)
  if (namespace !== '') predicates.push(entry => entry.namespace === namespace)
  const filters = [...query.filters].sort(([a], [b]) => (a < b ? -1 : 1))
  const view = collection.view({
    key: JSON.stringify([sortBy, namespace, query.labelSelector, filters]),
    matches: entry => predicates.every(matches => matches(entry)),
    order: toOrder(sortBy),
  })
  const size = view.size
  const count = query.limit < 0 ? size : query.limit
  const offset = query.limit < 0 ? 0 : (query.page - 1) * query.limit
  if (offset >= size) return { selection: { runs: [], descending: false }, total: size }
  return {
    selection: selectPage(view.snapshot(), { offset, count, descending: !query.ascending, size }),
    total: size,
  }
}

function toSortKey(sortBy: string): SortKey {
  const found = sortKeys.find(key => key === sortBy)
  if (found === undefined)
    throw badRequest(`sortBy must be one of ${sortKeys.join(', ')}, not ${JSON.stringify(sortBy)}`)
  // Two names of one thing.
  return found === 'creationTimestamp' ? 'createTime' : found
}

function toPredicates(kind: Kind, query: ListQuery, groupDomain: string): Predicate[] {
  const predicates: Predicate[] = []
  const selector = parseLabelSelector(query.labelSelector)
  if (selector.length > 0) predicates.push(byLabels(selector))
  for (const [key, value] of query.filters) {
    const own = Object.hasOwn(kind.filters, key) ? kind.filters[key] : undefined
    const common = Object.hasOwn(commonFilters, key) ? commonFilters[key] : undefined
    if (own) {
      const matches = own(value)
      predicates.push(entry => matches(entry.facts))
    } else if (common) {
      predicates.push(common(value, groupDomain))
    } else {
      const known = [...Object.keys(commonFilters), ...Object.keys(kind.filters)].sort()
      throw badRequest(
        `${JSON.stringify(key)} is no filter of ${kind.plural}; allowed are ${known.join(', ')}`,
      )
    }
  }
  return predicates
}

function byLabels(selector: readonly LabelRequirement[]): Predicate {
  return entry => matchesLabels(selector, entry.meta.labels ?? {})
}
