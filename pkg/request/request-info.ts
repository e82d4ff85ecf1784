/**
 * What a request asks for, read from method and URL alone: the attributes that authorization, audit, metrics and
 * routing share. Follows k8s.io/apiserver's RequestInfo, with the platform's prefixes beside api and apis.
 */
export type RequestInfo = {
  readonly isResource: boolean
  /** Percent-decoded path; what a non-resource request is authorized by. */
  readonly path: string
  readonly prefix: string
  /** Lower case: get, list, watch, create, update, patch, delete, deletecollection; a method for non-resource paths. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Segments after the version, as they stood in the URL (decoded). */
  readonly parts: readonly string[]
}

const prefixes = new Set(['api', 'apis', 'kapis', 'kapi'])
// /kapi/v1/pods is the core group under the platform's prefix; /kapi/<group>/<version>/… is the same as under /kapis.
const versionName = /^v\d+((alpha|beta)\d+)?$/
const methodVerbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
// `namespaces/x/status` is a subresource of the namespace and not a resource inside it.
const namespaceSubresources = new Set(['status', 'finalize'])

/**
 * @param method upper-case HTTP method
 * @param path percent-decoded path without the query (see parseTarget)
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = path.split('/').filter(part => part !== '')
  const prefix = segments[0] ?? ''
  const grouped = prefix !== 'api' && !(prefix === 'kapi' && versionName.test(segments[1] ?? ''))
  if (!prefixes.has(prefix) || segments.length < (grouped ? 4 : 3)) return nonResource(method, path, prefix)

  const group = grouped ? (segments[1] ?? '') : ''
  const version = segments[grouped ? 2 : 1] ?? ''
  let parts = segments.slice(grouped ? 3 : 2)
  let verb = methodVerbs[method] ?? ''
  // The old prefix form of watch and the node proxy verb come before the resource.
  if (parts[0] === 'watch' || parts[0] === 'proxy') {
    if (parts.length < 2) return nonResource(method, path, prefix)
    verb = parts[0]
    parts = parts.slice(1)
  }
  const target = splitResource(parts)
  const name = target.name || nameInFieldSelector(verb, query)
  if (target.name === '') verb = collectionVerb(verb, query)
  return { isResource: true, path, prefix, verb, group, version, ...target, name, parts }
}

function collectionVerb(verb: string, query: URLSearchParams): string {
  if (verb === 'get') return isWatch(query) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

function splitResource(parts: readonly string[]) {
  if (parts[0] === 'namespaces' && parts.length > 1) {
    const namespace = parts[1] ?? ''
    const inside = parts[2] ?? ''
    if (parts.length > 2 && !(parts.length === 3 && namespaceSubresources.has(inside))) {
      return { namespace, resource: inside, name: parts[3] ?? '', subresource: parts[4] ?? '' }
    }
    return { namespace, resource: 'namespaces', name: namespace, subresource: inside }
  }
  return { namespace: '', resource: parts[0] ?? '', name: parts[1] ?? '', subresource: parts[2] ?? '' }
}

/** A list pinned to one name is authorized with that name, so that RBAC's resourceNames hold for it. */
function nameInFieldSelector(verb: string, query: URLSearchParams): string {
  if (verb !== 'get' && verb !== 'watch' && verb !== 'delete') return ''
  for (const term of (query.get('fieldSelector') ?? '').split(',')) {
    const match = /^metadata\.name==?([^=!]+)$/.exec(term)
    if (match?.[1]) return match[1]
  }
  return ''
}

/** apimachinery's reading of a boolean parameter: present means true, unless it says false or 0. */
export function isWatch(query: URLSearchParams): boolean {
  const value = query.get('watch')?.toLowerCase()
  return value !== undefined && value !== 'false' && value !== '0'
}

function nonResource(method: string, path: string, prefix: string): RequestInfo {
  const empty = { group: '', version: '', namespace: '', resource: '', subresource: '', name: '' }
  return { isResource: false, path, prefix, verb: method.toLowerCase(), ...empty, parts: [] }
}
