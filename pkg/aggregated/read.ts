import type { AuthenticatedExchange } from '../request/exchange.ts'
import { acceptsGzip, collect, send, sendChunks } from '../request/respond.ts'
import { aggregatedForm, gzipPieces, isWorthGzip, objectBytes, plainChunks } from '../resources/body.ts'
import type { Collection } from '../resources/collection.ts'
import { joinGzip } from '../resources/gzip.ts'
import { entriesOf } from '../resources/leaf.ts'
import { badRequest, methodNotAllowed, notFound, unknownResource } from '../status/status.ts'
import { type ListRepresentation, negotiateList, negotiateObject, negotiateWatch } from './accept.ts'
import { contentType, reencode, reencodeList, toEncoding } from './encoding.ts'
import { waitForVersion } from './freshness.ts'
import { type ListResult, listObjects } from './list.ts'
import { parseListOptions } from './list-options.ts'
import { parseIncludeObject, tableHead, tableRows, toPartial } from './table.ts'
import { serveWatch } from './watch.ts'
import { createEncoder, type Shape } from './watch-encoder.ts'
import type { WatchHub } from './watch-hub.ts'

export type ReadOptions = {
  /** The collection of a plural, undefined when it is not served. @throws Status 503 while it cannot be trusted */
  readonly collectionOf: (plural: string) => Collection | undefined
  readonly hub: WatchHub
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
  if (info.verb === 'watch') return watch(collection, options.hub, exchange)
  if (info.verb === 'get') return get(collection, exchange)
  return list(collection, exchange)
}

async function get(collection: Collection, exchange: AuthenticatedExchange): Promise<void> {
  const { req, res, query, info } = exchange
  const wanted = negotiateObject(req.headers.accept)
  if (query.get('export') !== null)
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  // The same reading of the version as a list's, without its other options.
  const version = new URLSearchParams({ resourceVersion: query.get('resourceVersion') ?? '' })
  await waitForVersion(collection, parseListOptions(version, 'list', '').resourceVersion)
  const entry = collection.get(info.namespace, info.name)
  if (entry === undefined) throw notFound({ group: info.group, resource: info.resource }, info.name)
  const encoding = toEncoding(wanted.media, req, query)
  const headers = { 'content-type': contentType(encoding) }
  if (wanted.as === 'object') {
    const json = objectBytes(entry, aggregatedForm)
    return send(res, 200, encoding === 'json' ? json : reencode(json, encoding), headers)
  }
  if (wanted.as === 'partial')
    return send(res, 200, reencode(toPartial(entry, wanted.version), encoding), headers)
  const rowOptions = { version: wanted.version, includeObject: parseIncludeObject(query), nowMs: Date.now() }
  const selection = {
    runs: [{ leaf: { entries: [entry], made: new Map() }, start: 0, end: 1 }],
    descending: false,
  }
  const head = tableHead(collection.served.kind, wanted.version, {
    resourceVersion: entry.meta.resourceVersion,
  })
  const rows = [...tableRows(selection, rowOptions)]
  send(
    res,
    200,
    reencode(`${JSON.stringify(head).slice(0, -1)},"rows":[${rows.join(',')}]}`, encoding),
    headers,
  )
}

async function list(collection: Collection, exchange: AuthenticatedExchange): Promise<void> {
  const { req, query } = exchange
  const wanted = negotiateList(req.headers.accept)
  const options = parseListOptions(query, 'list', '')
  const includeObject = wanted.as === 'table' ? parseIncludeObject(query) : 'Metadata'
  const result = await listObjects(collection, options, selectorKey(query))
  const encoding = toEncoding(wanted.media, req, query)
  if (wanted.as === 'object' && encoding === 'json') return sendObjects(collection, result, exchange)

  const { head, itemsKey, items } = parts(collection, result, wanted, includeObject)
  const headers = { 'content-type': contentType(encoding) }
  const chunks =
    encoding === 'json' ? joinItems(head, itemsKey, items) : reencodeList(head, itemsKey, items, encoding)
  await sendChunks(exchange.res, chunks, headers)
}

/** The hot path: the list as stored bytes, compressed ones where the client takes them. */
async function sendObjects(collection: Collection, result: ListResult, { req, res }: AuthenticatedExchange) {
  const { kind, group, version } = collection.served
  const head = JSON.stringify({
    kind: `${kind.kind}List`,
    apiVersion: `${group}/${version}`,
    metadata: result.metadata,
  })
  const frame = { before: `${head.slice(0, -1)},"items":[`, after: ']}\n' }
  const headers = { 'content-type': 'application/json', vary: 'Accept-Encoding' }
  const { selection } = result
  if (acceptsGzip(req) && isWorthGzip(selection, aggregatedForm)) {
    const pieces = await collect(gzipPieces(selection, aggregatedForm, frame))
    return sendChunks(res, joinGzip(pieces), { ...headers, 'content-encoding': 'gzip' })
  }
  if (selection.runs.length <= 1) {
    return send(res, 200, Buffer.concat([...plainChunks(selection, aggregatedForm, frame)]), headers)
  }
  await sendChunks(res, plainChunks(selection, aggregatedForm, frame), headers)
}

function parts(
  collection: Collection,
  result: ListResult,
  wanted: ListRepresentation,
  includeObject: ReturnType<typeof parseIncludeObject>,
) {
  const { kind, group, version } = collection.served
  const { metadata, selection } = result
  if (wanted.as === 'table') {
    const head = tableHead(kind, wanted.version, metadata)
    const rowOptions = { version: wanted.version, includeObject, nowMs: Date.now() }
    return { head, itemsKey: 'rows' as const, items: tableRows(selection, rowOptions) }
  }
  if (wanted.as === 'partialList') {
    const head = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${wanted.version}`, metadata }
    const items = entriesOf(selection).map(entry => toPartial(entry, wanted.version))
    return { head, itemsKey: 'items' as const, items }
  }
  const head = { kind: `${kind.kind}List`, apiVersion: `${group}/${version}`, metadata }
  const items = entriesOf(selection).map(entry => objectBytes(entry, aggregatedForm))
  return { head, itemsKey: 'items' as const, items }
}

/** Joins items into pieces of a size that is worth a write. */
function* joinItems(head: object, itemsKey: string, items: Iterable<Buffer | string>): Generator<Buffer> {
  let text = `${JSON.stringify(head).slice(0, -1)},"${itemsKey}":[`
  let separator = ''
  for (const item of items) {
    text += separator + item
    separator = ','
    if (text.length > 64 * 1024) {
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(`${text}]}\n`)
}

async function watch(collection: Collection, hub: WatchHub, exchange: AuthenticatedExchange): Promise<void> {
  const { req, res, query, info } = exchange
  const wanted = negotiateWatch(req.headers.accept)
  const named = info.parts.length === 2 ? info.name : ''
  const options = parseListOptions(query, 'watch', named)
  const shape: Shape =
    wanted.as === 'table'
      ? { as: 'table', version: wanted.version, includeObject: parseIncludeObject(query) }
      : wanted.as === 'partial'
        ? { as: 'partial', version: wanted.version }
        : { as: 'object' }
  await serveWatch(collection, hub, {
    options,
    encoder: createEncoder(collection.served, shape),
    channelKey: `${JSON.stringify(shape)} ${named} ${selectorKey(query)}`,
    contentType: wanted.contentType,
    res,
  })
}

function selectorKey(query: URLSearchParams): string {
  return JSON.stringify([query.get('labelSelector') ?? '', query.get('fieldSelector') ?? ''])
}
