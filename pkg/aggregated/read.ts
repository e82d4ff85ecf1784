import type { AuthenticatedExchange } from '../request/exchange.ts'
import type { Collection } from '../resources/collection.ts'
import type { PageCache } from '../resources/page-cache.ts'
import type { WatchHub } from '../resources/watch-hub.ts'
import { methodNotAllowed, unknownResource } from '../status/status.ts'
import { readList } from './read-list.ts'
import { readObject } from './read-object.ts'
import { readWatch } from './read-watch.ts'

export type ReadOptions = {
  /** The collection of a plural, undefined when it is not served. @throws Status 503 while it cannot be trusted */
  readonly collectionOf: (plural: string) => Collection | undefined
  readonly hub: WatchHub
  readonly pages: PageCache
}

/**
 * Answers get, list and watch of the aggregated API, from what the cache has serialized already.
 *
 * @throws Status as kube-apiserver answers: 400, 404, 405, 406, 410, 422, 503, 504
 */
export async function serveRead(options: ReadOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { req, info } = exchange
  const collection = options.collectionOf(info.resource)
  if (collection === undefined || info.subresource !== '' || info.parts.length > 2) throw unknownResource()
  if (collection.served.kind.namespaced === false && info.namespace !== '') throw unknownResource()
  if (req.method !== 'GET') throw methodNotAllowed(['GET'])
  if (info.verb === 'watch') return readWatch(collection, options.hub, exchange)
  if (info.verb === 'get') return readObject(collection, options.pages, exchange)
  // `/proxy/nodes/x` was authorized as another verb: it must not be answered with a list.
  if (info.verb !== 'list') throw unknownResource()
  return readList(collection, options.pages, exchange)
}
