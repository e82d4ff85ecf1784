import { unknownResource } from '../../../apierrors/status.ts'
import type { Identity } from '../../../apirequest/identity/identity.ts'
import type { ListQuery } from '../../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import type { RequestInfo } from '../../../apirequest/request-info.ts'
import type { RequirePermission } from '../../../authz/authorizer.ts'
import type { ObjectVisibility } from '../../../resourcecache/list/object-visibility.ts'
import type { ObjectStore } from '../../../resourcecache/store/store.ts'
import { type ComponentTools, isForComponents, serveComponents } from '../../components/serve.ts'
import { podsOfService } from '../../read/pods-of-service.ts'
import { readCollection } from '../../read/read-collection.ts'
import type { ReadTools } from '../../read/read-tools.ts'
import { isForRegistries, type RegistryTools, serveRegistries } from '../../registries/serve.ts'

export type ReadOptions = ReadTools & {
  readonly components: ComponentTools
  readonly registries: RegistryTools
  /**
   * Returns the store of a kind in this group, undefined for any other plural. Synchronous for
   * kinds that are always cached.
   *
   * @throws Status 503 while the cache is stale
   */
  readonly storeOf: (plural: string) => ObjectStore | undefined | Promise<ObjectStore | undefined>
  /** Returns the store of the authorized kind. @throws Status 503 while the cache is stale */
  readonly nativeCollectionOf: (exchange: AuthenticatedExchange) => Promise<ObjectStore> | undefined
  /** Returns the store of Services for a read. @throws Status 503 */
  readonly services: (info: RequestInfo) => Promise<ObjectStore>
  readonly requirePermission: RequirePermission
  /**
   * Returns the objects that the caller may see, undefined for all. Called for kinds whose objects
   * are visible to some callers only.
   */
  readonly visible: (
    info: RequestInfo,
    identity: Identity,
  ) => Promise<ObjectVisibility | undefined> | undefined
}

/**
 * Serves `GET /kapis/resources.<group
 * domain>/v1alpha3/[namespaces/{namespace}/]{resources}[/{name}]`: a page as `{items, totalItems}`,
 * one object, or with `watch=true` watch events.
 *
 * @throws Status 400 that names the parameter, 404 for an unknown resource or object, 405, 503
 */
export async function serveResources(options: ReadOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { info } = exchange
  // These paths come first: no resource with the same name may replace them.
  if (isForComponents(info.resource)) return serveComponents(options.components, exchange)
  if (isForRegistries(info.resource)) return serveRegistries(options.registries, exchange)
  const found = options.storeOf(info.resource) ?? options.nativeCollectionOf(exchange)
  const store = found instanceof Promise ? await found : found
  if (store === undefined) throw unknownResource(`resource ${JSON.stringify(info.resource)} is not supported`)

  function narrow(query: ListQuery) {
    const serviceName = query.filters.get('serviceName')
    if (info.resource !== 'pods' || serviceName === undefined) return undefined
    return podsBehind(query, serviceName)
  }
  /** Restricts pods to those of a Service, whose selector the caller must be allowed to read. */
  async function podsBehind(query: ListQuery, serviceName: string) {
    const { namespace } = info
    const permission = { verb: 'get', group: '', resource: 'services', namespace, name: serviceName }
    await options.requirePermission(exchange.identity, permission)
    return podsOfService(await options.services(info), query, namespace)
  }
  const narrowed = options.visible(info, exchange.identity)
  const visible = narrowed && (await narrowed)
  return readCollection(store, options, exchange, { list: 'items', narrow, visible })
}
