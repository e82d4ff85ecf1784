import { type Status, toStatus, unavailable, unknownResource } from '../../apierrors/status.ts'
import { type ListQuery, parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { hostCluster } from '../../apirequest/target.ts'
import { fieldsOf, isRecord, textOf } from '../../kubeclient/object/object.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import { plain } from '../../resourcecache/kinds/platform.ts'
import { type Form, platformForm } from '../../resourcecache/list/list-body.ts'
import { toSupportedQuery } from '../../resourcecache/list/supported-query.ts'
import { toUncachedStore } from '../../resourcecache/list/uncached-list.ts'
import { toForm } from '../read/read-collection.ts'
import { ListCollector } from './list-collector.ts'
import type { CollectedPart, CollectList } from './subrequest.ts'

/** A list as a member cluster has sent it, with the JSON text of each item. */
export type ReceivedList = { readonly list: unknown; readonly sources: readonly string[] }

/** The list to read in a member cluster, and the maximum size. */
export type MemberCall = {
  readonly cluster: string
  readonly url: string
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * Reads a list of the platform API of a member cluster. It is audited and authorized as a separate
 * request.
 *
 * @param res receives headers of the response
 * @throws Status also of the member cluster
 */
export type ReadInMember = (
  exchange: AuthenticatedExchange,
  res: ListCollector,
  call: MemberCall,
) => Promise<ReceivedList>

export type ClusterPart = CollectedPart & {
  readonly cluster: string
  /** The number of objects that match in a member cluster; `list` has only the first of them. */
  readonly total?: number
}

/** Why the list of a cluster is missing. */
export type ClusterError = { readonly cluster: string; readonly rejection: Status }

export type ClusterReader = (cluster: string) => Promise<ClusterPart | ClusterError>

/** The parameters that the lists of all clusters share. */
export type ClusterRequest = {
  /** The path of the list in one cluster, with its parameters. */
  readonly url: string
  /** The number of objects to read from each cluster, as in `url`. */
  readonly limit: number
  readonly query: ListQuery
  readonly plural: string
  /** The kind in this cluster; undefined if only members may serve it. */
  readonly kind: Kind | undefined
  readonly groupDomain: string
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * Returns a function that reads the list of one cluster, up to the end of the requested page.
 * Objects get the annotation `<group domain>/cluster`.
 */
export function createClusterReader(
  { collect, readInMember }: { readonly collect: CollectList; readonly readInMember: ReadInMember },
  exchange: AuthenticatedExchange,
  request: ClusterRequest,
): ClusterReader {
  const { url, limit, query, plural, kind, groupDomain, maxBytes, signal } = request
  const mark = `${groupDomain}/cluster`
  // The annotation is included in a projection too.
  const fields = query.fields && `${query.fields},metadata.annotations['${mark}']`
  const formOf = (form: Form, cluster: string) =>
    markedForm(toForm({ ...query, fields }, form), mark, cluster)

  async function readHost(): Promise<ClusterPart> {
    if (kind === undefined) throw unknownResource(`resource ${JSON.stringify(plural)} is not supported`)
    const { list, headers } = await collect(exchange, url)
    return { cluster: hostCluster, list: { ...list, form: formOf(list.form, hostCluster) }, headers }
  }
  async function readMember(cluster: string): Promise<ClusterPart> {
    const headers = new ListCollector(exchange.req)
    const { list, sources } = await readInMember(exchange, headers, { cluster, url, maxBytes, signal })
    const { items, total } = toCounted(list, limit)
    const memberKind = { ...(kind ?? toMemberKind(plural, items[0])), cluster }
    const store = toUncachedStore({ kind: memberKind, ...memberKind.source }, items, sources)
    return {
      ...{ cluster, headers, total },
      list: {
        store,
        // The member has applied all filters.
        request: { query: orderOnly(toSupportedQuery(memberKind, query)), namespace: '', groupDomain },
        visible: undefined,
        form: formOf(platformForm, cluster),
      },
    }
  }
  return async cluster => {
    try {
      return await (cluster === hostCluster ? readHost() : readMember(cluster))
    } catch (error) {
      return { cluster, rejection: toStatus(error) }
    }
  }
}

/** @throws Status 503 for a body that lacks objects, or is not a platform list */
function toCounted(list: unknown, limit: number) {
  const { items, totalItems: total } = isRecord(list) ? list : {}
  const isCount = typeof total === 'number' && Number.isSafeInteger(total)
  if (!Array.isArray(items) || !isCount || total < items.length || items.length < Math.min(total, limit))
    throw unavailable('the response is not a platform list')
  const page = items.slice(0, limit)
  if (!page.every(hasName)) throw unavailable('the response is not a platform list')
  return { items: page, total }
}

/** Returns whether namespace and name can be segments of a path, such as that of selfLink. */
function hasName(item: unknown): boolean {
  const { name, namespace = '' } = fieldsOf(fieldsOf(item).metadata)
  const texts = [name, namespace]
  return name !== '' && texts.every(text => typeof text === 'string' && !/[/%]|^\.{1,2}$/.test(text))
}

/** The group and version of an API, which become segments of a path. */
const apiVersionForm = /^(?:([a-z0-9][-.a-z0-9]*)\/)?([a-z0-9]+)$/

/**
 * Returns a kind that this cluster does not serve, as an object of the member describes it. All
 * objects of a list have the same kind.
 *
 * @throws Status 503 for an object without kind and apiVersion
 */
function toMemberKind(plural: string, object: unknown): Kind {
  const { kind, apiVersion, metadata } = fieldsOf(object)
  const [, group = '', version = ''] = apiVersionForm.exec(textOf(apiVersion)) ?? []
  if (object !== undefined && (version === '' || textOf(kind) === ''))
    throw unavailable('the response is not a platform list')
  return {
    ...plain,
    ...{ plural, singular: '', kind: textOf(kind), shortNames: [], categories: [], columns: [] },
    namespaced: textOf(fieldsOf(metadata).namespace) !== '',
    source: { group, version, path: '' },
  }
}

function orderOnly({ sortBy, ascending }: ListQuery): ListQuery {
  const order = new URLSearchParams({ sortBy, ascending: String(ascending) })
  return parseListQuery(new QueryParameters(order.toString()))
}

/** Returns a form with an annotation that names the cluster of each object. */
function markedForm(form: Form, key: string, cluster: string): Form {
  return {
    name: `${form.name} of cluster ${cluster}`,
    isComputed: true,
    toParts(entry) {
      const annotations = { ...entry.decoration.annotations, [key]: cluster }
      return form.toParts(entry.decorated({ ...entry.decoration, annotations }))
    },
  }
}
