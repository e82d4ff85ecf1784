import { Status } from '../../apierrors/status.ts'
import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { Kind } from '../kind.ts'
import { filterNames, type ListRestriction } from './list-predicate.ts'
import { classifySortKeys, sortKeys } from './order.ts'

/**
 * Removes parameters that a kind does not support, as KubeSphere 3.4 does: unknown sort keys and
 * filters are ignored, and a list without a sort key is sorted by creation time. Warnings report
 * them.
 */
export function toSupportedQuery(kind: Pick<Kind, 'plural' | 'filters'>, query: ListQuery): ListQuery {
  const { plural } = kind
  const names = filterNames(kind)
  const unknown = [...query.filters.keys()].filter(key => !names.includes(key))
  const keys = classifySortKeys(query.sortBy)
  const warnings = [
    ...(keys.unknown.length === 0 ? [] : [ignoredText('sort key', keys.unknown, plural, supportedKeys)]),
    ...(keys.excess.length === 0
      ? []
      : [`ignored all sort keys after the first ${keys.supported.length}: ${quoteSome(keys.excess)}`]),
    ...(unknown.length === 0 ? [] : [ignoredText('filter', unknown, plural, names)]),
  ]
  if (warnings.length === 0) return query
  return {
    ...query,
    sortBy: keys.supported.join(',') || 'createTime',
    filters: new Map([...query.filters].filter(([key]) => names.includes(key))),
    warnings: [...query.warnings, ...warnings],
  }
}

const supportedKeys = [...sortKeys, 'or a path such as .spec.nodeName']

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
  const requested = {
    labelSelector: labelSelector.text !== '',
    fieldSelector: fieldSelector.text !== '',
    columnSelector: columns.text !== '',
    shardSelector: shards.length > 0,
    fields: fields !== '',
  }
  return Object.entries(requested)
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
  const s = keys.length > 1 ? 's' : ''
  return `ignored unknown ${what}${s} ${quoteSome(keys)} of ${plural}; supported: ${supported.join(', ')}`
}

function quoteSome(keys: readonly string[]): string {
  const named = keys.slice(0, maxNames).map(key => JSON.stringify(key.slice(0, 32)))
  return `${named.join(', ')}${keys.length > maxNames ? ` and ${keys.length - maxNames} more` : ''}`
}
