import type { Exchange } from './request-context.ts'

type RequestParts = Pick<Exchange, 'req' | 'info' | 'query'>

const tunnels = new Set(['attach', 'exec', 'proxy', 'portforward'])

/**
 * Returns whether kube-apiserver treats a request as long-running (without a deadline): a watch, a
 * log that is followed, or exec, attach, port-forward and proxy.
 */
export function isLongRunningInKube({ req, info, query }: RequestParts): boolean {
  if (!info.isResource) return false
  if (tunnels.has(info.subresource)) return true
  return (
    req.method === 'GET' && (info.verb === 'watch' || (info.subresource === 'log' && query.isTrue('follow')))
  )
}

/** Returns whether a response may be read for hours, such as an export of logs. */
export function mayStream({ info, query }: RequestParts): boolean {
  return info.resource === 'select' || query.first('operation') === 'export'
}

/**
 * Returns whether the response may be long-running. If it is, `markLongRunning` of the exchange is
 * called.
 */
export function mayBeLongRunning(request: RequestParts): boolean {
  const { req, info, query } = request
  if (info.prefix === 'api' || info.prefix === 'apis') return isLongRunningInKube(request)
  // For the platform API, the parameter of a live tail counts on every path.
  return info.isResource && req.method === 'GET' && (info.verb === 'watch' || query.isTrue('follow'))
}
