import { groupVersionOf, type ServedGroup, type ServedResource, verbsOf } from '../discovery/served-group.ts'

/** A parameter of an operation; optional unless it is part of the path. */
export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

/** An operation, from which both versions of OpenAPI are generated. */
export type Operation = {
  readonly path: string
  readonly method: 'get' | 'post'
  readonly id: string
  readonly description: string
  /** Value of x-kubernetes-action, by which kubectl identifies the kind of operation. */
  readonly action: 'get' | 'list' | 'watch' | 'watchlist' | 'post'
  readonly kind: string
  /** Short name of the schema of the response. */
  readonly response: string
  readonly isDeprecated: boolean
  readonly parameters: readonly Parameter[]
  /** Short name of the schema of the request body; '' for none. */
  readonly body: string
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
  query('columnSelector', 'string', 'Selects objects by columns of their table, such as Status=Running.'),
  query('continue', 'string', 'Token of the previous page, to get the next page of the same snapshot.'),
  query('fieldSelector', 'string', 'Selects objects by fields: metadata.name and metadata.namespace.'),
  query('labelSelector', 'string', 'Selects objects by labels.'),
  query('limit', 'integer', 'Maximum number of objects in a response; use continue for the next page.'),
  pretty,
  query(
    'resourceVersion',
    'string',
    'Version of the state to read; resourceVersionMatch determines how it is compared.',
  ),
  query('resourceVersionMatch', 'string', 'NotOlderThan or Exact.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch begins with the existing objects.'),
  query(
    'shardSelector',
    'string',
    "Only objects whose hash is in a range: shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'), or several joined by || (KEP-5866).",
  ),
  query('timeoutSeconds', 'integer', 'Seconds after which a watch ends.'),
  query('watch', 'boolean', 'Whether changes are streamed instead of returning a list.'),
]
const createParameters: readonly Parameter[] = [
  query('dryRun', 'string', 'Only All is allowed; created objects are never stored.'),
  query('fieldManager', 'string', 'Has no effect: nothing is stored.'),
  query('fieldValidation', 'string', 'Fields are always validated strictly.'),
  pretty,
]
const nameParameter = path('name', 'Name of the object.')
const namespaceParameter = path('namespace', 'Namespace of the objects.')

function path(name: string, description: string): Parameter {
  return { name, in: 'path', type: 'string', description }
}

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

  type OperationOptions = Omit<Operation, 'kind' | 'isDeprecated' | 'method' | 'body'>
  function add(verb: string, operation: OperationOptions): void {
    if (!verbs.has(verb)) return
    const isDeprecated = operation.path.startsWith(`${root}/watch/`)
    const body = verb === 'create' ? kind : ''
    operations.push({ ...operation, kind, isDeprecated, method: body === '' ? 'get' : 'post', body })
  }

  for (const { at, suffix } of namespaced ? [own, all] : [own]) {
    const parameters = [...(suffix === '' ? inNamespace : []), ...listParameters]
    add('list', {
      path: `${root}${at}`,
      id: `list${name}${suffix}`,
      description: `Lists objects of kind ${kind}, or watches them.`,
      action: 'list',
      response: `${kind}List`,
      parameters,
    })
    add('watch', {
      path: `${root}/watch${at}`,
      id: `watch${name}List${suffix}`,
      description: `Watches objects of kind ${kind}. Superseded by the watch parameter of a list.`,
      action: 'watchlist',
      response: 'WatchEvent',
      parameters,
    })
  }
  add('create', {
    path: `${root}${own.at}`,
    id: `create${name}`,
    description: `Evaluates an object of kind ${kind} and returns it with its status. Nothing is stored.`,
    action: 'post',
    response: kind,
    parameters: [...inNamespace, ...createParameters],
  })
  add('get', {
    path: `${root}${own.at}/{name}`,
    id: `read${name}`,
    description: `Reads one object of kind ${kind}.`,
    action: 'get',
    response: kind,
    parameters: [nameParameter, ...inNamespace, pretty],
  })
  add('watch', {
    path: `${root}/watch${own.at}/{name}`,
    id: `watch${name}`,
    description: `Watches one object of kind ${kind}. Superseded by a list with watch and a fieldSelector.`,
    action: 'watch',
    response: 'WatchEvent',
    parameters: [nameParameter, ...inNamespace, ...listParameters],
  })
  return operations
}

/** Converts `resources.kapis.io` to `ResourcesKapisIo`, for unique operation IDs. */
function toCamel(text: string): string {
  return text
    .split(/[^a-zA-Z0-9]+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}
