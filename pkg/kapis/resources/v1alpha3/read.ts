import type { AuthenticatedExchange } from '../../../request/exchange.ts'
import { parseListQuery } from '../../../request/list-query.ts'
import { acceptsGzip, collect, send, sendChunks } from '../../../request/respond.ts'
import { gzipPieces, isWorthGzip, plainChunks, platformForm } from '../../../resources/body.ts'
import type { Collection } from '../../../resources/collection.ts'
import { joinGzip } from '../../../resources/gzip.ts'
import { listPage, type Page } from '../../../resources/list.ts'
import { managedFieldsForm } from '../../../resources/managed-fields.ts'
import type { PageCache } from '../../../resources/page-cache.ts'
import { badRequest, methodNotAllowed, notFound, unknownResource } from '../../../status/status.ts'

export type ReadOptions = {
  readonly groupDomain: string
  readonly pages: PageCache
  /** The collection of a plural, undefined when it is not served. @throws Status 503 while it cannot be trusted */
  readonly collectionOf: (plural: string) => Collection | undefined
}

/**
 * `GET /kapis/resources.<group domain>/v1alpha3/[namespaces/{namespace}/]{resources}[/{name}]`: a page as
 * `{items, totalItems}`, or one object, with selfLink and computed annotations.
 *
 * @throws Status 400 naming the parameter, 404 for the resource or the object, 405, 503
 */
export async function serveResources(options: ReadOptions, exchange: AuthenticatedExchange): Promise<void> {
  const { req, info } = exchange
  const collection = options.collectionOf(info.resource)
  if (collection === undefined)
    throw unknownResource(`resource ${JSON.stringify(info.resource)} is not supported`)
  if (info.namespace !== '' && !collection.served.kind.namespaced) {
    throw unknownResource(`resource ${JSON.stringify(info.resource)} is not namespaced`)
  }
  if (info.subresource !== '') throw unknownResource()
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  // `/watch/nodes` and `/proxy/nodes/x` were authorized as another verb: a list or an object is another right.
  if (info.verb !== 'get' && info.verb !== 'list') throw badRequest(`${info.verb} is not supported here`)
  const isNamed = info.parts.length === (info.namespace === '' ? 2 : 4)
  if (isNamed) return getObject(collection, options.pages, exchange)
  await listObjects(collection, options, exchange)
}

function getObject(
  collection: Collection,
  pages: PageCache,
  { res, info, query }: AuthenticatedExchange,
): void {
  const entry = collection.get(info.namespace, info.name)
  const { group } = collection.served.kind.source
  if (entry === undefined) throw notFound({ group, resource: info.resource }, info.name)
  const form = parseListQuery(query).managedFields ? managedFieldsForm : platformForm
  send(res, 200, pages.object(entry, form), { 'content-type': 'application/json' })
}

async function listObjects(collection: Collection, options: ReadOptions, exchange: AuthenticatedExchange) {
  const { req, res, info } = exchange
  const query = parseListQuery(exchange.query)
  const page = listPage(collection, { query, namespace: info.namespace, groupDomain: options.groupDomain })
  const form = query.managedFields ? managedFieldsForm : platformForm
  const frame = toFrame(page)
  const headers = { 'content-type': 'application/json', vary: 'Accept-Encoding' }
  if (acceptsGzip(req) && isWorthGzip(page.selection, form)) {
    const pieces = await collect(gzipPieces(page.selection, form, frame))
    return sendChunks(res, joinGzip(pieces), { ...headers, 'content-encoding': 'gzip' })
  }
  const joined = options.pages.page(page.selection, form, frame)
  if (joined) return send(res, 200, joined, headers)
  await sendChunks(res, plainChunks(page.selection, form, frame), headers)
}

function toFrame({ total }: Page) {
  return { before: '{"items":[', after: `],"totalItems":${total}}\n` }
}
