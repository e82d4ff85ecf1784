import { kubeErrors, operation } from '../../../../openapi/kube-errors.ts'
import {
  content,
  json,
  type Operation,
  ok,
  type Parameter,
  query,
  segment,
  success,
} from '../../../../openapi/operation.ts'
import { arrayOf, kubeObject, object, oneOfTexts, type Schema, text } from '../../../../openapi/schema.ts'
import { listOperation, objectOperation } from '../../../read/list-description.ts'
import { patchTypes } from '../../../write/json-body.ts'

const workspace = segment('workspace', 'The name of the workspace.')
const namespace = segment('namespace', 'The name of the namespace.')
const group = segment('group', 'The name of the group.')
const binding = segment('rolebinding', 'The name of the binding.')
const dryRun = query('dryRun', 'All: validates the request without storing anything.', oneOfTexts(['All']))

function write(
  summary: string,
  parameters: readonly Parameter[],
  body: Schema,
  types = ['application/json'],
): Operation {
  return operation(
    summary,
    { 200: { description: 'The object was written.', content: json(body) } },
    {
      parameters: [...parameters, dryRun],
      body: { content: content(types, body) },
      errors: [404, 409, 413, 415, 422],
    },
  )
}

function remove(summary: string, parameters: readonly Parameter[]): Operation {
  return operation(summary, success, { parameters: [...parameters, dryRun], errors: [404, 409] })
}

const list = (summary: string, page?: Schema) =>
  listOperation(summary, { form: 'items', segments: [workspace], ...(page === undefined ? {} : { page }) })
const memberships = arrayOf(object({ userName: text(), groupName: text() }))
const bindings = arrayOf(kubeObject)

/** OpenAPI descriptions of the group paths below `/kapis/iam.<group domain>/v1alpha2`. */
export const groupPaths = {
  '/workspaces/{workspace}/groups': {
    get: list('Groups of a workspace'),
    post: {
      ...write('Creates a group', [workspace], kubeObject),
      responses: {
        201: { description: 'The object was created.', content: json(kubeObject) },
        ...kubeErrors(404, 409, 413, 415, 422),
      },
    },
  },
  '/workspaces/{workspace}/groups/{group}': {
    get: objectOperation('A group', [workspace, group]),
    put: write('Replaces a group', [workspace, group], kubeObject),
    patch: write('Changes a group', [workspace, group], kubeObject, patchTypes),
    delete: remove('Removes a group, its members and the bindings that Kapis created for it', [
      workspace,
      group,
    ]),
  },
  '/workspaces/{workspace}/groupbindings': {
    get: list('The members of the groups of a workspace, by spec.groups of users'),
    post: {
      ...write('Adds users to groups', [workspace], memberships),
      responses: { ...ok(bindings), ...kubeErrors(404, 409, 413, 415, 422) },
    },
  },
  '/workspaces/{workspace}/groupbindings/{groupbinding}': {
    delete: remove('Removes a user from a group', [
      workspace,
      segment('groupbinding', 'The group, a colon and the user.'),
    ]),
  },
  '/workspaces/{workspace}/workspacerolebindings': {
    get: list('The roles of groups in a workspace'),
    post: write('Assigns roles in a workspace to groups', [workspace], bindings),
  },
  '/workspaces/{workspace}/workspacerolebindings/{rolebinding}': {
    delete: remove('Removes the roles of a group in a workspace', [workspace, binding]),
  },
  '/workspaces/{workspace}/rolebindings': {
    get: list('RoleBindings of groups in a workspace, as an array', bindings),
  },
  '/namespaces/{namespace}/rolebindings': {
    post: write('Assigns roles in a namespace to groups', [namespace], bindings),
  },
  '/namespaces/{namespace}/rolebindings/{rolebinding}': {
    delete: remove('Removes a RoleBinding', [namespace, binding]),
  },
} as const

export type GroupPath = keyof typeof groupPaths
