import { methodNotAllowed, unknownResource } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isInScope, type RequestInfo } from '../../apirequest/request-info.ts'
import type { Visible } from '../../resourcecache/list/object-visibility.ts'
import type { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { Collection } from '../../resourcecache/store/store.ts'
import type { WatchHub } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { SharedTurns } from '../../scheduling/time-slices.ts'
import { readList } from './read-list.ts'
import { readObject } from './read-object.ts'
import { readWatch } from './read-watch.ts'
import { checkTimeout } from './timeout.ts'

export type ReadOptions = {
  /**
   * Returns the store of a plural; undefined if it is not served. It returns synchronously for
   * kinds that are always cached.
   *
   * @throws Status 503 while the cache is stale
   */
  readonly collectionOf: (plural: string) => Collection | undefined | Promise<Collection | undefined>
  /**
   * Returns the objects that the caller may see, undefined for all; called for kinds with
   * restricted visibility.
   */
  readonly visible: (info: RequestInfo, identity: Identity) => Promise<Visible | undefined> | undefined
  readonly hub: WatchHub
  readonly pages: PageCache
  /** Time slices shared by all long work for lists. */
  readonly turns: SharedTurns
}

/**
 * Serves get, list and watch of the extension API from serialized objects in the cache.
 *
 * @throws Status of kube-apiserver: 400, 404, 405, 406, 410, 422, 503, 504
 */
export function serveRead(options: ReadOptions, exchange: AuthenticatedExchange): Promise<void> | void {
  const found = options.collectionOf(exchange.info.resource)
  return found instanceof Promise
    ? found.then(collection => read(options, exchange, collection))
    : read(options, exchange, found)
}

function read(
  options: ReadOptions,
  exchange: AuthenticatedExchange,
  collection: Collection | undefined,
): Promise<void> | void {
  const { req, info, identity } = exchange
  if (collection === undefined || info.subresource !== '' || !isInScope(info, collection.served.kind))
    throw unknownResource()
  if (req.method !== 'GET') throw methodNotAllowed(['GET'])
  const narrowed = options.visible(info, identity)
  if (narrowed === undefined) return readAs(options, exchange, collection)
  return narrowed.then(seen => readAs(options, exchange, collection, seen))
}

function readAs(
  { hub, pages, turns }: ReadOptions,
  exchange: AuthenticatedExchange,
  collection: Collection,
  visible?: Visible,
): Promise<void> | void {
  const { verb } = exchange.info
  // A watch has timeoutSeconds.
  if (verb !== 'watch') checkTimeout(exchange.query)
  if (verb === 'watch') return readWatch(collection, hub, exchange, visible)
  if (verb === 'get') return readObject(collection, pages, exchange, visible)
  // `/proxy/nodes/x` was authorized as another verb: it must not return a list.
  if (verb !== 'list') throw unknownResource()
  return readList(collection, { pages, turns: turns.of(exchange.identity.username) }, exchange, visible)
}
