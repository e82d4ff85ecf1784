import { badRequest, methodNotAllowed, notFound, unknownResource } from '../../apierrors/status.ts'
import { type ListQuery, parseListQuery } from '../../apirequest/query/list-query.ts'
import { parseVersion } from '../../apirequest/query/version-query.ts'
import {
  isPageWatch,
  parseListVersion,
  parsePageWatchQuery,
  parseWatchQuery,
} from '../../apirequest/query/watch-query.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isInScope } from '../../apirequest/request-info.ts'
import { formatShardSelector } from '../../apirequest/selector/shard-selector.ts'
import { toCacheKey } from '../../cache/bounded-cache.ts'
import {
  acceptsServerSentEvents,
  type EventStream,
  toEventStream,
  toServerSentEvents,
} from '../../httpserver/response/event-stream.ts'
import { sendParts } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { waitForLatest, waitForVersion } from '../../resourcecache/informer/wait-for-resource-version.ts'
import { toSourceApiVersion } from '../../resourcecache/kind.ts'
import { createFieldsForm } from '../../resourcecache/list/field-projection.ts'
import { type ListRequest, listPage, listPageAt, type Page } from '../../resourcecache/list/list.ts'
import { type Form, platformForm } from '../../resourcecache/list/list-body.ts'
import { toListPredicate } from '../../resourcecache/list/list-predicate.ts'
import { managedFieldsForm } from '../../resourcecache/list/managed-fields-form.ts'
import { assertCurrent, readCurrent, recordVisibleFrom } from '../../resourcecache/list/object-visibility.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import { sendList } from '../../resourcecache/list/send-list.ts'
import type { ServedKind } from '../../resourcecache/store/cached-object.ts'
import type { ObjectStore, Scope } from '../../resourcecache/store/store.ts'
import { matchInSlices } from '../../resourcecache/store/time-sliced-view.ts'
import { serveWatch } from '../../resourcecache/watch/watch.ts'
import { createFormEncoder } from '../../resourcecache/watch/watch-encoder.ts'
import { ListCollector } from '../subrequests/list-collector.ts'
import { toListRequest } from './list-request.ts'
import { watchPage } from './page-watch.ts'
import type { ReadStyle, ReadTools } from './read-tools.ts'

/**
 * Serves get, list and watch of a kind under /kapis, with selfLink and computed annotations.
 *
 * @throws Status 400 that names the parameter, 404 for the object or a path below it, 405, 503
 */
export async function readCollection(
  store: ObjectStore,
  shared: ReadTools,
  exchange: AuthenticatedExchange,
  style: ReadStyle,
): Promise<void> {
  const { req, info } = exchange
  const { kind } = store.served
  // Kinds that cannot be watched have a store per request, so their pages are not cached.
  const tools = kind.isListedOnly ? { ...shared, pages: new PageCache() } : shared
  if (!isInScope(info, kind))
    throw unknownResource(
      `resource ${JSON.stringify(info.resource)} is ${kind.namespaced ? 'namespaced' : 'not namespaced'}`,
    )
  if (info.subresource !== '') throw unknownResource()
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  // The response to a watch is a stream of events, so HEAD is meaningless.
  if (info.verb === 'watch' && req.method === 'HEAD') throw methodNotAllowed(['GET'])
  if (info.verb === 'watch' && kind.isListedOnly)
    throw methodNotAllowed(
      ['GET', 'HEAD'],
      `watch is not supported for ${info.resource}: kube-apiserver only supports list`,
    )
  const read = isPageWatch(exchange) ? watchOnePage : reads.get(info.verb)
  if (read === undefined) throw badRequest(`${info.verb} is not supported here`)
  return readCurrent(style.visible ?? shared.narrowed(exchange), visible =>
    read(store, tools, exchange, { ...style, visible }),
  )
}

type ReadFunction = (
  store: ObjectStore,
  tools: ReadTools,
  exchange: AuthenticatedExchange,
  style: ReadStyle,
) => Promise<void> | void

const reads: ReadonlyMap<string, ReadFunction> = new Map<string, ReadFunction>([
  ['get', getObject],
  ['list', listObjects],
  ['watch', watch],
])

function getObject(
  store: ObjectStore,
  tools: ReadTools,
  exchange: AuthenticatedExchange,
  style: ReadStyle,
): Promise<void> | void {
  const send = () => sendObject(store, tools, exchange, style)
  const { info } = exchange
  const version = parseVersion(exchange.query)
  const namespace = info.isInNamespace ? info.namespace : ''
  if (version !== '') return waitForVersion(store, version).then(send)
  if (!tools.isConsistent(info)) return send()
  return waitForLatest(store, { namespace, name: info.name }).then(send)
}

function sendObject(
  store: ObjectStore,
  { pages }: ReadTools,
  { res, info, query: parameters }: AuthenticatedExchange,
  { visible, only, form }: ReadStyle,
): void {
  assertCurrent(visible)
  const { kind } = store.served
  const entry = store.get(info.isInNamespace ? info.namespace : '', info.name)
  // 404 too if the caller may not see the object, so as not to disclose that it exists.
  if (entry === undefined || visible?.has(entry) === false || only?.matches(entry) === false)
    throw notFound({ group: kind.source.group, resource: info.resource }, info.name)
  const query = parseListQuery(parameters)
  for (const warning of query.warnings) addWarning(res, warning)
  sendParts(res, 200, pages.object(entry, toForm(query, form)), {
    'content-type': 'application/json',
  })
}

async function listObjects(
  store: ObjectStore,
  tools: ReadTools,
  exchange: AuthenticatedExchange,
  style: ReadStyle,
): Promise<void> {
  const version = parseListVersion(exchange.query)
  const timeSlices = tools.timeSlices.of(exchange.identity.username)
  const request = await toListRequest(store, tools, exchange, style)
  if (version.resourceVersion !== '') await waitForVersion(store, version.resourceVersion)
  else if (tools.isConsistent(exchange.info)) await waitForLatest(store, scopeOf(request))
  await recordVisibleFrom(store, style.visible)
  const form = toForm(request.query, style.form)
  if (exchange.res instanceof ListCollector) {
    exchange.res.collected = { store, request, visible: style.visible, form }
    return
  }
  const isExact = version.match === 'Exact'
  const listed = isExact
    ? listPageAt(store, request, Number(version.resourceVersion), timeSlices)
    : listPage(store, request, timeSlices)
  const page = listed instanceof Promise ? await listed : listed
  assertCurrent(style.visible)
  const frames = {
    items: () => itemsFrame(page),
    array: () => ({ before: '[', after: ']\n' }),
    kind: () =>
      kindFrame(store.served, page, {
        resourceVersion: isExact ? version.resourceVersion : String(store.version),
        ...shardInfo(request.query),
      }),
  }
  const { visible } = style
  await sendList(
    exchange,
    { pages: tools.pages, timeSlices },
    { selection: page.selection, form, frame: frames[style.list](), visible },
  )
}

async function watch(
  store: ObjectStore,
  tools: ReadTools,
  exchange: AuthenticatedExchange,
  style: ReadStyle,
): Promise<void> {
  const options = parseWatchQuery(exchange.query)
  const request = await toListRequest(store, tools, exchange, style)
  const { key, matches, namespaces } = toListPredicate(store.served.kind, request)
  if (request.query.fieldSelector.text !== '' || request.query.columns.text !== '')
    await matchInSlices(
      store.entriesInNamespaces(namespaces),
      matches,
      tools.timeSlices.of(exchange.identity.username),
    )
  if (options.resourceVersion !== '') await waitForVersion(store, options.resourceVersion)
  const form = toForm(request.query, style.form)
  await serveWatch(store, tools.broadcaster, {
    options,
    matches,
    encoder: createFormEncoder(store.served, form),
    channelKey: toCacheKey(`platform ${form.name} ${key}`),
    visible: style.visible,
    isCached: !tools.isConsistent(exchange.info),
    stream: toStream(exchange),
  })
}

async function watchOnePage(
  store: ObjectStore,
  tools: ReadTools,
  exchange: AuthenticatedExchange,
  style: ReadStyle,
): Promise<void> {
  const { broadcaster } = tools
  const options = parsePageWatchQuery(exchange.query)
  const request = await toListRequest(store, tools, exchange, style)
  if (tools.isConsistent(exchange.info)) await waitForLatest(store, scopeOf(request))
  await recordVisibleFrom(store, style.visible)
  const timeSlices = tools.timeSlices.of(exchange.identity.username)
  const form = toForm(request.query, style.form)
  const stream = toStream(exchange)
  await watchPage(store, { options, request, form, visible: style.visible, timeSlices, broadcaster, stream })
}

/** Returns a stream of server-sent events for clients that accept them, or of JSON lines. */
function toStream(exchange: AuthenticatedExchange): EventStream {
  return acceptsServerSentEvents(exchange.req)
    ? toServerSentEvents(exchange)
    : toEventStream(exchange, 'application/json')
}

function scopeOf({ namespace }: ListRequest): Scope {
  return { namespace, name: '' }
}

/**
 * Returns the form of objects that `fields` or `managedFields` of a query requests.
 *
 * @throws Status 400
 */
export function toForm({ fields, managedFields }: ListQuery, form: Form = platformForm): Form {
  if (fields !== '') return createFieldsForm(fields, form)
  return managedFields && form === platformForm ? managedFieldsForm : form
}

function itemsFrame({ total }: Page) {
  return { before: '{"items":[', after: `],"totalItems":${total}}\n` }
}

function shardInfo({ shards }: ListQuery) {
  return shards.length > 0 ? { shardInfo: { selector: formatShardSelector(shards) } } : {}
}

/** Returns the JSON around the items, with the total, as the platform lists custom resources. */
function kindFrame({ kind }: ServedKind, { total, remaining }: Page, state: object) {
  const head = JSON.stringify({
    kind: `${kind.kind}List`,
    apiVersion: toSourceApiVersion(kind),
    metadata: {
      ...state,
      ...(remaining > 0 ? { remainingItemCount: remaining } : {}),
    },
  })
  return { before: `${head.slice(0, -1)},"items":[`, after: `],"totalItems":${total}}\n` }
}
