import { badRequest } from '../../apierrors/status.ts'
import { type ListQuery, parseListQuery } from '../../apirequest/query/list-query.ts'
import { watchParameters } from '../../apirequest/query/watch-query.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { toColumnRestriction } from '../../resourcecache/list/columns.ts'
import type { ListRequest } from '../../resourcecache/list/list.ts'
import { joinRestrictions, type ListRestriction } from '../../resourcecache/list/list-predicate.ts'
import { toSupportedQuery, withoutImpossibleFilters } from '../../resourcecache/list/supported-query.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { restrictToOwner } from '../subrequests/owners.ts'
import type { ReadStyle, ReadTools } from './read-tools.ts'

/** Parses the parameters of a list, and adds other restrictions. @throws Status 400, 403, 503 */
export async function toListRequest(
  store: ObjectStore,
  tools: ReadTools,
  exchange: AuthenticatedExchange,
  { narrow, visible, only }: ReadStyle,
): Promise<ListRequest> {
  const { info, query: parameters, res } = exchange
  const { kind } = store.served
  const listQuery = parseListQuery(parameters, watchParameters)
  const narrowed = await narrow?.(listQuery)
  const { query, restriction: impossible } = withoutImpossibleFilters(
    kind,
    toSupportedQuery(kind, narrowed?.query ?? listQuery),
  )
  const cells = await toColumnRestriction(kind, query, tools.printerColumns)
  // Restricts the list by the attributes with which the request was authorized.
  const { groupDomain } = tools
  const limits = { namespace: info.isInNamespace ? info.namespace : '', name: info.name, groupDomain }
  const visibility = visible && { key: visible.key, matches: visible.has, namespaces: visible.namespaces }
  const narrowings = [narrowed?.narrowing, visibility, only, cells.restriction, impossible].filter(
    each => each !== undefined,
  )
  const restricted = (of: ListQuery, all: readonly ListRestriction[]): ListRequest => ({
    query: of,
    ...limits,
    ...(all.length > 0 && { narrowing: joinRestrictions(all) }),
  })
  const request = restricted(query, narrowings)
  const owned = await throughOwners(store, tools, exchange, request)
  for (const warning of [query.warnings, cells.warning ?? [], owned?.warnings ?? []].flat())
    addWarning(res, warning)
  return owned === undefined ? request : restricted(owned.query, [...narrowings, owned.restriction])
}

/** With `seniority`, includes owners of owners. @throws Status 400 for a watch */
async function throughOwners(
  store: ObjectStore,
  { owners, timeSlices }: ReadTools,
  exchange: AuthenticatedExchange,
  { query, namespace, narrowing }: ListRequest,
) {
  const { seniority } = query
  if (seniority === 0) return undefined
  const filters = new Map(query.filters)
  const uid = filters.get('ownerReference')
  filters.delete('ownerReference')
  if (uid === undefined) throw badRequest('seniority requires ownerReference, the uid of an owner')
  if (exchange.info.verb === 'watch')
    throw badRequest('seniority is not supported for a watch, since the owners in between change')
  const scope = namespace === '' ? narrowing?.namespaces : new Set([namespace])
  const found = await restrictToOwner(owners, exchange, {
    ...{
      uid,
      seniority,
      entries: store.entriesInNamespaces(scope),
      timeSlices: timeSlices.of(exchange.identity.username),
    },
    matches: entry => narrowing?.matches(entry) !== false,
  })
  return { ...found, query: { ...query, filters } }
}
