import { operation } from '../../../../openapi/kube-errors.ts'
import { content, json, ok, type Paths, query, segment, success } from '../../../../openapi/operation.ts'
import { customRef, integer, object, oneOfTexts, text } from '../../../../openapi/schema.ts'
import { listOperation, pageOf } from '../../../read/list-description.ts'
import { dryRun } from '../../../write/write-description.ts'

const user = segment('user', 'The name of the user.')

/** Returns the OpenAPI descriptions of `/kapis/iam.<group domain>/v1alpha2/users`. */
export function iamPaths(groupDomain: string) {
  const group = `iam.${groupDomain}`
  const stored = customRef(group, 'v1alpha2', 'User')
  const record = customRef(group, 'v1alpha2', 'LoginRecord')
  const parameters = [user, dryRun]
  const written = ok(stored, 'The user, without the password.')
  const errors = [404, 409, 413, 415, 422]
  return {
    '/users': {
      get: listOperation('Users, without their passwords', {
        form: 'items',
        own: [
          query('email', 'Exact e-mail address of the user.'),
          query('ingroup', 'Group of the users.'),
          query('notingroup', 'Group that the users are not members of.'),
          query('globalrole', 'Platform role of the users.'),
          query('workspace', 'Workspace of the users, with the role in workspacerole.'),
          query('workspacerole', 'With workspace: the role of the members.'),
          query('cluster', 'true: members of the cluster.', oneOfTexts(['true'])),
          query('clusterrole', 'With cluster: the ClusterRole of the members.'),
          query('role', 'With namespace: the role of the members.'),
        ],
      }),
      post: operation(
        'Creates a user',
        { 201: { description: 'The user, without the password.', content: json(stored) } },
        {
          description: 'spec.password may be a password, which is stored as a hash, or a bcrypt hash.',
          parameters: [dryRun],
          body: { content: json(stored) },
          errors: [409, 413, 415, 422],
        },
      ),
    },
    '/users/{user}': {
      get: operation('A user, without the password; users may read their own', ok(stored), {
        parameters: [user],
        errors: [404],
      }),
      put: operation('Replaces a user; without spec.password the password is unchanged', written, {
        ...{ parameters, body: { content: json(stored) }, errors },
      }),
      patch: operation('Changes a user by a JSON Merge Patch (RFC 7396)', written, {
        parameters,
        body: { content: content(['application/merge-patch+json'], { type: 'object' }) },
        errors,
      }),
      delete: operation('Removes a user and ends their logins', success, { parameters, errors: [404] }),
    },
    '/users/{user}/password': {
      put: operation('Sets a password, which ends the logins of the user', success, {
        description:
          'Users who change their own password must send currentPassword, but need no permission. Too many wrong passwords lock the user (429).',
        parameters,
        body: { content: json(object({ currentPassword: text(), password: text() }, ['currentPassword'])) },
        errors: [404, 413, 415, 422],
      }),
    },
    '/users/{user}/factors': {
      delete: operation('Removes the second factors of a user, and ends all logins of the user', success, {
        parameters,
        errors: [404],
      }),
    },
    '/users/{user}/status': {
      put: operation('Enables, unlocks or disables a user', ok(stored), {
        parameters,
        body: { content: json(object({ status: object({ state: oneOfTexts(['Active', 'Disabled']) }) })) },
        errors: [404, 409, 413, 415],
      }),
    },
    '/users/{user}/loginrecords': {
      get: operation('Login records of a user', ok(pageOf(record)), {
        parameters: [
          user,
          query('page', 'Pages count from 1.', integer('', { minimum: 1, default: 1 })),
          query(
            'limit',
            'Number of records per page; -1 for all.',
            integer('', { minimum: -1, default: -1 }),
          ),
          query(
            'sortBy',
            'The only supported order.',
            oneOfTexts(['createTime'], '', { default: 'createTime' }),
          ),
          query('ascending', 'Whether to return the oldest first.', { type: 'boolean', default: false }),
          query('type', 'Type of the login.', oneOfTexts(['Password', 'OAuth', 'Token'])),
        ],
      }),
    },
  } satisfies Paths
}
