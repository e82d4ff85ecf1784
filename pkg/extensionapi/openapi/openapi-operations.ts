import { groupVersionOf, type ServedGroup, type ServedResource, verbsOf } from '../discovery/served-group.ts'

/** A parameter of an operation; every one is optional unless it stands in the path. */
export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

/** A GET, told in a way that both versions of OpenAPI are written from. */
export type Operation = {
  readonly path: string
  readonly id: string
  readonly description: string
  /** x-kubernetes-action: kubectl's words for what an operation does. */
  readonly action: 'get' | 'list' | 'watch' | 'watchlist'
  readonly kind: string
  /** Short name of the schema of the answer. */
  readonly answer: string
  readonly isDeprecated: boolean
  readonly parameters: readonly Parameter[]
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
})

const pretty = query('pretty', 'string', 'If true, JSON is indented.')
const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'Whether a watch may carry BOOKMARK events.'),
  query('continue', 'string', 'Token of the previous chunk, to get the next one of the same state.'),
  query('fieldSelector', 'string', 'Narrows the list by fields: metadata.name and metadata.namespace.'),
  query('labelSelector', 'string', 'Narrows the list by labels.'),
  query('limit', 'integer', 'Most objects in one answer; the rest is to be had with continue.'),
  pretty,
  query('resourceVersion', 'string', 'State that is asked for; resourceVersionMatch says how exactly.'),
  query('resourceVersionMatch', 'string', 'NotOlderThan or Exact.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch begins with the present state.'),
  query('timeoutSeconds', 'integer', 'Seconds after which a watch ends.'),
  query('watch', 'boolean', 'Whether changes are streamed instead of the list being sent.'),
]
const nameParameter = path('name', 'Name of the object.')
const namespaceParameter = path('namespace', 'Namespace of the objects.')

function path(name: string, description: string): Parameter {
  return { name, in: 'path', type: 'string', description }
}

/** All that can be asked of a group. */
export function operationsOf(served: ServedGroup): readonly Operation[] {
  return served.resources.flatMap(resource => resourceOperations(served, resource))
}

function resourceOperations(served: ServedGroup, resource: ServedResource): Operation[] {
  const { kind, plural, namespaced } = resource
  const root = `/apis/${groupVersionOf(served)}`
  const own = { at: namespaced ? `/namespaces/{namespace}/${plural}` : `/${plural}`, suffix: '' }
  const inNamespace = namespaced ? [namespaceParameter] : []
  const all = { at: `/${plural}`, suffix: 'ForAllNamespaces' }
  const verbs = new Set(verbsOf(resource))
  const name = `${toCamel(served.group)}${toCamel(served.version)}${namespaced ? 'Namespaced' : ''}${kind}`
  const operations: Operation[] = []

  function add(verb: string, operation: Omit<Operation, 'kind' | 'isDeprecated'>): void {
    if (!verbs.has(verb)) return
    const isDeprecated = operation.path.startsWith(`${root}/watch/`)
    operations.push({ ...operation, kind, isDeprecated })
  }

  for (const { at, suffix } of namespaced ? [own, all] : [own]) {
    const parameters = [...(suffix === '' ? inNamespace : []), ...listParameters]
    add('list', {
      path: `${root}${at}`,
      id: `list${name}${suffix}`,
      description: `Lists objects of kind ${kind}, or watches them.`,
      action: 'list',
      answer: `${kind}List`,
      parameters,
    })
    add('watch', {
      path: `${root}/watch${at}`,
      id: `watch${name}List${suffix}`,
      description: `Watches objects of kind ${kind}. Superseded by the watch parameter of a list.`,
      action: 'watchlist',
      answer: 'WatchEvent',
      parameters,
    })
  }
  add('get', {
    path: `${root}${own.at}/{name}`,
    id: `read${name}`,
    description: `Reads one object of kind ${kind}.`,
    action: 'get',
    answer: kind,
    parameters: [nameParameter, ...inNamespace, pretty],
  })
  add('watch', {
    path: `${root}/watch${own.at}/{name}`,
    id: `watch${name}`,
    description: `Watches one object of kind ${kind}. Superseded by a list with watch and a fieldSelector.`,
    action: 'watch',
    answer: 'WatchEvent',
    parameters: [nameParameter, ...inNamespace, ...listParameters],
  })
  return operations
}

/** `resources.kapis.io` to `ResourcesKapisIo`: operation ids must be unique among all servers of the cluster. */
function toCamel(text: string): string {
  return text
    .split(/[^a-zA-Z0-9]+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}
