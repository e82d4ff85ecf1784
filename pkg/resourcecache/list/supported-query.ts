import { Status } from '../../apierrors/status.ts'
import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { Kind } from '../kind.ts'
import { filterNames, type ListRestriction } from './list-predicate.ts'
import { isSortKey, sortKeys } from './order.ts'

/**
 * Removes parameters that a kind does not support, as KubeSphere 3.4 does: an unknown sort key is
 * replaced by the creation time, and unknown filters are ignored. Warnings report both.
 */
export function toSupportedQuery(kind: Pick<Kind, 'plural' | 'filters'>, query: ListQuery): ListQuery {
  const names = filterNames(kind)
  const unknown = [...query.filters.keys()].filter(key => !names.includes(key))
  const isSorted = isSortKey(query.sortBy)
  if (isSorted && unknown.length === 0) return query
  return {
    ...query,
    sortBy: isSorted ? query.sortBy : 'createTime',
    filters: new Map([...query.filters].filter(([key]) => names.includes(key))),
    warnings: [
      ...query.warnings,
      ...(isSorted
        ? []
        : [
            ignoredText('sort key', [query.sortBy], kind.plural, [
              ...sortKeys,
              'or a path such as .spec.nodeName',
            ]),
          ]),
      ...(unknown.length === 0 ? [] : [ignoredText('filter', unknown, kind.plural, names)]),
    ],
  }
}

const nothing: ListRestriction = { key: 'nothing', matches: () => false }

/**
 * Removes filters whose value no object of the kind can have, such as an unknown status. As in
 * KubeSphere 3.4, the list is then empty. A warning reports the values that exist.
 */
export function withoutImpossibleFilters(
  kind: Pick<Kind, 'filters'>,
  query: ListQuery,
): { readonly query: ListQuery; readonly restriction?: ListRestriction } {
  const problems = new Map<string, string>()
  for (const [key, value] of query.filters) {
    try {
      if (Object.hasOwn(kind.filters, key)) kind.filters[key]?.(value)
    } catch (error) {
      if (!(error instanceof Status)) throw error
      problems.set(key, error.message)
    }
  }
  if (problems.size === 0) return { query }
  return {
    query: {
      ...query,
      filters: new Map([...query.filters].filter(([key]) => !problems.has(key))),
      warnings: [
        ...query.warnings,
        ...[...problems.values()].map(message => `no object matches: ${message}`),
      ],
    },
    restriction: nothing,
  }
}

/** Returns the parameters that a list without selectors and projections ignores, for a warning. */
export function ignoredSelections(query: ListQuery, plural: string): readonly string[] {
  const { labelSelector, fieldSelector, columns, shards, fields } = query
  const given = {
    labelSelector: labelSelector.text !== '',
    fieldSelector: fieldSelector.text !== '',
    columnSelector: columns.text !== '',
    shardSelector: shards.length > 0,
    fields: fields !== '',
  }
  return Object.entries(given)
    .filter(([, isGiven]) => isGiven)
    .map(([name]) => `ignored ${name}: not supported for ${plural}`)
}

const maxNames = 3

/** @param keys unknown keys; only the first are named, since a client may send thousands */
export function ignoredText(
  what: 'sort key' | 'filter' | 'column',
  keys: readonly string[],
  plural: string,
  supported: readonly string[],
): string {
  const named = keys.slice(0, maxNames).map(key => JSON.stringify(key.slice(0, 32)))
  const more = keys.length > maxNames ? ` and ${keys.length - maxNames} more` : ''
  const s = keys.length > 1 ? 's' : ''
  return `ignored unknown ${what}${s} ${named.join(', ')}${more} of ${plural}; supported: ${supported.join(', ')}`
}
