import { badRequest } from '../status/status.ts'
import type { FieldRequirement } from './field-selector.ts'
import type { LabelRequirement } from './label-selector.ts'
import type { QueryParameters } from './query-parameters.ts'
import type { Selector } from './selector.ts'

/** The paging and sorting of a platform list; everything else in the query is a filter. */
export type ListQuery = {
  /** 1 is the first page. */
  readonly page: number
  /** -1 is everything. */
  readonly limit: number
  readonly sortBy: string
  readonly ascending: boolean
  readonly managedFields: boolean
  readonly labelSelector: Selector<LabelRequirement>
  readonly fieldSelector: Selector<FieldRequirement>
  /** Paths of the members that are wanted; '' for whole objects. */
  readonly fields: string
  /** The remaining parameters; an empty one is as if it were not given. */
  readonly filters: ReadonlyMap<string, string>
}

const ownParameters = new Set([
  'page',
  'limit',
  'sortBy',
  'ascending',
  'managedFields',
  'labelSelector',
  'fieldSelector',
  'fields',
  'pretty',
  'watch',
])
const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const falseWords = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/**
 * Reads the query of `GET …/{resources}`. Defaults: first page, no limit, newest first.
 *
 * @param others parameters that somebody else reads
 * @throws Status 400 that names the parameter and what is allowed
 */
export function parseListQuery(query: QueryParameters, others: readonly string[] = []): ListQuery {
  query.refuseAmbiguous()
  const filters = new Map<string, string>()
  for (const [key, value] of query) {
    if (value !== '' && !ownParameters.has(key) && !others.includes(key)) filters.set(key, value)
  }
  return {
    page: integer(query, 'page', { min: 1, fallback: 1 }),
    limit: integer(query, 'limit', { min: -1, fallback: -1 }),
    sortBy: query.get('sortBy') || 'createTime',
    ascending: boolean(query, 'ascending'),
    managedFields: boolean(query, 'managedFields'),
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    fields: query.get('fields') ?? '',
    filters,
  }
}

function integer(query: QueryParameters, name: string, rule: { min: number; fallback: number }): number {
  const text = query.get(name) ?? ''
  if (text === '') return rule.fallback
  const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= rule.min) return value
  const also = rule.min < 0 ? `, ${rule.min} for everything` : ''
  throw badRequest(
    `${name} must be a whole number of at least ${Math.max(rule.min, 0)}${also}, not ${JSON.stringify(text)}`,
  )
}

function boolean(query: QueryParameters, name: string): boolean {
  const text = query.get(name) ?? ''
  if (trueWords.has(text)) return true
  if (text === '' || falseWords.has(text)) return false
  throw badRequest(`${name} must be true or false, not ${JSON.stringify(text)}`)
}
