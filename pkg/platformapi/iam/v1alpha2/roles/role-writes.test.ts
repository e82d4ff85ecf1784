import { expect } from 'chai'
import { native, rbac } from './fixtures.ts'
import {
  type HiddenWrite,
  itHides,
  itRefuses,
  type RefusedWrite,
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
    [
      'DELETE',
      '/workspaces/blue/workspaceroles/blue-readers',
      undefined,
      [{ method: 'DELETE', path: `${native}/clusterroles/blue-readers` }],
    ],
    // Nothing of a name becomes a part of a query or of another path.
    [
      'DELETE',
      '/namespaces/b1%3Fdry%23/roles/x%3Fy',
      undefined,
      [{ method: 'DELETE', path: `${native}/namespaces/b1%3Fdry%23/roles/x%3Fy` }],
    ],
  ]
  for (const [method, path, body, expected] of writes)
    it(`${method} ${path} ${JSON.stringify(body)} is written as the caller`, async () => {
      const answer = await write(method, path, body)
      expect(calls).to.deep.equal(expected)
      // The fields of a role that kube-apiserver returns.
      expect(answer).to.deep.equal({ code: 200, body: method === 'DELETE' ? { message: 'success' } : {} })
    })

  const refused: readonly RefusedWrite[] = [
    ['PUT', '/globalroles', {}, 405, 'the server does not allow this method on the requested resource'],
    ['DELETE', '/globalroles/own', undefined, 404, 'globalroles.iam.kapis.io "own" not found'],
    [
      'DELETE',
      '/workspaces/red/workspaceroles/blue-readers',
      undefined,
      404,
      'workspaceroles.iam.kapis.io "blue-readers" not found',
    ],
    ['POST', '/globalroles', { kind: 'ClusterRole' }, 400, 'the body must be a GlobalRole as a JSON object'],
    ['PUT', '/clusterroles/own', { metadata: {} }, 400, 'metadata.name must be the name in the path, "own"'],
  ]
  itRefuses(served, refused)

  const hidden: readonly HiddenWrite[] = [
    ['PUT', '/globalroles/operators', { metadata: { name: 'operators' } }, ['clusterroles']],
    ['PUT', '/globalroles/own', { metadata: { name: 'own' } }, ['clusterroles']],
    ['DELETE', '/workspaces/blue/workspaceroles/blue-readers', undefined, ['clusterroles']],
    ['DELETE', '/workspaces/red/workspaceroles/blue-readers', undefined, ['clusterroles']],
  ]
  itHides(served, hidden)
})
