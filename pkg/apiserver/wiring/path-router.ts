import { isOwnDocument } from '../../apidocs/documents.ts'
import { badRequest, unavailable, unknownResource } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Exchange, Handler } from '../../apirequest/request-context.ts'
import { hasVerbPrefix, isPlatformPrefix } from '../../apirequest/request-info.ts'
import { send, sendJson } from '../../httpserver/response/respond.ts'
import type { Registry } from '../../telemetry/metrics.ts'

export type DocumentRoute = {
  readonly handles: (path: string) => boolean
  readonly handle: Handler<Exchange>
}

export type RouterOptions = {
  /** `resources.<group domain>`. */
  readonly group: string
  readonly version: string
  readonly aggregated: Handler
  /** The handlers under /kapis, by `<group>/<version>`. */
  readonly platform: ReadonlyMap<string, Handler>
  /** Returns the handler of another component for a group and version under /kapis. */
  readonly componentApi: (group: string, version: string) => Handler | undefined
  /** Handles any other resource under /kapis. */
  readonly generic: Handler
  /** Discovery and OpenAPI documents, each with the paths that it handles. */
  readonly documents: readonly DocumentRoute[]
  /** Documents for direct callers of kapis-apiserver, which kube-apiserver does not get. */
  readonly ownDocuments: readonly DocumentRoute[]
  /** Proxies all requests for APIs of kube-apiserver itself, as their caller. */
  readonly proxy: Handler
  readonly registry: Registry
  readonly versionInfo: object
  /** The handlers that restrict a narrowed list to the objects that its caller may see. */
  readonly narrowing: ReadonlySet<Handler>
  /** Returns whether a request was authorized as a narrowed list. */
  readonly isNarrowed: (exchange: AuthenticatedExchange) => boolean
}

export type Router = {
  readonly route: Handler
  /** Returns whether kube-apiserver serves a request. */
  readonly isProxied: (exchange: AuthenticatedExchange) => boolean
  /** Returns whether the handler of a request restricts a narrowed list. */
  readonly narrows: (exchange: AuthenticatedExchange) => boolean
}

/** Routes an authorized request. Reads of resources, the hot path, are checked first. */
export function createRouter(options: RouterOptions): Router {
  const isDelegated = (exchange: AuthenticatedExchange) => isForProxy(options, exchange)
  const rest = (exchange: AuthenticatedExchange) =>
    isDelegated(exchange) ? options.proxy(exchange) : routeDocument(options, exchange)
  /** Returns the handler of a resource of Kapis or a component; otherwise undefined. */
  function handlerOf({ info }: AuthenticatedExchange): Handler | undefined {
    const { group, version } = info
    if (!info.isResource) return undefined
    if (isPlatformPrefix(info.prefix))
      return (
        options.platform.get(`${group}/${version}`) ?? options.componentApi(group, version) ?? options.generic
      )
    const isOwn = info.prefix === 'apis' && group === options.group && version === options.version
    return isOwn ? options.aggregated : undefined
  }
  const narrows = (exchange: AuthenticatedExchange) => {
    const handler = handlerOf(exchange)
    return handler !== undefined && options.narrowing.has(handler)
  }
  function route(exchange: AuthenticatedExchange): void | Promise<void> {
    const { info } = exchange
    const handler = handlerOf(exchange)
    // The handler may have changed since the authorization, because a component was registered.
    if (options.isNarrowed(exchange) && !narrows(exchange))
      throw unavailable('the API has just changed; retry')
    if (handler === undefined) return rest(exchange)
    const isPlatformApi =
      isPlatformPrefix(info.prefix) && options.platform.has(`${info.group}/${info.version}`)
    // LogsQL is exempt: its parameters may be repeated, and those of a form are added.
    const isLogsql = info.resource === 'select' && info.group.startsWith('logging.')
    if (handler === options.aggregated || (isPlatformApi && !isLogsql)) exchange.query.rejectAmbiguous()
    if (isPlatformApi && hasVerbPrefix(info) && info.verb !== 'watch')
      throw badRequest(`${info.verb} is not supported below ${info.parts[0]}`)
    return handler(exchange)
  }
  return { route, isProxied: isDelegated, narrows }
}

/** Handles all other paths: discovery, OpenAPI, operations, and unknown paths. */
function routeDocument(options: RouterOptions, exchange: AuthenticatedExchange): void | Promise<void> {
  const { res, info } = exchange
  const { path, prefix } = info
  const document = documentsFor(options, exchange).find(({ handles }) => handles(path))
  if (document) return document.handle(exchange)
  if (path === '/version' && info.verb === 'get') return sendJson(res, 200, options.versionInfo)
  if (path === metricsPath && info.verb === 'get') return sendMetrics(options.registry, exchange)
  const component = isPlatformPrefix(prefix) ? options.componentApi(...groupOf(path)) : undefined
  if (component) return component(exchange)
  if (info.isResource || isPlatformPrefix(prefix)) throw unknownResource()
  const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  send(res, 404, Buffer.from('404 page not found\n'), plainText)
}

const metricsPath = '/metrics'

function documentsFor(
  options: RouterOptions,
  { isAggregated }: AuthenticatedExchange,
): readonly DocumentRoute[] {
  return isAggregated ? options.documents : [...options.ownDocuments, ...options.documents]
}

/**
 * Returns whether kube-apiserver serves a request. It serves all of /api and /apis, except for the
 * group of the extension API and the discovery documents of all groups. It also serves every path
 * that Kapis does not have, such as `/`, `/version/` and `/openid/v1/jwks`. Requests from
 * kube-apiserver itself get the discovery documents of this server.
 */
function isForProxy(options: RouterOptions, exchange: AuthenticatedExchange): boolean {
  const { info, isAggregated } = exchange
  if (isAggregated) return false
  const { path, prefix } = info
  if (prefix === 'api' || prefix === 'apis') return !isBelow(path, options.group)
  if (isPlatformPrefix(prefix) || path === metricsPath) return false
  if (path.startsWith('/openapi/v3/')) return !isOwnDocument(path)
  // kube-apiserver also serves /version, which kubectl compares with its own. The version of Kapis
  // is at /kapis/version.
  return path === '/openapi/v2' || !documentsFor(options, exchange).some(({ handles }) => handles(path))
}

/** Returns whether a path is `/apis/<group>` or below, without allocating memory. */
function isBelow(path: string, group: string): boolean {
  const end = '/apis/'.length + group.length
  return (
    path.startsWith('/apis/') &&
    path.startsWith(group, '/apis/'.length) &&
    (path.length === end || path[end] === '/')
  )
}

/** Returns group and version of the root of an API, which is its discovery. */
function groupOf(path: string): [group: string, version: string] {
  const [, , group = '', version = ''] = path.split('/')
  return [group, version]
}

async function sendMetrics(registry: Registry, { res }: AuthenticatedExchange): Promise<void> {
  send(res, 200, Buffer.from(await registry.metrics()), { 'content-type': registry.contentType })
}
