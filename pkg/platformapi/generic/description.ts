import { operation } from '../../openapi/kube-errors.ts'
import {
  content,
  json,
  type Operation,
  type Parameter,
  type PathRow,
  type Paths,
  segment,
  under,
} from '../../openapi/operation.ts'
import { kubeObject, status } from '../../openapi/schema.ts'
import { listOperation, objectOperation } from '../read/list-description.ts'

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]
const asCaller =
  'Proxied to kube-apiserver as the caller, with the parameters and responses of kube-apiserver.'

function forwarded(
  summary: string,
  parameters: readonly Parameter[],
  body: Operation['body'] | undefined,
): Operation {
  const done = { description: asCaller, content: json({ anyOf: [kubeObject, status] }) }
  return operation(
    summary,
    { 200: done, 201: done, 202: done },
    {
      ...{ description: asCaller, parameters, errors: [404, 405, 409, 413, 415, 422] },
      ...(body === undefined ? {} : { body }),
    },
  )
}

function store(where: string, segments: readonly Parameter[]): PathRow {
  return {
    get: listOperation(`Lists any resource ${where}`, { form: 'kind', segments }),
    post: forwarded('Creates an object', segments, { content: json(kubeObject) }),
    delete: forwarded('Deletes the selected objects', segments, undefined),
  }
}

function single(where: string, segments: readonly Parameter[]): PathRow {
  return {
    get: objectOperation(`Reads an object ${where}`, segments),
    put: forwarded('Replaces an object', segments, { content: json(kubeObject) }),
    patch: forwarded('Patches an object', segments, { content: content(patchTypes, {}) }),
    delete: forwarded('Deletes an object', segments, undefined),
  }
}

function below(before: readonly Parameter[]): Paths {
  const resource = [...before, segment('resource', 'Plural name of the resource, such as deployments.')]
  const name = segment('name', 'The name of the object.')
  const namespace = segment('namespace', 'The namespace.')
  return {
    '/{resource}': store('in all namespaces', resource),
    '/{resource}/{name}': single('that is cluster-scoped', [...resource, name]),
    '/namespaces/{namespace}/{resource}': store('in a namespace', [namespace, ...resource]),
    '/namespaces/{namespace}/{resource}/{name}': single('in a namespace', [namespace, ...resource, name]),
  }
}

const groupVersion = [
  segment(
    'group',
    'An API group of kube-apiserver, or of a platform component with its own response format.',
  ),
  segment('version', 'A version of the group.'),
]

/**
 * OpenAPI descriptions of the paths in resources.ts: every resource of kube-apiserver under its own
 * group, and the core group under /kapi.
 */
export const anyPaths: Paths = {
  ...under('/kapis/{group}/{version}', below(groupVersion)),
  ...under('/kapi/v1', below([])),
}
