import { badRequest, notFound } from '../../apierrors/status.ts'
import { parseVersion } from '../../apirequest/query/version-query.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { send, sendParts } from '../../httpserver/response/respond.ts'
import { waitForLatest, waitForVersion } from '../../resourcecache/informer/wait-for-resource-version.ts'
import { aggregatedForm } from '../../resourcecache/list/list-body.ts'
import { assertCurrent, type ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { type NegotiatedMediaType, negotiate } from './accept.ts'
import { contentType, reencode, toEncoding } from './encoding.ts'
import { parseIncludeObject, tableOfObject, toPartial } from './table.ts'

/** Serves a get: as the object, a Table or metadata. @throws Status 400, 404, 406, 504 */
export async function readObject(
  store: ObjectStore,
  pages: PageCache,
  exchange: AuthenticatedExchange,
  visible?: ObjectVisibility,
): Promise<void> {
  const { req, query, info } = exchange
  const accepted = negotiate(req.headers.accept, 'object')
  if (query.get('export') !== null)
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  const resourceVersion = parseVersion(query)
  const namespace = info.isInNamespace ? info.namespace : ''
  if (resourceVersion === '') await waitForLatest(store, { namespace, name: info.name })
  else await waitForVersion(store, resourceVersion)
  assertCurrent(visible)
  sendObject({ store, pages, accepted, visible }, exchange)
}

type ObjectRead = {
  readonly store: ObjectStore
  readonly pages: PageCache
  readonly accepted: NegotiatedMediaType
  readonly visible: ObjectVisibility | undefined
}

function sendObject(
  { store, pages, accepted, visible }: ObjectRead,
  { req, res, query, info }: AuthenticatedExchange,
): void {
  const entry = store.get(info.isInNamespace ? info.namespace : '', info.name)
  // 404 too if the caller may not see the object, so as not to disclose that it exists.
  if (entry === undefined || visible?.has(entry) === false)
    throw notFound({ group: info.group, resource: info.resource }, info.name)
  const encoding = toEncoding(accepted, req, query)
  const headers = { 'content-type': contentType(encoding) }
  if (accepted.as === 'object') {
    const parts = pages.object(entry, aggregatedForm)
    if (encoding === 'json') sendParts(res, 200, parts, headers)
    else send(res, 200, reencode(Buffer.concat(parts), encoding), headers)
  } else if (accepted.as === 'partial') {
    send(res, 200, reencode(toPartial(entry, accepted.version), encoding), headers)
  } else {
    const row = { version: accepted.version, includeObject: parseIncludeObject(query), nowMs: Date.now() }
    send(res, 200, reencode(tableOfObject(entry, row), encoding), headers)
  }
}
