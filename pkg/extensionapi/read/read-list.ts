import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { sendChunks } from '../../httpserver/response/respond.ts'
import { aggregatedForm, objectBytes } from '../../resourcecache/list/list-body.ts'
import { type ObjectVisibility, whileVisible } from '../../resourcecache/list/object-visibility.ts'
import type { PageCache } from '../../resourcecache/list/page-cache.ts'
import { sendList } from '../../resourcecache/list/send-list.ts'
import { entriesOf } from '../../resourcecache/store/chunk.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { type NegotiatedMediaType, negotiate } from './accept.ts'
import { contentType, reencodeList, toEncoding } from './encoding.ts'
import { type ListResult, listObjects } from './list.ts'
import { parseListOptions, toSelectorKey } from './list-options.ts'
import { parseIncludeObject, tableHead, tableRows, toPartial } from './table.ts'

type ListTools = { readonly pages: PageCache; readonly timeSlices: TimeSlices }

/** Serves a list or page: as objects, Table or metadata. @throws Status 400, 406, 410, 422, 504 */
export async function readList(
  store: ObjectStore,
  { pages, timeSlices }: ListTools,
  exchange: AuthenticatedExchange,
  visible?: ObjectVisibility,
): Promise<void> {
  const { req, query, info } = exchange
  const namespace = info.isInNamespace ? info.namespace : ''
  const accepted = negotiate(req.headers.accept, 'list')
  const options = parseListOptions(query, 'list', info, namespace, store.served.kind)
  const includeObject = accepted.as === 'table' ? parseIncludeObject(query) : 'Metadata'
  const selectorKey = toSelectorKey(query, info, namespace)
  const result = await listObjects(store, options, selectorKey, { timeSlices, visible })
  const encoding = toEncoding(accepted, req, query)
  if (accepted.as === 'object' && encoding === 'json')
    return sendObjects({ store, pages, timeSlices, result, visible }, exchange)

  const { head, itemsKey, items } = parts(store, result, accepted, includeObject)
  const headers = { 'content-type': contentType(encoding) }
  const chunks =
    encoding === 'json' ? joinItems(head, itemsKey, items) : reencodeList(head, itemsKey, items, encoding)
  const { res } = exchange
  await sendChunks(
    res,
    whileVisible(visible, chunks, () => res.destroy()),
    headers,
    timeSlices,
  )
}

/** Sends the stored bytes of the objects, compressed if accepted. This is the hot path. */
async function sendObjects(
  {
    store,
    result,
    visible,
    ...tools
  }: ListTools & { store: ObjectStore; result: ListResult; visible: ObjectVisibility | undefined },
  exchange: AuthenticatedExchange,
) {
  const { kind, group, version } = store.served
  const head = JSON.stringify({
    kind: `${kind.kind}List`,
    apiVersion: `${group}/${version}`,
    metadata: result.metadata,
  })
  const frame = { before: `${head.slice(0, -1)},"items":[`, after: ']}\n' }
  await sendList(exchange, tools, { selection: result.selection, form: aggregatedForm, frame, visible })
}

function parts(
  store: ObjectStore,
  result: ListResult,
  accepted: NegotiatedMediaType,
  includeObject: ReturnType<typeof parseIncludeObject>,
) {
  const { kind, group, version } = store.served
  const { metadata, selection } = result
  if (accepted.as === 'table') {
    const head = tableHead(kind, accepted.version, metadata)
    const rowOptions = { version: accepted.version, includeObject, nowMs: Date.now() }
    return { head, itemsKey: 'rows' as const, items: tableRows(selection, rowOptions) }
  }
  if (accepted.as === 'partialList') {
    const head = {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${accepted.version}`,
      metadata,
    }
    const items = entriesOf(selection).map(entry => toPartial(entry, accepted.version))
    return { head, itemsKey: 'items' as const, items }
  }
  const head = { kind: `${kind.kind}List`, apiVersion: `${group}/${version}`, metadata }
  const items = entriesOf(selection).map(entry => objectBytes(entry, aggregatedForm))
  return { head, itemsKey: 'items' as const, items }
}

/** Joins items into chunks large enough for a write. */
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
