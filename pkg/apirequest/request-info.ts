import { QueryParameters } from './query/query-parameters.ts'
import { type FieldRequirement, requiredValue } from './selector/field-selector.ts'
import type { LabelRequirement } from './selector/label-selector.ts'
import type { Selector } from './selector/selector.ts'

/**
 * The attributes of a request, parsed once from method and URL for authorization, selection, audit,
 * metrics and routing. Follows RequestInfo of k8s.io/apiserver, with the prefixes kapis and kapi
 * next to api and apis.
 */
export type RequestInfo = {
  readonly isResource: boolean
  /** Percent-decoded path; non-resource requests are authorized by it. */
  readonly path: string
  readonly prefix: string
  /**
   * Lower case: get, list, watch, create, update, patch, delete, deletecollection, and proxy for
   * the deprecated path prefix of that name; the HTTP method for non-resource paths. Only safe
   * methods have the read verbs.
   */
  readonly verb: string
  readonly group: string
  readonly version: string
  /** Of `namespaces/x` itself too. */
  readonly namespace: string
  /** Whether the path has the resource inside of a namespace. */
  readonly isInNamespace: boolean
  readonly resource: string
  readonly subresource: string
  /** Name of the only object that the request may affect; authorization uses it. */
  readonly name: string
  /** Whether the name comes from the path or from a field selector. */
  readonly namedBy: 'path' | 'fieldSelector' | ''
  /** The selectors of list, watch and deletecollection; empty for other verbs. */
  readonly fieldSelector: Selector<FieldRequirement>
  readonly labelSelector: Selector<LabelRequirement>
  /** Segments after the version (decoded), with an old path prefix of watch or proxy among them. */
  readonly parts: readonly string[]
}

/** The prefixes of the platform API. */
export const platformPrefixes: readonly string[] = ['kapis', 'kapi']
const prefixes = new Set(['api', 'apis', ...platformPrefixes])
// /kapi/v1/pods is the core group under the prefix of the platform; /kapi/<group>/<version>/…
// equals /kapis/….
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
 * @param method upper-case HTTP method
 * @param path percent-decoded path without the query (see parseTarget)
 */
export function parseRequestInfo(method: string, path: string, query = noParameters): RequestInfo {
  const segments = path.split('/').filter(isNotEmpty)
  const prefix = segments[0] ?? ''
  const grouped = prefix !== 'api' && !(prefix === 'kapi' && versionName.test(segments[1] ?? ''))
  const parts = Object.freeze(segments.slice(grouped ? 3 : 2))
  const special = isVerbPrefix(parts[0]) ? parts[0] : ''
  const target = splitResource(parts, special)
  if (!prefixes.has(prefix) || target.resource === '') return nonResource(method, path, prefix)
  const { name } = target
  const verb = toVerb(method, special, name, query)
  // Under the deprecated prefixes, only the path determines the verb.
  const selected = special === '' && selectiveVerbs.has(verb) ? selectionOf(verb, query) : wholeSelection
  // Copies each field by name: this runs for every request, and a spread takes four times as long.
  return Object.freeze({
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

function nonResource(method: string, path: string, prefix: string): RequestInfo {
  return Object.freeze({ ...nothing, isResource: false, path, prefix, verb: method.toLowerCase() })
}

/** Attributes for an authorization check without a request. */
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

/**
 * Returns the request without selectors, for servers that may ignore them: then they must not
 * affect authorization either.
 */
export function withoutSelectors(info: RequestInfo): RequestInfo {
  if (info.fieldSelector.text === '' && info.labelSelector.text === '') return info
  const { name, namedBy } = info
  const named = namedBy === 'path' ? { name, namedBy } : {}
  return Object.freeze({ ...info, ...wholeSelection, ...named })
}

/**
 * Returns whether kube-apiserver has such a path for a kind: no namespaced path for a
 * cluster-scoped kind (a permission in one namespace would apply to the whole cluster,
 * CVE-2019-11247), and no cluster-wide path for a namespaced object.
 */
export function isInScope(info: RequestInfo, { namespaced }: { readonly namespaced: boolean }): boolean {
  return namespaced ? info.isInNamespace || info.namedBy !== 'path' : !info.isInNamespace
}

/** Whether a path with this prefix is one of the platform API. */
export function isPlatformPrefix(prefix: string): boolean {
  return platformPrefixes.includes(prefix)
}

/** Whether the path has the deprecated prefix watch or proxy but no resource. */
export function hasVerbPrefix({ isResource, parts }: RequestInfo): boolean {
  return isResource && isVerbPrefix(parts[0])
}

function isVerbPrefix(part: string | undefined): part is 'watch' | 'proxy' {
  return part === 'watch' || part === 'proxy'
}

function toVerb(method: string, special: string, name: string, query: QueryParameters): string {
  const isReading = method === 'GET' || method === 'HEAD'
  // A verb that no read permission includes, whatever the method.
  if (special === 'proxy') return 'proxy'
  if (special === 'watch' && isReading) return 'watch'
  const verb = methodVerbs[method] ?? ''
  if (name !== '') return verb
  if (verb === 'get') return isWatch(query) ? 'watch' : 'list'
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
    // The path after the deprecated proxy prefix belongs to another server.
    subresource: special === 'proxy' ? '' : (parts[at + 2] ?? ''),
  }
}

/**
 * A list limited to one name by a field selector is authorized with that name, so that
 * resourceNames of RBAC apply.
 */
function selectionOf(verb: string, query: QueryParameters): Selection {
  const { fieldSelector, labelSelector } = query
  const name = requiredValue(fieldSelector.requirements, 'metadata.name') ?? ''
  const isName = name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name)
  // As in kube-apiserver: only the selectors limit what deletecollection deletes.
  if (!isName || verb === 'deletecollection' || !isReadableList(query))
    return { ...wholeSelection, fieldSelector, labelSelector }
  return { name, namedBy: 'fieldSelector', fieldSelector, labelSelector }
}

/**
 * Returns whether kube-apiserver can parse the query as ListOptions. If not, it takes no name from
 * the field selector.
 */
function isReadableList(query: QueryParameters): boolean {
  return query.labelSelector.problem === undefined && listIntegers.every(name => isInt64(query.first(name)))
}

const listIntegers = ['limit', 'timeoutSeconds']

/** The syntax of strconv.ParseInt of Go. */
function isInt64(text: string | null): boolean {
  if (text === null) return true
  return /^[-+]?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/**
 * Parses a boolean parameter like apimachinery: present means true, unless the value is false or 0.
 */
function isWatch(query: QueryParameters): boolean {
  const value = query.first('watch')?.toLowerCase()
  return value !== undefined && value !== 'false' && value !== '0'
}
