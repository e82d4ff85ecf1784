import { methodNotAllowed, unknownResource } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isInScope, type RequestInfo } from '../../apirequest/request-info.ts'
import { type ObjectVisibility, readCurrent } from '../../resourcecache/list/object-visibility.ts'
import type { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { UserTimeSlices } from '../../scheduling/time-slices.ts'
import { readList } from './read-list.ts'
import { readObject } from './read-object.ts'
import { readWatch } from './read-watch.ts'
import { checkTimeout } from './timeout.ts'

export type ReadOptions = {
  /**
   * Returns the store of a plural; undefined if the resource is not served. Synchronous for kinds
   * that are always cached.
   *
   * @throws Status 503 while the cache is stale
   */
  readonly storeOf: (plural: string) => ObjectStore | undefined | Promise<ObjectStore | undefined>
  /**
   * Returns the objects that the caller may see, undefined for all. Called for kinds whose objects
   * are visible to some callers only.
   */
  readonly visible: (
    info: RequestInfo,
    identity: Identity,
  ) => Promise<ObjectVisibility | undefined> | undefined
  /** Returns the objects that the caller of a narrowed list may see; otherwise undefined. */
  readonly narrowed: (exchange: AuthenticatedExchange) => ObjectVisibility | undefined
  readonly broadcaster: WatchBroadcaster
  readonly pages: PageCache
  /** Time slices for all long-running work on lists. */
  readonly timeSlices: UserTimeSlices
}

/**
 * Serves get, list and watch of the extension API from serialized objects in the cache.
 *
 * @throws Status of kube-apiserver: 400, 404, 405, 406, 410, 422, 503, 504
 */
export function serveRead(options: ReadOptions, exchange: AuthenticatedExchange): Promise<void> | void {
  const found = options.storeOf(exchange.info.resource)
  return found instanceof Promise
    ? found.then(store => read(options, exchange, store))
    : read(options, exchange, found)
}

function read(
  options: ReadOptions,
  exchange: AuthenticatedExchange,
  store: ObjectStore | undefined,
): Promise<void> | void {
  const { req, info, identity } = exchange
  if (store === undefined || info.subresource !== '' || !isInScope(info, store.served.kind))
    throw unknownResource()
  if (req.method !== 'GET') throw methodNotAllowed(['GET'])
  const found = options.visible(info, identity) ?? options.narrowed(exchange)
  if (found === undefined) return readAs(options, exchange, store)
  const show = (visible: ObjectVisibility | undefined) => readAs(options, exchange, store, visible)
  return found instanceof Promise
    ? found.then(visible => readCurrent(visible, show))
    : readCurrent(found, show)
}

function readAs(
  { broadcaster, pages, timeSlices }: ReadOptions,
  exchange: AuthenticatedExchange,
  store: ObjectStore,
  visible?: ObjectVisibility,
): Promise<void> | void {
  const { verb } = exchange.info
  // Watches use timeoutSeconds; the parameter `timeout` applies to all other reads.
  if (verb !== 'watch') checkTimeout(exchange.query)
  if (verb === 'watch') return readWatch(store, broadcaster, exchange, visible)
  if (verb === 'get') return readObject(store, pages, exchange, visible)
  // `/proxy/nodes/x` was authorized with another verb, so it must not return a list.
  if (verb !== 'list') throw unknownResource()
  return readList(store, { pages, timeSlices: timeSlices.of(exchange.identity.username) }, exchange, visible)
}
