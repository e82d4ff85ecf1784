import type { Exchange } from './request-context.ts'

type Asked = Pick<Exchange, 'req' | 'info' | 'query'>

const tunnels = new Set(['attach', 'exec', 'proxy', 'portforward'])

/**
 * Returns whether kube-apiserver treats a request as long-running (without a deadline): a watch, a
 * log that is followed, or exec, attach, port-forward and proxy.
 */
export function lastsAtKube({ req, info, query }: Asked): boolean {
  if (!info.isResource) return false
  if (tunnels.has(info.subresource)) return true
  return (
    req.method === 'GET' && (info.verb === 'watch' || (info.subresource === 'log' && query.isTrue('follow')))
  )
}

/** Returns whether a response may be read for hours, such as an export of logs. */
export function mayStream({ info, query }: Asked): boolean {
  return info.resource === 'select' || query.first('operation') === 'export'
}

/**
 * Returns whether a request asks for a long-running response. `RequestContext.lasts` is called if
 * the response actually is long-running.
 */
export function mayLast(asked: Asked): boolean {
  const { req, info, query } = asked
  if (info.prefix === 'api' || info.prefix === 'apis') return lastsAtKube(asked)
  // For the platform API, the parameter of a live tail counts on every path.
  return info.isResource && req.method === 'GET' && (info.verb === 'watch' || query.isTrue('follow'))
}
