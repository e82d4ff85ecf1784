import type { RequestInfo } from '../../apirequest/request-info.ts'

const maxRoutes = 1_000

/**
 * Returns the path of a request with placeholders for names, as in spans of kube-apiserver:
 * `/apis/apps/v1/namespaces/{namespace}/deployments/{name}`.
 */
export function toRoute({
  cluster,
  isResource,
  path,
  prefix,
  group,
  version,
  ...target
}: RequestInfo): string {
  const { isInNamespace, resource, namedBy, subresource } = target
  if (!isResource) return toPlainRoute(path)
  return [
    ...(cluster === '' ? [''] : ['', 'clusters', '{cluster}']),
    prefix,
    ...(group === '' ? [] : [group]),
    version,
    ...(isInNamespace ? ['namespaces', '{namespace}'] : []),
    ...(resource === '' ? [] : [resource]),
    ...(namedBy === 'path' ? ['{name}'] : []),
    ...(subresource === '' ? [] : [subresource]),
  ].join('/')
}

/** Returns the route of a non-resource path: `/oauth/token`, but `/docs/{path}` for files. */
function toPlainRoute(path: string): string {
  const [first = '', second = '', ...more] = path.split('/').slice(1)
  if (second === '') return `/${first}`
  if (first !== 'oauth') return `/${first}/{path}`
  return more.length === 0 ? `/oauth/${second}` : `/oauth/${second}/{name}`
}

/**
 * Returns a function that returns a route only after a request to it has succeeded. Callers can
 * invent any number of paths, and each would become a span name in the backend.
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
 * Returns the path for the attribute `url.path`, cut off after `proxy`: the rest belongs to a
 * program in the cluster and may contain secrets.
 */
export function toPathAttribute({ path, isResource, verb, subresource }: RequestInfo): string {
  if (!isResource || (subresource !== 'proxy' && verb !== 'proxy')) return path
  const at = path.indexOf('/proxy')
  return at < 0 ? path : path.slice(0, at + '/proxy'.length)
}
