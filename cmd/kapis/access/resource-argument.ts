import { UsageError } from '../command.ts'
import { itemsOf, type Members, type Platform } from '../session/platform-client.ts'
import { assertOneNamespace, namespaceOptions } from '../usage-options.ts'

/** The attributes of the reviewed request. */
export type Attributes =
  | { readonly resourceAttributes: Readonly<Record<string, string>> }
  | { readonly nonResourceAttributes: { readonly verb: string; readonly path: string } }

export type AccessArguments = {
  readonly positionals: readonly string[]
  readonly namespace: string
  readonly 'all-namespaces': boolean
  readonly subresource: string
}

export const accessOptions = {
  ...namespaceOptions,
  subresource: { type: 'string', default: '' },
} as const

export const accessUsage = `  --namespace NAME, -n   namespace of the request
  --all-namespaces, -A   a request for all namespaces, at the cluster scope (default)
  --subresource NAME     subresource of the request, such as log or scale
`

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * Parses `VERB RESOURCE [NAME]`, `VERB RESOURCE/NAME` or `VERB /path`, like kubectl auth can-i. A
 * resource is looked up in discovery, by its plural, singular, kind or short name, with a group or
 * without one.
 *
 * @param warn called with a warning about an unknown verb, a resource that kube-apiserver does not
 * serve, and the namespace of a resource that is not namespaced
 * @throws UsageError
 */
export async function readAttributes(
  platform: Platform,
  given: AccessArguments,
  warn: (text: string) => void,
): Promise<Attributes> {
  const { positionals, namespace, subresource } = given
  const { verb, target, name } = readPositionals(positionals)
  const isPath = target.startsWith('/')
  assertOneNamespace(given)
  if (isPath && (subresource !== '' || namespace !== ''))
    throw new UsageError('a path takes no --subresource and no --namespace')
  const quoted = JSON.stringify(verb)
  if (!(isPath ? pathVerbs : [...verbs, ...otherVerbs]).includes(verb))
    warn(`Warning: the verb ${quoted} is not known; verbs are case-sensitive\n`)
  if (isPath) return { nonResourceAttributes: { verb, path: target } }
  const found = await findResource(platform, verb, target)
  if (found === undefined)
    warn(`Warning: the server does not have a resource type ${JSON.stringify(target)}\n`)
  const { resource, group, isNamespaced = true } = found ?? splitGroup(target)
  if (!isNamespaced && namespace !== '')
    warn(`Warning: the resource ${JSON.stringify(resource)} is not namespaced\n`)
  const attributes = Object.entries({ verb, group, resource, subresource, name, namespace })
  return { resourceAttributes: Object.fromEntries(attributes.filter(([, value]) => value !== '')) }
}

/** @throws UsageError */
export function readPositionals(positionals: readonly string[]) {
  const [verb = '', given = '', named = '', ...more] = positionals
  if (verb === '' || given === '' || more.length > 0)
    throw new UsageError('expected VERB RESOURCE [NAME] or VERB /path')
  if (given.startsWith('/')) {
    if (named !== '') throw new UsageError('a path takes no NAME')
    return { verb, target: given, name: '' }
  }
  const slash = given.indexOf('/')
  if (slash < 0) return { verb, target: given, name: named }
  if (named !== '') throw new UsageError('the name is given twice: RESOURCE/NAME and NAME')
  return { verb, target: given.slice(0, slash), name: given.slice(slash + 1) }
}

type Resource = { readonly resource: string; readonly group: string; readonly isNamespaced?: boolean }

/** Splits a resource such as `deployments.apps`: the group follows the first dot. */
function splitGroup(target: string): Resource {
  const dot = target.indexOf('.')
  if (dot < 0) return { resource: target, group: '' }
  return { resource: target.slice(0, dot), group: target.slice(dot + 1) }
}

/**
 * API groups of the resources for the verb `impersonate`. Discovery does not contain them, or
 * contains other resources with these names.
 */
const impersonated: Readonly<Record<string, string>> = {
  ...{ users: '', groups: '', serviceaccounts: '' },
  ...{ uids: 'authentication.k8s.io', userextras: 'authentication.k8s.io' },
}

async function findResource(platform: Platform, verb: string, target: string): Promise<Resource | undefined> {
  const exact = splitGroup(target)
  if (exact.resource === '*') return exact
  if (verb === 'impersonate' && Object.hasOwn(impersonated, target))
    return { resource: target, group: impersonated[target] ?? '' }
  const requested = splitGroup(target.toLowerCase())
  for (const path of ['/api', '/apis']) {
    const response = await platform.call('find the resource', path, { headers: { accept: aggregated } })
    for (const item of itemsOf(response.items)) {
      const group = String(Object(item.metadata).name ?? '')
      for (const { version, resources } of itemsOf(item.versions)) {
        if (target.includes('.') && ![group, `${version}.${group}`].includes(requested.group)) continue
        const found = itemsOf(resources).find(resource => namesOf(resource).includes(requested.resource))
        if (found !== undefined)
          return { resource: String(found.resource), group, isNamespaced: found.scope !== 'Cluster' }
      }
    }
  }
  return undefined
}

function namesOf(resource: Members): readonly string[] {
  const { shortNames, responseKind } = resource
  const names = [resource.resource, resource.singularResource, Object(responseKind).kind]
  return [...names, ...(Array.isArray(shortNames) ? shortNames : [])].map(name => String(name).toLowerCase())
}

/** Verbs of RBAC, for shell completion. */
export const verbs: readonly string[] = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['impersonate', 'bind', 'escalate', '*'],
]
// The other verbs that kubectl knows.
const otherVerbs: readonly string[] = ['use', 'approve', 'sign', 'attest']
const pathVerbs: readonly string[] = ['get', 'put', 'post', 'head', 'options', 'delete', 'patch', '*']
