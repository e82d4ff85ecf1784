import { type PathRow, query, segment } from '../../openapi/operation.ts'
import { anyObject, kubeRef } from '../../openapi/schema.ts'
import { listOperation, objectOperation } from '../read/list-description.ts'
import { patchTypes } from '../write/json-body.ts'
import { removeOperation, writeOperation } from '../write/write-description.ts'
import type { ClusterViewPath } from './clusters.ts'
import type { ViewPath } from './views.ts'

const workspace = segment('workspace', 'The name of the workspace.')
const namespace = segment('namespace', 'The name of the namespace.')
const ofNamespaces = [query('workspace', 'The workspace of the namespaces.')]
const ofWorkspaces = [query('manager', 'The manager of the workspaces.')]
const asCaller = { description: 'kube-apiserver authorizes the caller, as for its own objects.' }
const template = anyObject(
  'A WorkspaceTemplate of tenant.<group domain>/v1alpha2: spec.template.spec is the spec of the Workspace, spec.template.metadata adds labels and annotations. Placement on other clusters and overrides are rejected.',
)

const ofTemplate = { ...asCaller, body: template }
const ofNamespace = { ...asCaller, body: kubeRef('io.k8s.api.core.v1.Namespace') }

const templates: PathRow = {
  get: listOperation('WorkspaceTemplates: the workspaces that the caller sees', {
    form: 'items',
    own: ofWorkspaces,
  }),
  post: writeOperation('Creates a workspace', [], ofTemplate),
}
const oneTemplate: PathRow = {
  get: objectOperation('A workspace as a WorkspaceTemplate', [workspace]),
  put: writeOperation('Replaces a workspace', [workspace], ofTemplate),
  patch: writeOperation('Changes a workspace', [workspace], { ...ofTemplate, types: patchTypes }),
  delete: removeOperation('Removes a workspace; its namespaces stay', [workspace], asCaller),
}

/** OpenAPI descriptions of `/kapis/tenant.<group domain>/v1alpha2`, without searches. */
export const workspacePaths: Readonly<Record<ViewPath<'v1alpha2'>, PathRow>> = {
  '/workspaces': templates,
  '/workspaces/{workspace}': oneTemplate,
  '/namespaces': {
    get: listOperation('The namespaces that the caller sees', { form: 'items', own: ofNamespaces }),
  },
  '/workspaces/{workspace}/namespaces': {
    get: listOperation('The namespaces of a workspace', { form: 'items', segments: [workspace] }),
    post: writeOperation('Creates a namespace in a workspace', [workspace], {
      ...ofNamespace,
      description:
        'As the caller, or, for callers who may only create workspaces/namespaces of this workspace, with its name and description only; they become administrators of it.',
    }),
  },
  '/workspaces/{workspace}/namespaces/{namespace}': {
    get: objectOperation('A namespace of a workspace', [workspace, namespace]),
    put: writeOperation(
      'Replaces a namespace of a workspace; it cannot be moved to another one',
      [workspace, namespace],
      ofNamespace,
    ),
    patch: writeOperation('Changes a namespace of a workspace', [workspace, namespace], {
      ...asCaller,
      body: anyObject(''),
      types: patchTypes,
    }),
    delete: removeOperation('Removes a namespace of a workspace', [workspace, namespace], asCaller),
  },
  '/workspaces/{workspace}/workspacemembers/{workspacemember}/namespaces': {
    get: listOperation('Lists the namespaces of a workspace that both the caller and a user may see', {
      form: 'items',
      segments: [
        workspace,
        segment(
          'workspacemember',
          'A user; any other than the caller requires permission to list role bindings.',
        ),
      ],
    }),
  },
}

/** OpenAPI descriptions of the view of clusters, in the same group and version. */
export const clusterPaths: Readonly<Record<ClusterViewPath, PathRow>> = {
  '/clusters': {
    get: listOperation('Clusters that the caller may get, with member clusters enabled', { form: 'items' }),
  },
  '/workspaces/{workspace}/clusters': {
    get: listOperation('Clusters of a workspace: host, with member clusters enabled', {
      form: 'items',
      segments: [workspace],
    }),
  },
}

/** OpenAPI descriptions of `/kapis/tenant.<group domain>/v1alpha3`. */
export const templatePaths: Readonly<Record<ViewPath<'v1alpha3'>, PathRow>> = {
  '/workspacetemplates': templates,
  '/workspacetemplates/{workspace}': oneTemplate,
  '/workspaces': {
    get: listOperation('The workspaces that the caller sees', { form: 'items', own: ofWorkspaces }),
  },
  '/workspaces/{workspace}': { get: objectOperation('A workspace', [workspace]) },
}
