import { callers, kubeErrors } from '../../../../openapi/kube-errors.ts'
import { content, json, ok, type Paths, query, segment, success } from '../../../../openapi/operation.ts'
import { customRef, integer, object, oneOfTexts, text } from '../../../../openapi/schema.ts'
import { listOperation, pageOf } from '../../../read/list-description.ts'

const user = segment('user', 'The name of the user.')
const dryRun = query('dryRun', 'All: validates the request without storing anything.', oneOfTexts(['All']))

/** Returns the OpenAPI descriptions of `/kapis/iam.<group domain>/v1alpha2/users`. */
export function iamPaths(groupDomain: string) {
  const group = `iam.${groupDomain}`
  const stored = customRef(group, 'v1alpha2', 'User')
  const record = customRef(group, 'v1alpha2', 'LoginRecord')
  const written = { ...ok(stored, 'The user, without the password.'), ...kubeErrors(404, 409, 413, 415, 422) }
  return {
    '/users': {
      get: listOperation('Users, without their passwords', {
        form: 'items',
        own: [
          query('email', 'The whole address.'),
          query('ingroup', 'A group that they are in.'),
          query('notingroup', 'A group that they are not in.'),
          query('globalrole', 'Their platform role.'),
          query('workspace', 'A workspace whose members they are, with the role in workspacerole.'),
          query('workspacerole', 'With workspace: their role in it.'),
          query('cluster', 'true: members of the cluster.', oneOfTexts(['true'])),
          query('clusterrole', 'With cluster: their role.'),
          query('role', 'With namespace: their role in it.'),
        ],
      }),
      post: {
        summary: 'Makes a user',
        description: 'spec.password may be a password, which is stored as a hash, or a bcrypt hash.',
        parameters: [dryRun],
        body: { content: json(stored) },
        answers: {
          201: { description: 'The user, without the password.', content: json(stored) },
          ...kubeErrors(409, 413, 415, 422),
        },
        security: callers,
      },
    },
    '/users/{user}': {
      get: {
        summary: 'A user, without the password; users may read themselves',
        parameters: [user],
        answers: { ...ok(stored), ...kubeErrors(404) },
        security: callers,
      },
      put: {
        summary: 'Replaces a user; without spec.password the password is unchanged',
        parameters: [user, dryRun],
        body: { content: json(stored) },
        answers: written,
        security: callers,
      },
      patch: {
        summary: 'Changes a user by a JSON Merge Patch (RFC 7396)',
        parameters: [user, dryRun],
        body: { content: content(['application/merge-patch+json'], { type: 'object' }) },
        answers: written,
        security: callers,
      },
      delete: {
        summary: 'Removes a user and ends their logins',
        parameters: [user, dryRun],
        answers: { ...success, ...kubeErrors(404) },
        security: callers,
      },
    },
    '/users/{user}/password': {
      put: {
        summary: 'Sets a password, which ends the logins of the user',
        description:
          'Changing the own password requires currentPassword and no permission. Too many wrong ones lock the user: 429.',
        parameters: [user, dryRun],
        body: { content: json(object({ currentPassword: text(), password: text() }, ['currentPassword'])) },
        answers: { ...success, ...kubeErrors(404, 413, 415, 422) },
        security: callers,
      },
    },
    '/users/{user}/factors': {
      delete: {
        summary: 'Removes the second factors of a user, and ends the logins of the user',
        parameters: [user, dryRun],
        answers: { ...success, ...kubeErrors(404) },
        security: callers,
      },
    },
    '/users/{user}/status': {
      put: {
        summary: 'Enables, unlocks or disables a user',
        parameters: [user, dryRun],
        body: { content: json(object({ status: object({ state: oneOfTexts(['Active', 'Disabled']) }) })) },
        answers: { ...ok(stored), ...kubeErrors(404, 409, 413, 415) },
        security: callers,
      },
    },
    '/users/{user}/loginrecords': {
      get: {
        summary: 'The logins of a user that are remembered',
        parameters: [
          user,
          query('page', 'Pages count from 1.', integer('', { minimum: 1, default: 1 })),
          query('limit', 'Records of a page; -1 is everything.', integer('', { minimum: -1, default: -1 })),
          query('sortBy', 'There is one order.', oneOfTexts(['createTime'], '', { default: 'createTime' })),
          query('ascending', 'The oldest first.', { type: 'boolean', default: false }),
          query('type', 'How the login was.', oneOfTexts(['Password', 'OAuth', 'Token'])),
        ],
        answers: { ...ok(pageOf(record)), ...kubeErrors() },
        security: callers,
      },
    },
  } satisfies Paths
}
