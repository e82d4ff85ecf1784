import { json, ok, segment } from '../../../../openapi/operation.ts'
import { arrayOf, kubeObject, object, type Schema, text } from '../../../../openapi/schema.ts'
import { listOperation, objectOperation } from '../../../read/list-description.ts'
import { patchTypes } from '../../../write/json-body.ts'
import { changed, created, removeOperation, writeOperation } from '../../../write/write-description.ts'

const workspace = segment('workspace', 'The name of the workspace.')
const namespace = segment('namespace', 'The name of the namespace.')
const group = segment('group', 'The name of the group.')
const binding = segment('rolebinding', 'The name of the binding.')

const list = (summary: string, page?: Schema) =>
  listOperation(summary, { form: 'items', segments: [workspace], ...(page === undefined ? {} : { page }) })
const memberships = arrayOf(object({ userName: text(), groupName: text() }))
const bindings = arrayOf(kubeObject)
const written = { 200: { description: 'The object was written.', content: json(bindings) } }

/** OpenAPI descriptions of the group paths below `/kapis/iam.<group domain>/v1alpha2`. */
export const groupPaths = {
  '/workspaces/{workspace}/groups': {
    get: list('Groups of a workspace'),
    post: writeOperation('Creates a group', [workspace], { responses: created }),
  },
  '/workspaces/{workspace}/groups/{group}': {
    get: objectOperation('A group', [workspace, group]),
    put: writeOperation('Replaces a group', [workspace, group], { responses: changed }),
    patch: writeOperation('Changes a group', [workspace, group], {
      types: patchTypes,
      responses: changed,
    }),
    delete: removeOperation('Removes a group, its members and the bindings that Kapis created for it', [
      workspace,
      group,
    ]),
  },
  '/workspaces/{workspace}/groupbindings': {
    get: list('The members of the groups of a workspace, by spec.groups of users'),
    post: writeOperation('Adds users to groups', [workspace], { body: memberships, responses: ok(bindings) }),
  },
  '/workspaces/{workspace}/groupbindings/{groupbinding}': {
    delete: removeOperation('Removes a user from a group', [
      workspace,
      segment('groupbinding', 'The group, a colon and the user.'),
    ]),
  },
  '/workspaces/{workspace}/workspacerolebindings': {
    get: list('The roles of groups in a workspace'),
    post: writeOperation('Assigns roles in a workspace to groups', [workspace], {
      body: bindings,
      responses: written,
    }),
  },
  '/workspaces/{workspace}/workspacerolebindings/{rolebinding}': {
    delete: removeOperation('Removes the roles of a group in a workspace', [workspace, binding]),
  },
  '/workspaces/{workspace}/rolebindings': {
    get: list('RoleBindings of groups in a workspace, as an array', bindings),
  },
  '/namespaces/{namespace}/rolebindings': {
    post: writeOperation('Assigns roles in a namespace to groups', [namespace], {
      body: bindings,
      responses: written,
    }),
  },
  '/namespaces/{namespace}/rolebindings/{rolebinding}': {
    delete: removeOperation('Removes a RoleBinding', [namespace, binding]),
  },
} as const

export type GroupPath = keyof typeof groupPaths
