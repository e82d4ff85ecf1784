import type { QueryParameters } from './query-parameters.ts'
import type { Exchange } from './request-context.ts'

type Asked = Pick<Exchange, 'req' | 'info' | 'query'>

const tunnels = new Set(['attach', 'exec', 'proxy', 'portforward'])

/** Whether kube-apiserver takes a request for long-running, and sets no deadline: a watch, a followed log, a tunnel. */
export function lastsAtKube({ req, info, query }: Asked): boolean {
  if (!info.isResource) return false
  if (tunnels.has(info.subresource)) return true
  return req.method === 'GET' && (info.verb === 'watch' || (info.subresource === 'log' && isFollowed(query)))
}

/**
 * Whether a request asks for something that may last for hours. That is a wish: what is served as such is told by
 * `Exchange.lasts`.
 */
export function mayLast(asked: Asked): boolean {
  const { req, info, query } = asked
  if (info.prefix === 'api' || info.prefix === 'apis') return lastsAtKube(asked)
  // Under the platform's prefix a live tail is a parameter of the log API, whatever its path.
  return info.isResource && req.method === 'GET' && (info.verb === 'watch' || isFollowed(query))
}

function isFollowed(query: QueryParameters): boolean {
  const value = query.first('follow')
  return value !== null && value !== 'false' && value !== '0'
}
