import { UsageError } from '../command.ts'
import { itemsOf, type Members, type Platform } from '../session/platform-client.ts'

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
  namespace: { type: 'string', short: 'n', default: '' },
  'all-namespaces': { type: 'boolean', short: 'A', default: false },
  subresource: { type: 'string', default: '' },
} as const

export const accessUsage = `  --namespace NAME, -n   namespace of the request
  --all-namespaces, -A   a request for all namespaces, at the cluster scope (default)
  --subresource NAME     subresource of the request, such as log or scale
`

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * Parses `VERB RESOURCE [NAME]`, `VERB RESOURCE/NAME` or `VERB /path`, like kubectl auth can-i. A
 * resource without a group is looked up in discovery, by its plural, singular, kind or short name.
 *
 * @param warn called with a warning if kube-apiserver does not serve the resource
 * @throws UsageError
 */
export async function readAttributes(
  platform: Platform,
  { positionals, namespace, subresource, 'all-namespaces': isAll }: AccessArguments,
  warn: (text: string) => void,
): Promise<Attributes> {
  const { verb, target, name } = readPositionals(positionals)
  if (isAll && namespace !== '')
    throw new UsageError('--namespace and --all-namespaces are mutually exclusive')
  if (target.startsWith('/')) return { nonResourceAttributes: { verb, path: target } }
  const found = await findResource(platform, target)
  if (found === undefined)
    warn(`Warning: the server does not have a resource type ${JSON.stringify(target)}\n`)
  const { resource, group } = found ?? splitGroup(target)
  const given = Object.entries({ verb, group, resource, subresource, name, namespace })
  return { resourceAttributes: Object.fromEntries(given.filter(([, value]) => value !== '')) }
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

type Resource = { readonly resource: string; readonly group: string }

/** Splits a resource such as `deployments.apps`: the group follows the first dot. */
function splitGroup(target: string): Resource {
  const dot = target.indexOf('.')
  if (dot < 0) return { resource: target, group: '' }
  return { resource: target.slice(0, dot), group: target.slice(dot + 1) }
}

async function findResource(platform: Platform, target: string): Promise<Resource | undefined> {
  if (target === '*' || target.includes('.')) return splitGroup(target)
  const wanted = target.toLowerCase()
  for (const path of ['/api', '/apis']) {
    const response = await platform.call('find the resource', path, { headers: { accept: aggregated } })
    for (const group of itemsOf(response.items)) {
      for (const version of itemsOf(group.versions)) {
        const found = itemsOf(version.resources).find(resource => namesOf(resource).includes(wanted))
        if (found !== undefined)
          return { resource: String(found.resource), group: String(Object(group.metadata).name ?? '') }
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
