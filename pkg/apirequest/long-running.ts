import type { Exchange } from './request-context.ts'

type Asked = Pick<Exchange, 'req' | 'info' | 'query'>

const tunnels = new Set(['attach', 'exec', 'proxy', 'portforward'])

/**
 * Returns whether kube-apiserver treats a request as long-running (no deadline): a watch, a
 * followed log, or exec, attach, port-forward and proxy.
 */
export function lastsAtKube({ req, info, query }: Asked): boolean {
  if (!info.isResource) return false
  if (tunnels.has(info.subresource)) return true
  return (
    req.method === 'GET' && (info.verb === 'watch' || (info.subresource === 'log' && query.isTrue('follow')))
  )
}

/**
 * Returns whether a request asks for a long-running response. Whether the response is in fact
 * long-running is reported by `RequestContext.lasts`.
 */
export function mayLast(asked: Asked): boolean {
  const { req, info, query } = asked
  if (info.prefix === 'api' || info.prefix === 'apis') return lastsAtKube(asked)
  // Under the prefix of the platform, a live tail is selected by a parameter of the log API,
  // whatever its path.
  return info.isResource && req.method === 'GET' && (info.verb === 'watch' || query.isTrue('follow'))
}
