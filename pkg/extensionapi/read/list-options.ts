import { badRequest } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { parseVersionQuery, type VersionQuery } from '../../apirequest/query/version-query.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import {
  type FieldRequirement,
  matchesFields,
  requireKnownFields,
} from '../../apirequest/selector/field-selector.ts'
import { type LabelRequirement, matchesLabels } from '../../apirequest/selector/label-selector.ts'
import { requirementsOf } from '../../apirequest/selector/selector.ts'
import {
  formatShardSelector,
  matchesShard,
  type ShardRange,
} from '../../apirequest/selector/shard-selector.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import { restrictToColumns } from '../../resourcecache/list/columns.ts'
import type { ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'

/** metav1.ListOptions for reads. */
export type ListOptions = VersionQuery & {
  /** '' for all namespaces. */
  readonly namespace: string
  readonly labels: readonly LabelRequirement[]
  readonly fields: readonly FieldRequirement[]
  /** Restriction by the table columns of the kind. */
  readonly columns: ListRestriction | undefined
  /** Empty without a shardSelector. */
  readonly shards: readonly ShardRange[]
  /** Maximum number of objects; 0 for no limit. A negative limit in a request is parsed as 0. */
  readonly limit: number
  readonly continueToken: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number
}

const noColumns = { plural: 'these objects', columns: [] }
const knownFields = ['metadata.name', 'metadata.namespace']

/**
 * Parses and validates the options of a list or watch like kube-apiserver.
 *
 * @param named name of the only object that the request was authorized for
 * @param namespace '' for all namespaces
 * @throws Status 400 for a syntax error, 422 for contradictory options
 */
export function parseListOptions(
  query: QueryParameters,
  verb: 'list' | 'watch',
  { name, namedBy }: Pick<RequestInfo, 'name' | 'namedBy'>,
  namespace = '',
  kind: Pick<Kind, 'plural' | 'columns'> = noColumns,
): ListOptions {
  const fields = requirementsOf(query.fieldSelector)
  requireKnownFields(fields, knownFields)
  const isOther = ({ field, operator, value }: FieldRequirement) => contradicts(name, field, operator, value)
  if (namedBy === 'path' && fields.some(isOther))
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  const named: FieldRequirement[] =
    namedBy === '' ? [] : [{ field: 'metadata.name', operator: '=', value: name }]
  const columns = requirementsOf(query.columnSelector)
  const sendInitialEvents = boolean(query, 'sendInitialEvents')
  const options: ListOptions = {
    ...parseVersionQuery(query, { verb, sendInitialEvents }),
    namespace,
    labels: requirementsOf(query.labelSelector),
    fields: [...fields, ...named],
    columns: columns.length === 0 ? undefined : restrictToColumns(kind, columns),
    shards: query.shards,
    limit: Math.max(0, integer(query, 'limit', /^-?\d{1,15}$/)),
    continueToken: query.get('continue') ?? '',
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents,
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  }
  if (verb === 'list' && options.continueToken !== '' && !['', '0'].includes(options.resourceVersion))
    throw badRequest('specifying resource version is not allowed when using continue')
  return options
}

/**
 * Returns whether a list must have exactly the requested version. Without resourceVersionMatch, a
 * limit with a resourceVersion has this meaning too, for compatibility.
 */
export function isExact({ match: matching, limit, resourceVersion }: ListOptions): boolean {
  return matching === 'Exact' || (matching === '' && limit > 0 && !['', '0'].includes(resourceVersion))
}

/** Returns the predicate for the namespace and all selectors of a list or watch. */
export function matchesOptions(options: ListOptions): (entry: CachedObject) => boolean {
  const { labels, fields, columns, shards, namespace } = options
  return entry =>
    (namespace === '' || entry.namespace === namespace) &&
    matchesLabels(labels, entry.meta.labels ?? {}) &&
    matchesShard(shards, { uid: entry.meta.uid ?? '', namespace: entry.namespace }) &&
    matchesFields(fields, { 'metadata.name': entry.name, 'metadata.namespace': entry.namespace }) &&
    columns?.matches(entry) !== false
}

/** Reports whether any selector is set. */
export function isSelective(options: ListOptions): boolean {
  return (
    options.labels.length > 0 ||
    options.fields.length > 0 ||
    options.columns !== undefined ||
    options.shards.length > 0
  )
}

/** Returns the cache key of a selection, the same for the same objects. */
export function toSelectorKey(
  { labelSelector, fieldSelector, columnSelector, shards }: QueryParameters,
  { name }: Pick<RequestInfo, 'name'>,
  namespace = '',
): string {
  return JSON.stringify([
    labelSelector.text,
    fieldSelector.text,
    columnSelector.text,
    formatShardSelector(shards),
    name,
    namespace,
  ])
}

function contradicts(name: string, field: string, operator: '=' | '!=', value: string): boolean {
  return field === 'metadata.name' && (value === name) !== (operator === '=')
}

function integer(query: QueryParameters, name: string, allowed = /^\d{1,15}$/): number {
  const text = query.get(name) ?? ''
  if (text === '') return 0
  if (allowed.test(text)) return Number(text)
  throw badRequest(`${name} must be a whole number of at least 0, not ${JSON.stringify(text)}`)
}

/** Parses a boolean like apimachinery: a parameter is true unless it is missing, `false` or `0`. */
function boolean(query: QueryParameters, name: string): boolean | undefined {
  const text = query.get(name)?.toLowerCase()
  if (text === undefined) return undefined
  return text !== 'false' && text !== '0'
}
