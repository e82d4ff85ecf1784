import { expect } from 'chai'
import { fieldsOf } from '../../../../kubeclient/object/object.ts'
import { native, object, rbac } from './fixtures.ts'
import {
  type HiddenWrite,
  itHides,
  itRejects,
  type RejectedWrite,
  rules,
  serveRoleRoutes,
} from './served-fixtures.ts'

describe('writeRole', () => {
  const served = serveRoleRoutes()
  const { calls, write } = served

  const writes: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    calls: readonly unknown[],
  ])[] = [
    [
      'POST',
      '/globalroles',
      { kind: 'GlobalRole', metadata: { name: 'g' }, rules },
      [
        {
          method: 'POST',
          path: `${native}/clusterroles`,
          body: {
            apiVersion: `${rbac}/v1`,
            kind: 'ClusterRole',
            metadata: { name: 'g', labels: { 'iam.kapis.io/scope': 'global' } },
            rules,
          },
        },
      ],
    ],
    [
      'PUT',
      '/namespaces/b1/roles/deployer',
      { metadata: { name: 'deployer' } },
      [
        {
          method: 'PUT',
          path: `${native}/namespaces/b1/roles/deployer`,
          body: {
            apiVersion: `${rbac}/v1`,
            kind: 'Role',
            metadata: { name: 'deployer', labels: {} },
            rules: [],
          },
        },
      ],
    ],
    // kube-apiserver warns about unknown fields; dropped here, they would be lost silently.
    [
      'PUT',
      '/namespaces/b1/roles/deployer',
      { metadata: { name: 'deployer' }, rules, rule: 1 },
      [
        {
          method: 'PUT',
          path: `${native}/namespaces/b1/roles/deployer`,
          body: {
            apiVersion: `${rbac}/v1`,
            kind: 'Role',
            metadata: { name: 'deployer', labels: {} },
            ...{ rules, rule: 1 },
          },
        },
      ],
    ],
    // A patch cannot move a role to another scope.
    [
      'PATCH',
      '/globalroles/operators',
      { metadata: { labels: { 'iam.kapis.io/scope': null } } },
      [
        {
          method: 'PATCH',
          path: `${native}/clusterroles/operators`,
          body: { metadata: { labels: { 'iam.kapis.io/scope': 'global' } } },
          contentType: 'application/merge-patch+json',
        },
      ],
    ],
    [
      'DELETE',
      '/workspaces/blue/workspaceroles/blue-readers',
      undefined,
      [{ method: 'DELETE', path: `${native}/clusterroles/blue-readers` }],
    ],
    // Special characters in a name must not become part of the query or of another path.
    [
      'DELETE',
      '/namespaces/b1%3Fdry%23/roles/x%3Fy',
      undefined,
      [{ method: 'DELETE', path: `${native}/namespaces/b1%3Fdry%23/roles/x%3Fy` }],
    ],
  ]
  for (const [method, path, body, expected] of writes)
    it(`${method} ${path} ${JSON.stringify(body)} writes the role as the caller`, async () => {
      const response = await write(method, path, body)
      expect(calls).to.deep.equal(expected)
      const { kind, apiVersion } = fieldsOf(response.body)
      const shown = path.startsWith('/globalroles')
        ? { kind: 'GlobalRole', apiVersion: 'iam.kapis.io/v1alpha2' }
        : { kind: 'Role', apiVersion: `${rbac}/v1` }
      expect(response.code).to.equal(200)
      if (method === 'DELETE') expect(response.body).to.deep.equal({ message: 'success' })
      else expect({ kind, apiVersion }).to.deep.equal(shown)
    })

  it('returns the role as it is read', async () => {
    const annotations = { 'iam.kapis.io/aggregation-roles': '[]' }
    const sent = { kind: 'WorkspaceRole', metadata: { name: 'blue-w', annotations }, rules }
    expect(await write('POST', '/workspaces/blue/workspaceroles', sent)).to.deep.equal({
      code: 200,
      body: {
        kind: 'WorkspaceRole',
        apiVersion: 'iam.kapis.io/v1alpha2',
        metadata: {
          ...object('', 'blue-w').metadata,
          annotations,
          labels: { 'kapis.io/workspace': 'blue' },
        },
        rules,
      },
    })
  })

  it('supports a dry run', async () => {
    const { code, body } = await write('POST', '/globalroles?dryRun=All', { metadata: { name: 'g' }, rules })
    const { kind, metadata } = fieldsOf(body)
    expect([code, kind, fieldsOf(metadata).name]).to.deep.equal([200, 'GlobalRole', 'g'])
  })

  const failed: readonly (readonly [path: string, named: string, group: string])[] = [
    ['/globalroles', 'globalroles', 'iam.kapis.io'],
    ['/workspaces/blue/workspaceroles', 'workspaceroles', 'iam.kapis.io'],
    ['/clusterroles', 'clusterroles', rbac],
    ['/namespaces/b1/roles', 'roles', rbac],
  ]
  for (const [path, named, group] of failed)
    it(`POST ${path} names ${named} in an error of kube-apiserver`, async () => {
      const { code, body } = await write('POST', path, { metadata: { name: 'taken' } })
      expect({ code, body }).to.deep.equal({
        code: 409,
        body: {
          ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
          message: `${named}.${group} "taken" already exists`,
          ...{ reason: 'AlreadyExists', details: { name: 'taken', group, kind: named }, code: 409 },
        },
      })
    })

  const refused: readonly RejectedWrite[] = [
    ['PUT', '/globalroles', {}, 405, 'the server does not allow this method on the requested resource'],
    ['DELETE', '/globalroles/own', undefined, 404, 'globalroles.iam.kapis.io "own" not found'],
    [
      'DELETE',
      '/workspaces/red/workspaceroles/blue-readers',
      undefined,
      404,
      'workspaceroles.iam.kapis.io "blue-readers" not found',
    ],
    [
      'POST',
      '/workspaces/blue/workspaceroles',
      { metadata: { name: 'blue-viewer' } },
      409,
      'workspaceroles.iam.kapis.io "blue-viewer" already exists',
    ],
    [
      'POST',
      '/namespaces/b1/roles',
      { metadata: { name: 'operator' } },
      409,
      'roles.rbac.authorization.k8s.io "operator" already exists',
    ],
    ['POST', '/globalroles', { kind: 'ClusterRole' }, 400, 'the body must be a GlobalRole'],
    ['POST', '/globalroles', { metadata: 5 }, 400, 'metadata must be an object'],
    ['PUT', '/clusterroles/own', { metadata: {} }, 400, 'metadata.name must be the name in the path, "own"'],
  ]
  itRejects(served, refused)

  const hidden: readonly HiddenWrite[] = [
    ['PUT', '/globalroles/operators', { metadata: { name: 'operators' } }, ['clusterroles']],
    ['PUT', '/globalroles/own', { metadata: { name: 'own' } }, ['clusterroles']],
    ['DELETE', '/workspaces/blue/workspaceroles/blue-readers', undefined, ['clusterroles']],
    ['DELETE', '/workspaces/red/workspaceroles/blue-readers', undefined, ['clusterroles']],
  ]
  itHides(served, hidden)
})
