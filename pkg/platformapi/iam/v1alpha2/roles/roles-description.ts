import { operation } from '../../../../openapi/kube-errors.ts'
import {
  content,
  json,
  type Operation,
  ok,
  type Parameter,
  type PathRow,
  query,
  segment,
  success,
} from '../../../../openapi/operation.ts'
import { arrayOf, kubeObject, object, oneOfTexts, text } from '../../../../openapi/schema.ts'
import { listOperation, objectOperation } from '../../../read/list-description.ts'
import { patchTypes } from '../../../write/json-body.ts'

const workspace = segment('workspace', 'The name of the workspace.')
const namespace = segment('namespace', 'The name of the namespace.')
const dryRun = query('dryRun', 'All: validates the request without storing anything.', oneOfTexts(['All']))
const member = object({
  username: text(),
  roleRef: text('The name of a role in the workspace, namespace or cluster.'),
})
const asCaller =
  'Creates RBAC bindings as the caller: kube-apiserver does not allow granting more than the caller has.'

function roles(summary: string, segments: readonly Parameter[]): PathRow {
  return {
    get: listOperation(summary, { form: 'items', segments }),
    post: writeRole('Makes a role', segments, ['application/json']),
  }
}

function role(segments: readonly Parameter[], name: string): PathRow {
  const parameters = [...segments, segment(name, 'The name of the role.')]
  return {
    get: objectOperation('A role', parameters),
    put: writeRole('Replaces a role', parameters, ['application/json']),
    patch: writeRole('Changes a role', parameters, patchTypes),
    delete: operation('Removes a role', success, { parameters: [...parameters, dryRun], errors: [404, 409] }),
  }
}

function writeRole(summary: string, parameters: readonly Parameter[], types: readonly string[]): Operation {
  return operation(
    summary,
    {
      200: { description: 'The object was written.', content: json(kubeObject) },
      201: { description: 'The object was created.', content: json(kubeObject) },
    },
    {
      description:
        'Writes the native Role or ClusterRole behind it as the caller: kube-apiserver does not allow granting more than the caller has.',
      parameters: [...parameters, dryRun],
      body: { content: content(types, kubeObject) },
      errors: [404, 409, 413, 415, 422],
    },
  )
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
    post: operation('Assigns roles to users', ok(list), {
      description: asCaller,
      parameters: [...segments, dryRun],
      body: { content: json(list) },
      errors: [409, 413, 415, 422],
    }),
  }
}

function oneMember(segments: readonly Parameter[], name: string): PathRow {
  const parameters = [...segments, segment(name, 'The name of the user.')]
  return {
    get: objectOperation('A member', parameters),
    put: operation('Replaces the roles of a member', ok(member), {
      description: asCaller,
      parameters: [...parameters, dryRun],
      body: { content: json(member) },
      errors: [404, 409, 413, 415, 422],
    }) satisfies Operation,
    delete: operation('Removes a user from the bindings that make them a member', success, {
      parameters: [...parameters, dryRun],
      errors: [404, 409],
    }),
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
