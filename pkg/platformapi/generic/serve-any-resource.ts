import { unknownResource } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { readCollection } from '../read/read-collection.ts'
import type { ReadTools } from '../read/read-tools.ts'

export type AnyOptions = ReadTools & {
  /** Returns the store of a resource; undefined if kube-apiserver does not serve it. */
  readonly storeOf: (group: string, version: string, plural: string) => Promise<ObjectStore | undefined>
  /** Returns which API to use in place of a group that Kapis does not serve. */
  readonly describeOutOfScope: (group: string) => string | undefined
  /** Proxies a request to the path of kube-apiserver, as the caller. */
  readonly forward: Handler
}

/**
 * Serves `/kapis/{group}/{version}/[namespaces/{namespace}/]{plural}[/{name}]` (and
 * /kapi/{version}/… for the core group): any resource of kube-apiserver, including custom
 * resources. Reads come from the cache with the list parameters of the platform, as `<Kind>List`;
 * writes and subresources are proxied to kube-apiserver.
 *
 * @throws Status 400, 404 for an unknown resource, 503
 */
export async function serveAny(options: AnyOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { info } = exchange
  const store = await options.storeOf(info.group, info.version, info.resource)
  if (store === undefined) {
    const sentence = options.describeOutOfScope(info.group)
    const isNotServed = `resource ${JSON.stringify(info.resource)} is not served in ${info.group}/${info.version}`
    throw unknownResource(sentence === undefined ? isNotServed : `${isNotServed}: ${sentence}`)
  }
  const isRead = info.verb === 'get' || info.verb === 'list' || info.verb === 'watch'
  if (!isRead || info.subresource !== '') return options.forward(exchange)
  return readCollection(store, options, exchange, { list: 'kind' })
}

/** Returns the request with the path that the resource has at kube-apiserver. */
export function toNativePath(exchange: AuthenticatedExchange): AuthenticatedExchange {
  const { info, rawPath } = exchange
  const belowPrefix = rawPath.slice(rawPath.indexOf('/', 1))
  return { ...exchange, rawPath: (info.group === '' ? '/api' : '/apis') + belowPrefix }
}
