import { type Parameter, type Paths, query, segment } from '../../../openapi/operation.ts'
import { componentPaths } from '../../components-description.ts'
import { listOperation, objectOperation } from '../../list-description.ts'
import { registryPaths } from '../../registries-description.ts'

const resource = segment(
  'resource',
  'A plural, such as pods; where several groups have it the built-in one is meant.',
)
const namespace = segment('namespace', 'The namespace.')
const name = segment('name', 'The name of the object.')

/** Filters that single kinds have; the kinds are said in docs/lists.md. */
export const kindFilters: readonly Parameter[] = [
  query('nodeName', 'Of pods: the node.'),
  query('phase', 'Of pods: the phase.'),
  query('pvcName', 'Of pods: a claim that they mount.'),
  query('serviceName', 'Of pods: the Service that selects them. It takes the right to get that Service.'),
  query('workspace', 'Of namespaces and roles of workspaces.'),
  query('manager', 'Of workspaces: the user who manages them.'),
  query('storageClassName', 'Of volumes and claims.'),
  query('volumeSnapshotClassName', 'Of snapshots and their contents.'),
  query('persistentVolumeClaimName', 'Of snapshots.'),
  query('volumeSnapshotName', 'Of contents of snapshots.'),
  query('volumeSnapshotNamespace', 'Of contents of snapshots.'),
  query('readyToUse', 'Of contents of snapshots: true or false.'),
  query('email', 'Of users.'),
  query('ingroup', 'Of users: a group that they are in.'),
  query('notingroup', 'Of users: a group that they are not in.'),
  query('rolename', 'Of bindings of workspaces.'),
  query('user', 'Of bindings of groups.'),
  query('type', 'Of login records.'),
]

const list = (summary: string, segments: readonly Parameter[]) =>
  listOperation(summary, { form: 'items', own: kindFilters, segments })

/** `/kapis/resources.<group domain>/v1alpha3`: what serveResources answers. */
export const resourcePaths = {
  '/{resource}': { get: list('A list of any kind, over all namespaces', [resource]) },
  '/{resource}/{name}': { get: objectOperation('An object that is in no namespace', [resource, name]) },
  '/namespaces/{namespace}/{resource}': {
    get: list('A list of any kind in a namespace', [namespace, resource]),
  },
  '/namespaces/{namespace}/{resource}/{name}': {
    get: objectOperation('An object in a namespace', [namespace, resource, name]),
  },
  ...componentPaths,
  ...registryPaths,
} satisfies Paths
