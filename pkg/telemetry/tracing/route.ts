import type { RequestInfo } from '../../apirequest/request-info.ts'

/** The longest that the list of routes grows. */
const maxRoutes = 1_000

/**
 * Returns the pattern of a path without names:
 * `/apis/apps/v1/namespaces/{namespace}/deployments/{name}`, as in spans of kube-apiserver.
 */
export function toRoute({ isResource, path, prefix, group, version, ...target }: RequestInfo): string {
  const { isInNamespace, resource, namedBy, subresource } = target
  if (!isResource) return toPlainRoute(path)
  return [
    '',
    prefix,
    ...(group === '' ? [] : [group]),
    version,
    ...(isInNamespace ? ['namespaces', '{namespace}'] : []),
    ...(resource === '' ? [] : [resource]),
    ...(namedBy === 'path' ? ['{name}'] : []),
    ...(subresource === '' ? [] : [subresource]),
  ].join('/')
}

/** /oauth/token is a route, /docs/search.js is not. */
function toPlainRoute(path: string): string {
  const [first = '', second = '', ...more] = path.split('/').slice(1)
  if (second === '') return `/${first}`
  if (first !== 'oauth') return `/${first}/{path}`
  return more.length === 0 ? `/oauth/${second}` : `/oauth/${second}/{name}`
}

/**
 * Known routes: those with at least one successful request. Callers can invent any number of paths,
 * and each would become a span name that the backend has to store.
 */
export function createRouteNames(): (route: string, code: number | undefined) => string | undefined {
  const known = new Set<string>()
  return (route, code) => {
    if (known.has(route)) return route
    const hasSucceeded = code !== undefined && code < 400
    if (!hasSucceeded || known.size >= maxRoutes) return undefined
    known.add(route)
    return route
  }
}

/**
 * Returns the path for an attribute. A path after `proxy` belongs to a program in the cluster and
 * may contain secrets.
 */
export function toPathAttribute({ path, isResource, verb, subresource }: RequestInfo): string {
  if (!isResource || (subresource !== 'proxy' && verb !== 'proxy')) return path
  const at = path.indexOf('/proxy')
  return at < 0 ? path : path.slice(0, at + '/proxy'.length)
}
