import type { RequestInfo } from '../../apirequest/request-info.ts'

/** The longest that the list of routes grows. */
const maxRoutes = 1_000

/**
 * The pattern of a path, without the names in it: `/apis/apps/v1/namespaces/{namespace}/deployments/{name}`, as kube-apiserver
 * has it in its own spans.
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

/** /oauth/token says what is done, /docs/search.js nothing of interest. */
function toPlainRoute(path: string): string {
  const [first = '', second = '', ...more] = path.split('/').slice(1)
  if (second === '') return `/${first}`
  if (first !== 'oauth') return `/${first}/{path}`
  return more.length === 0 ? `/oauth/${second}` : `/oauth/${second}/{name}`
}

/**
 * Routes that are known to be there: those on which a request has succeeded. A caller may invent paths without end, and each
 * would be a name that anyone who stores traces has to keep.
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
 * The path for an attribute. Behind `proxy` it is that of some program in the cluster, which may have secrets in its links.
 */
export function toPathAttribute({ path, isResource, verb, subresource }: RequestInfo): string {
  if (!isResource || (subresource !== 'proxy' && verb !== 'proxy')) return path
  const at = path.indexOf('/proxy')
  return at < 0 ? path : path.slice(0, at + '/proxy'.length)
}
