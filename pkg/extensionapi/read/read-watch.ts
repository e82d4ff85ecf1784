import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { toCacheKey } from '../../cache/bounded-cache.ts'
import { toEventStream } from '../../httpserver/response/event-stream.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { serveWatch } from '../../resourcecache/watch/watch.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { type NegotiatedMediaType, negotiate } from './accept.ts'
import { matchesOptions, parseListOptions, toSelectorKey } from './list-options.ts'
import { parseIncludeObject } from './table.ts'
import { createEncoder, type Shape } from './table-watch-encoder.ts'

/** Serves a watch of a kind, or of the one object in the path. @throws Status 400, 406, 422, 504 */
export async function readWatch(
  store: ObjectStore,
  broadcaster: WatchBroadcaster,
  exchange: AuthenticatedExchange,
  visible?: ObjectVisibility,
): Promise<void> {
  const { req, query, info } = exchange
  const namespace = info.isInNamespace ? info.namespace : ''
  const shape = toShape(negotiate(req.headers.accept, 'watch'), query)
  const options = parseListOptions(query, 'watch', info, namespace, store.served.kind)
  await serveWatch(store, broadcaster, {
    options,
    matches: matchesOptions(options),
    encoder: createEncoder(store.served, shape),
    channelKey: toCacheKey(`${JSON.stringify(shape)} ${toSelectorKey(query, info, namespace)}`),
    visible,
    stream: toEventStream(exchange, 'application/json'),
  })
}

function toShape({ as, version }: NegotiatedMediaType, query: QueryParameters): Shape {
  if (as === 'table') return { as, version, includeObject: parseIncludeObject(query) }
  return as === 'partial' ? { as, version } : { as: 'object' }
}
