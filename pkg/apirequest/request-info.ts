import { QueryParameters } from './query/query-parameters.ts'
import { type FieldRequirement, requiredValue } from './selector/field-selector.ts'
import type { LabelRequirement } from './selector/label-selector.ts'
import type { Selector } from './selector/selector.ts'

/**
 * The attributes of a request, parsed once from method and URL for authorization, selection, audit,
 * metrics and routing. Equivalent to RequestInfo of k8s.io/apiserver, with the prefixes kapis and
 * kapi in addition to api and apis.
 */
export type RequestInfo = {
  /** Name of the member cluster to which all other attributes but `path` apply; '' for this one. */
  readonly cluster: string
  readonly isResource: boolean
  /** Percent-decoded path, by which non-resource requests are authorized. */
  readonly path: string
  readonly prefix: string
  /**
   * The verb in lower case: get, list, watch, create, update, patch, delete, deletecollection, and
   * proxy for the deprecated path prefix of that name. For non-resource paths it is the HTTP
   * method. Only safe methods result in get, list or watch.
   */
  readonly verb: string
  readonly group: string
  readonly version: string
  /** The namespace; also set for the object `namespaces/x` itself. */
  readonly namespace: string
  /** Whether the resource in the path is inside a namespace. */
  readonly isInNamespace: boolean
  readonly resource: string
  readonly subresource: string
  /** Name of the only object that the request may affect; authorization uses it. */
  readonly name: string
  /** Whether the name comes from the path or from a field selector. */
  readonly namedBy: 'path' | 'fieldSelector' | ''
  /** The selectors of list, watch and deletecollection; they select everything for other verbs. */
  readonly fieldSelector: Selector<FieldRequirement>
  readonly labelSelector: Selector<LabelRequirement>
  /** Decoded path segments after the version, including a deprecated prefix watch or proxy. */
  readonly parts: readonly string[]
}

export const platformPrefixes: readonly string[] = ['kapis', 'kapi']
const prefixes = new Set(['api', 'apis', ...platformPrefixes])
// /kapi/v1/pods is the core group under the prefix of the platform; /kapi/<group>/<version>/… is
// equivalent to /kapis/….
const versionName = /^v\d+((alpha|beta)\d+)?$/
const methodVerbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
// `namespaces/x/status` is a subresource of the namespace, not a resource in it.
const namespaceSubresources = new Set(['status', 'finalize'])
const selectiveVerbs = new Set(['list', 'watch', 'deletecollection'])
const everything: Selector<never> = Object.freeze({ text: '', requirements: Object.freeze([]) })
const noParameters = new QueryParameters('')

type Selection = Pick<RequestInfo, 'name' | 'namedBy' | 'fieldSelector' | 'labelSelector'>

const wholeSelection: Selection = Object.freeze({
  name: '',
  namedBy: '',
  fieldSelector: everything,
  labelSelector: everything,
})
const nothing = Object.freeze({
  cluster: '',
  isResource: true,
  path: '',
  prefix: '',
  group: '',
  version: '',
  namespace: '',
  isInNamespace: false,
  resource: '',
  subresource: '',
  ...wholeSelection,
  parts: Object.freeze([]),
})

/**
 * Parses the attributes of a request.
 *
 * @param method upper-case HTTP method
 * @param path percent-decoded path without the query (see parseTarget)
 * @param cluster name of the member cluster with which the path begins; '' for none
 */
export function parseRequestInfo(
  method: string,
  path: string,
  query = noParameters,
  cluster = '',
): RequestInfo {
  const segments = path.split('/').filter(isNotEmpty)
  if (cluster !== '') segments.splice(0, 2)
  const prefix = segments[0] ?? ''
  const grouped = prefix !== 'api' && !(prefix === 'kapi' && versionName.test(segments[1] ?? ''))
  const parts = Object.freeze(segments.slice(grouped ? 3 : 2))
  const special = isVerbPrefix(parts[0]) ? parts[0] : ''
  const target = splitResource(parts, special)
  if (!prefixes.has(prefix) || target.resource === '') return nonResource(method, path, prefix, cluster)
  const { name } = target
  const verb = toVerb(method, special, name, query)
  // After a deprecated prefix, selectors do not affect authorization.
  const selected = special === '' && selectiveVerbs.has(verb) ? selectionOf(verb, query) : wholeSelection
  // Copies fields by name: this code runs for every request, and a spread takes four times as long.
  return Object.freeze({
    cluster,
    isResource: true,
    path,
    prefix,
    verb,
    group: grouped ? (segments[1] ?? '') : '',
    version: segments[grouped ? 2 : 1] ?? '',
    namespace: target.namespace,
    isInNamespace: target.isInNamespace,
    resource: target.resource,
    subresource: target.subresource,
    name: name === '' ? selected.name : name,
    namedBy: name === '' ? selected.namedBy : 'path',
    fieldSelector: selected.fieldSelector,
    labelSelector: selected.labelSelector,
    parts,
  })
}

function isNotEmpty(part: string): boolean {
  return part !== ''
}

function nonResource(method: string, path: string, prefix: string, cluster: string): RequestInfo {
  return Object.freeze({ ...nothing, cluster, isResource: false, path, prefix, verb: method.toLowerCase() })
}

/** Returns the attributes for an authorization check that is not caused by a request. */
export function toResourceInfo(
  target: Pick<RequestInfo, 'verb' | 'resource'> &
    Partial<Pick<RequestInfo, 'prefix' | 'group' | 'version' | 'namespace' | 'subresource' | 'name'>>,
): RequestInfo {
  const isInNamespace = (target.namespace ?? '') !== ''
  return Object.freeze({
    ...{ ...nothing, prefix: 'api', isInNamespace, ...target },
    namedBy: target.name ? 'path' : '',
  })
}

/** Returns the attributes without selectors, for servers that may ignore them. */
export function withoutSelectors(info: RequestInfo): RequestInfo {
  if (info.fieldSelector.text === '' && info.labelSelector.text === '') return info
  const { name, namedBy } = info
  const named = namedBy === 'path' ? { name, namedBy } : {}
  return Object.freeze({ ...info, ...wholeSelection, ...named })
}

/**
 * Returns whether kube-apiserver has such a path for a kind. There is no namespaced path for a
 * cluster-scoped kind: a permission in one namespace would then apply to the whole cluster
 * (CVE-2019-11247). There is no cluster-wide path for a namespaced object either.
 */
export function isInScope(info: RequestInfo, { namespaced }: { readonly namespaced: boolean }): boolean {
  return namespaced ? info.isInNamespace || info.namedBy !== 'path' : !info.isInNamespace
}

export function isPlatformPrefix(prefix: string): boolean {
  return platformPrefixes.includes(prefix)
}

/** Returns whether a resource path begins with the deprecated prefix watch or proxy. */
export function hasVerbPrefix({ isResource, parts }: RequestInfo): boolean {
  return isResource && isVerbPrefix(parts[0])
}

function isVerbPrefix(part: string | undefined): part is 'watch' | 'proxy' {
  return part === 'watch' || part === 'proxy'
}

function toVerb(method: string, special: string, name: string, query: QueryParameters): string {
  const isReading = method === 'GET' || method === 'HEAD'
  // Not a verb of any read permission, regardless of the method.
  if (special === 'proxy') return 'proxy'
  if (special === 'watch' && isReading) return 'watch'
  const verb = methodVerbs[method] ?? ''
  if (name !== '') return verb
  if (verb === 'get') return query.isTrue('watch') ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

function splitResource(parts: readonly string[], special: string) {
  const first = special === '' ? 0 : 1
  const isOfNamespaces = parts[first] === 'namespaces'
  const inside = parts[first + 2] ?? ''
  const isInNamespace = isOfNamespaces && inside !== '' && !namespaceSubresources.has(inside)
  const at = isInNamespace ? first + 2 : first
  return {
    namespace: isOfNamespaces ? (parts[first + 1] ?? '') : '',
    isInNamespace,
    resource: parts[at] ?? '',
    name: parts[at + 1] ?? '',
    // The path after the deprecated prefix proxy is one of the proxied server.
    subresource: special === 'proxy' ? '' : (parts[at + 2] ?? ''),
  }
}

/**
 * Parses the selectors. A list that a field selector limits to one name is authorized with that
 * name, so that resourceNames of RBAC apply.
 */
function selectionOf(verb: string, query: QueryParameters): Selection {
  const { fieldSelector, labelSelector } = query
  const name = requiredValue(fieldSelector.requirements, 'metadata.name') ?? ''
  // As in kube-apiserver, deletecollection is authorized without a name.
  if (name === '' || !isPathSegment(name) || verb === 'deletecollection' || !isReadableList(query))
    return { ...wholeSelection, fieldSelector, labelSelector }
  return { name, namedBy: 'fieldSelector', fieldSelector, labelSelector }
}

/** Returns whether kube-apiserver can parse the query as ListOptions, and so uses its name. */
function isReadableList(query: QueryParameters): boolean {
  return query.labelSelector.problem === undefined && listIntegers.every(name => isInt64(query.first(name)))
}

/** Reports whether an object can have the name: kube-apiserver allows no other names in paths. */
export function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name)
}

const listIntegers = ['limit', 'timeoutSeconds']

/** Returns whether a text has the syntax of strconv.ParseInt of Go. */
function isInt64(text: string | null): boolean {
  if (text === null) return true
  return /^[-+]?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}
