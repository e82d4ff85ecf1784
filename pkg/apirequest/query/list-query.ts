import { badRequest } from '../../apierrors/status.ts'
import type { FieldRequirement } from '../selector/field-selector.ts'
import type { LabelRequirement } from '../selector/label-selector.ts'
import type { Selector } from '../selector/selector.ts'
import type { ShardRange } from '../selector/shard-selector.ts'
import type { QueryParameters } from './query-parameters.ts'

/** The parameters of a platform list. All unknown parameters are filters. */
export type ListQuery = {
  /** Page number; the first page is 1. */
  readonly page: number
  /** Page size; -1 for no limit. */
  readonly limit: number
  /** One sort key, or several with directions: `status,-name` (splitSortKeys). */
  readonly sortBy: string
  readonly ascending: boolean
  readonly managedFields: boolean
  readonly labelSelector: Selector<LabelRequirement>
  readonly fieldSelector: Selector<FieldRequirement>
  /** Requirements on the table columns of a kind (columnSelector). */
  readonly columns: Selector<FieldRequirement>
  /** Empty without a shardSelector. */
  readonly shards: readonly ShardRange[]
  /** Paths of the requested fields; '' for whole objects. */
  readonly fields: string
  /** Maximum number of intermediate owners between an object and the owner to filter by. */
  readonly seniority: number
  /** All other parameters with a value. */
  readonly filters: ReadonlyMap<string, string>
  /** Warnings about invalid parameters, with the values that are used in place of them. */
  readonly warnings: readonly string[]
}

const ownParameters = new Set([
  'page',
  'limit',
  'sortBy',
  'ascending',
  'managedFields',
  'labelSelector',
  'fieldSelector',
  'columnSelector',
  'shardSelector',
  'fields',
  'seniority',
  'pretty',
  'watch',
])
const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const falseWords = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/**
 * Parses the query of `GET …/{resources}`. Defaults: first page, no limit, newest first. As in
 * KubeSphere 3.4, an invalid paging value is replaced by the default and reported in a Warning
 * header.
 *
 * @param others names of parameters that the caller reads itself
 * @throws Status 400 for a repeated or invalid parameter or selector
 */
export function parseListQuery(query: QueryParameters, others: readonly string[] = []): ListQuery {
  query.rejectAmbiguous()
  const filters = new Map<string, string>()
  const warnings: string[] = []
  const warn = (text: string) => void warnings.push(text)
  for (const [key, value] of query) {
    // Filters without a value are ignored, but an empty list of names selects nothing, as in KubeSphere.
    const isGiven = value !== '' || key === 'names'
    if (isGiven && !ownParameters.has(key) && !others.includes(key)) filters.set(key, value)
  }
  const sortBy = query.get('sortBy') || 'createTime'
  return {
    page: integer(query, 'page', { min: 1, fallback: 1, warn }),
    limit: integer(query, 'limit', { min: -1, fallback: -1, warn }),
    sortBy,
    // Keys with directions of their own are sorted as given.
    ascending: query.get('ascending') ? boolean(query, 'ascending', warn) : hasDirections(sortBy),
    managedFields: boolean(query, 'managedFields', warn),
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    columns: query.columnSelector,
    shards: query.shards,
    fields: query.get('fields') ?? '',
    seniority: parseSeniority(query),
    filters,
    warnings,
  }
}

const maxSeniority = 4

/** @throws Status 400 */
function parseSeniority(query: QueryParameters): number {
  const text = query.get('seniority') ?? ''
  if (text === '') return 0
  if (/^\d$/.test(text) && Number(text) <= maxSeniority) return Number(text)
  throw badRequest(`invalid seniority ${quote(text)}: expected a number from 0 to ${maxSeniority}`)
}

/** Splits `a,-b` at commas that are outside of brackets and quotes of a JSONPath. */
export function splitSortKeys(sortBy: string): readonly string[] {
  const keys: string[] = []
  let depth = 0
  let quoted = ''
  let start = 0
  for (let at = 0; at < sortBy.length; at++) {
    const character = sortBy[at] ?? ''
    if (quoted !== '') {
      if (character === quoted) quoted = ''
    } else if (character === "'" || character === '"') quoted = character
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    else if (character === ',' && depth === 0) {
      keys.push(sortBy.slice(start, at))
      start = at + 1
    }
  }
  return [...keys, sortBy.slice(start)]
}

function hasDirections(sortBy: string): boolean {
  return sortBy.startsWith('-') || splitSortKeys(sortBy).length > 1
}

type Warn = (text: string) => void
type IntegerRule = { readonly min: number; readonly fallback: number; readonly warn: Warn }

function integer(query: QueryParameters, name: string, rule: IntegerRule): number {
  const text = query.get(name) ?? ''
  if (text === '') return rule.fallback
  const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= rule.min) return value
  const also = rule.min < 0 ? `, or ${rule.min} for everything` : ''
  rule.warn(
    `invalid ${name} ${quote(text)}: expected a whole number of at least ${Math.max(rule.min, 0)}${also}; using ${rule.fallback}`,
  )
  return rule.fallback
}

function boolean(query: QueryParameters, name: string, warn: Warn): boolean {
  const text = query.get(name) ?? ''
  if (trueWords.has(text)) return true
  if (text !== '' && !falseWords.has(text))
    warn(`invalid ${name} ${quote(text)}: expected true or false; using false`)
  return false
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 64))
}
