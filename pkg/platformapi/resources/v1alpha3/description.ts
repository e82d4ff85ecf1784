import { operation } from '../../../openapi/kube-errors.ts'
import {
  content,
  json,
  type Parameter,
  type Paths,
  query,
  requiredQuery,
  segment,
} from '../../../openapi/operation.ts'
import { arrayOf, integer, kubeObject, object, text } from '../../../openapi/schema.ts'
import { componentPaths } from '../../components/description.ts'
import { listOperation, listParameters, objectOperation } from '../../read/list-description.ts'
import { registryPaths } from '../../registries/description.ts'

const resource = segment(
  'resource',
  'Plural name of the resource, such as pods; if several groups have it, the built-in group is used.',
)
const namespace = segment('namespace', 'The namespace.')
const name = segment('name', 'The name of the object.')

/** Filters that only some kinds support; see docs/lists.md. */
export const kindFilters: readonly Parameter[] = [
  query('nodeName', 'pods: the node.'),
  query('phase', 'pods: the phase.'),
  query('pvcName', 'pods: a persistent volume claim that the pods mount.'),
  query('serviceName', 'pods: the Service that selects them; requires the permission to get that Service.'),
  query('workspace', 'namespaces and workspace roles: the workspace.'),
  query('manager', 'workspaces: the user who manages them.'),
  query('storageClassName', 'persistent volumes and claims: the storage class.'),
  query('volumeSnapshotClassName', 'volume snapshots and their contents: the class.'),
  query('persistentVolumeClaimName', 'volume snapshots: the persistent volume claim.'),
  query('volumeSnapshotName', 'volume snapshot contents: the snapshot.'),
  query('volumeSnapshotNamespace', 'volume snapshot contents: the namespace of the snapshot.'),
  query('readyToUse', 'volume snapshot contents: true or false.'),
  query('email', 'users: the e-mail address.'),
  query('ingroup', 'users: a group of the users.'),
  query('notingroup', 'users: a group that the users are not members of.'),
  query('rolename', 'workspace role bindings: the role.'),
  query('user', 'group bindings: the user.'),
  query('type', 'login records: the type.'),
]

const ofClusters = query(
  'clusters',
  'Comma-separated names of clusters, at most 32, or * for all that the caller may use: one list of their objects, each with the annotation <group domain>/cluster.',
)
const page = object(
  {
    items: arrayOf(kubeObject),
    totalItems: integer('Number of matching objects on all pages.'),
    clusters: arrayOf(
      object(
        {
          cluster: text('The name of the cluster.'),
          totalItems: integer('The number of objects.'),
          namespaces: integer('In how many namespaces, if the caller may not list the whole cluster.'),
          status: kubeObject,
        },
        ['totalItems', 'namespaces', 'status'],
      ),
      'With clusters: the number of objects of each cluster, or the Status of its error.',
    ),
  },
  ['clusters'],
)
const list = (summary: string, segments: readonly Parameter[]) =>
  listOperation(summary, { form: 'items', own: [...kindFilters, ofClusters], segments, page })

const kindTotals = arrayOf(
  object(
    {
      resource: text('The plural.'),
      totalItems: integer('The number of objects.'),
      namespaces: integer('In how many namespaces, if the caller may not list the whole cluster.'),
      status: kubeObject,
    },
    ['totalItems', 'namespaces', 'status'],
  ),
)
const counts = object({ items: kindTotals, totalItems: integer('The number of kinds.') })

const merged = object({
  items: arrayOf(kubeObject),
  totalItems: integer('Number of matching objects of all kinds on all pages.'),
  kinds: kindTotals,
})
const notMerged = new Set([
  ...['namespace', 'watch', 'resourceVersion', 'resourceVersionMatch'],
  ...['allowWatchBookmarks', 'sendInitialEvents', 'timeoutSeconds'],
])
const mergedParameters = listParameters(kindFilters).filter(({ name }) => !notMerged.has(name))

/** OpenAPI descriptions of `/kapis/resources.<group domain>/v1alpha3`. */
export const resourcePaths = {
  '/{resource}': { get: list('Lists any resource, in all namespaces', [resource]) },
  '/{resource}/{name}': { get: objectOperation('Reads a cluster-scoped object', [resource, name]) },
  '/namespaces/{namespace}/{resource}': {
    get: list('Lists any resource in a namespace', [namespace, resource]),
  },
  '/namespaces/{namespace}/{resource}/{name}': {
    get: objectOperation('Reads an object in a namespace', [namespace, resource, name]),
  },
  '/counts': {
    get: operation(
      'Counts the objects of several kinds that the caller may list',
      { 200: { description: 'A count for each kind.', content: json(counts) } },
      {
        description:
          'Each count is authorized and narrowed like a separate list; a failed one has a Status in place of its number.',
        parameters: [
          query('kinds', 'Comma-separated plurals, at most 50; by default those of a console menu.'),
          query('namespace', 'Counts in one namespace.'),
        ],
      },
    ),
  },
  '/resources': {
    get: operation(
      'Lists objects of several kinds',
      { 200: { description: 'A page of objects.', content: json(merged) } },
      {
        description:
          'One sorted list. Each kind is authorized and narrowed like a separate list; one that fails has its Status in kinds.',
        parameters: [
          requiredQuery('kinds', 'Comma-separated plurals, at most 50.'),
          query('namespace', 'Lists in one namespace.'),
          ...mergedParameters,
        ],
        errors: [410],
      },
    ),
  },
  '/subscriptions': {
    get: operation(
      'Sends several watches over one connection',
      {
        200: {
          description: 'Server-sent events; 101 for a WebSocket.',
          content: content(['text/event-stream'], text()),
        },
      },
      {
        description:
          'A WebSocket on which the client sends {"type":"SUBSCRIBE","id":"pods","path":"/kapis/…?watch=true"} and {"type":"UNSUBSCRIBE","id":"pods"}; or server-sent events. Each event has the id of its subscription. Each watch is authorized like a separate request.',
        parameters: [
          query('subscriptions', 'Server-sent events: a JSON array of {"id", "path"}, one for each watch.'),
        ],
      },
    ),
  },
  ...componentPaths,
  ...registryPaths,
} satisfies Paths
