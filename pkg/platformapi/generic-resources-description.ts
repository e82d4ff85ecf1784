import { callers, kubeErrors } from '../openapi/kube-errors.ts'
import {
  content,
  json,
  type Operation,
  type Parameter,
  type PathRow,
  type Paths,
  segment,
  under,
} from '../openapi/operation.ts'
import { kubeObject, status } from '../openapi/schema.ts'
import { listOperation, objectOperation } from './list-description.ts'

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]
const asCaller = 'kube-apiserver handles it as the caller, with its own parameters and responses.'

function forwarded(
  summary: string,
  parameters: readonly Parameter[],
  body: Operation['body'] | undefined,
): Operation {
  const done = { description: asCaller, content: json({ anyOf: [kubeObject, status] }) }
  return {
    summary,
    description: asCaller,
    parameters,
    ...(body === undefined ? {} : { body }),
    answers: { 200: done, 201: done, 202: done, ...kubeErrors(404, 405, 409, 413, 415, 422) },
    security: callers,
  }
}

function collection(where: string, segments: readonly Parameter[]): PathRow {
  return {
    get: listOperation(`A list of any resource ${where}`, { form: 'kind', segments }),
    post: forwarded('Makes an object', segments, { content: json(kubeObject) }),
    delete: forwarded('Deletes what the selectors select', segments, undefined),
  }
}

function single(where: string, segments: readonly Parameter[]): PathRow {
  return {
    get: objectOperation(`An object ${where}`, segments),
    put: forwarded('Replaces an object', segments, { content: json(kubeObject) }),
    patch: forwarded('Changes an object', segments, { content: content(patchTypes, {}) }),
    delete: forwarded('Deletes an object', segments, undefined),
  }
}

function below(before: readonly Parameter[]): Paths {
  const resource = [...before, segment('resource', 'A plural, such as deployments.')]
  const name = segment('name', 'The name of the object.')
  const namespace = segment('namespace', 'The namespace.')
  return {
    '/{resource}': collection('over all namespaces', resource),
    '/{resource}/{name}': single('that is in no namespace', [...resource, name]),
    '/namespaces/{namespace}/{resource}': collection('in a namespace', [namespace, ...resource]),
    '/namespaces/{namespace}/{resource}/{name}': single('in a namespace', [namespace, ...resource, name]),
  }
}

const groupVersion = [
  segment(
    'group',
    'An API group of kube-apiserver, or of a component of the platform, which answers in its own words.',
  ),
  segment('version', 'A version of the group.'),
]

/** What serveAny answers: every resource of kube-apiserver, under its own group, and the core group under /kapi. */
export const anyPaths: Paths = {
  ...under('/kapis/{group}/{version}', below(groupVersion)),
  ...under('/kapi/v1', below([])),
}
