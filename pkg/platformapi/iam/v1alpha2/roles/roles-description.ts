import { operation } from '../../../../openapi/kube-errors.ts'
import { ok, type Parameter, type PathRow, query, segment } from '../../../../openapi/operation.ts'
import { arrayOf, kubeObject, object, text } from '../../../../openapi/schema.ts'
import { listOperation, objectOperation } from '../../../read/list-description.ts'
import { patchTypes } from '../../../write/json-body.ts'
import { removeOperation, writeOperation } from '../../../write/write-description.ts'

const workspace = segment('workspace', 'The name of the workspace.')
const namespace = segment('namespace', 'The name of the namespace.')
const member = object({
  username: text(),
  roleRef: text('The name of a role in the workspace, namespace or cluster.'),
})
const asCaller =
  'Creates RBAC bindings as the caller: kube-apiserver does not allow granting more than the caller has.'

const asNative = {
  description:
    'Writes the native Role or ClusterRole behind it as the caller: kube-apiserver does not allow granting more than the caller has.',
}

function roles(summary: string, segments: readonly Parameter[]): PathRow {
  return {
    get: listOperation(summary, { form: 'items', segments }),
    post: writeOperation('Makes a role', segments, asNative),
  }
}

function role(segments: readonly Parameter[], name: string): PathRow {
  const parameters = [...segments, segment(name, 'The name of the role.')]
  return {
    get: objectOperation('A role', parameters),
    put: writeOperation('Replaces a role', parameters, asNative),
    patch: writeOperation('Changes a role', parameters, { ...asNative, types: patchTypes }),
    delete: removeOperation('Removes a role', parameters),
  }
}

function rolesOf(summary: string, segments: readonly Parameter[], user: string): PathRow {
  return {
    get: operation(summary, ok(arrayOf(kubeObject)), {
      description: 'Roles by name or by group. All users may request their own.',
      parameters: [...segments, segment(user, 'The name of the user.')],
      errors: [404],
    }),
  }
}

function members(summary: string, segments: readonly Parameter[], role: string): PathRow {
  const list = arrayOf(member)
  return {
    get: listOperation(summary, { form: 'items', segments, own: [query(role, 'A role of the users.')] }),
    post: writeOperation('Assigns roles to users', segments, {
      ...{ description: asCaller, body: list, responses: ok(list) },
      errors: [409, 413, 415, 422],
    }),
  }
}

function oneMember(segments: readonly Parameter[], name: string): PathRow {
  const parameters = [...segments, segment(name, 'The name of the user.')]
  return {
    get: objectOperation('A member', parameters),
    put: writeOperation('Replaces the roles of a member', parameters, {
      ...{ description: asCaller, body: member, responses: ok(member) },
    }),
    delete: removeOperation('Removes a user from the bindings that make them a member', parameters),
  }
}

/** OpenAPI descriptions of roles and members below `/kapis/iam.<group domain>/v1alpha2`. */
export const rolePaths = {
  '/globalroles': roles('Roles of the whole platform', []),
  '/globalroles/{globalrole}': role([], 'globalrole'),
  '/users/{user}/globalroles': rolesOf('The platform roles of a user', [], 'user'),
  '/clusterroles': roles('Roles of the cluster', []),
  '/clusterroles/{clusterrole}': role([], 'clusterrole'),
  '/clustermembers': members('Users who have a role in the whole cluster', [], 'clusterrole'),
  '/clustermembers/{clustermember}': oneMember([], 'clustermember'),
  '/clustermembers/{clustermember}/clusterroles': rolesOf('The roles of a member', [], 'clustermember'),
  '/workspaces/{workspace}/workspaceroles': roles('Roles of a workspace', [workspace]),
  '/workspaces/{workspace}/workspaceroles/{workspacerole}': role([workspace], 'workspacerole'),
  '/workspaces/{workspace}/workspacemembers': members(
    'Users who have a role in namespaces of a workspace',
    [workspace],
    'workspacerole',
  ),
  '/workspaces/{workspace}/workspacemembers/{workspacemember}': oneMember([workspace], 'workspacemember'),
  '/workspaces/{workspace}/workspacemembers/{workspacemember}/workspaceroles': rolesOf(
    'The roles of a member',
    [workspace],
    'workspacemember',
  ),
  '/namespaces/{namespace}/roles': roles('Roles of a namespace', [namespace]),
  '/namespaces/{namespace}/roles/{role}': role([namespace], 'role'),
  '/namespaces/{namespace}/members': members('Users who have a role in a namespace', [namespace], 'role'),
  '/namespaces/{namespace}/members/{member}': oneMember([namespace], 'member'),
  '/namespaces/{namespace}/members/{member}/roles': rolesOf('The roles of a member', [namespace], 'member'),
} satisfies Readonly<Record<string, PathRow>>

export type RolePath = keyof typeof rolePaths
