import { expect } from 'chai'
import { fieldsOf } from '../../../../kubeclient/object/object.ts'
import { native, rbac } from './fixtures.ts'
import {
  type HiddenWrite,
  itHides,
  itRejects,
  member,
  objects,
  type RejectedWrite,
  recordRules,
  serveRoleRoutes,
  workspaceOf,
  workspaces,
} from './served-fixtures.ts'

const post = (namespace: string, user: string, kind: string, name: string) => ({
  method: 'POST',
  path: namespace === '' ? `${native}/clusterrolebindings` : `${native}/namespaces/${namespace}/rolebindings`,
  body: {
    apiVersion: `${rbac}/v1`,
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: {
      generateName: `${user}-${name}-`,
      labels: { 'app.kubernetes.io/managed-by': 'kapis' },
    },
    roleRef: { apiGroup: rbac, kind, name },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  },
})
/** The requests that store a member of a workspace, which do not depend on its namespaces. */
const record = (workspace: string, user: string, role: string | undefined) => {
  const name = `kapis:workspace:${workspace}${role === undefined ? '' : `:${role}`}`
  const { apiVersion, kind, metadata } = workspaceOf(workspace)
  const ownerReferences = [{ apiVersion, kind, name: workspace, uid: metadata.uid }]
  const owned = { labels: { 'app.kubernetes.io/managed-by': 'kapis' }, ownerReferences }
  const verb = role === undefined ? 'member' : `member:${role}`
  const isThere = (objects.clusterroles ?? []).some(each => each.metadata.name === name)
  const made = {
    method: 'POST',
    path: `${native}/clusterroles`,
    body: {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name, ...owned },
      rules: recordRules(workspace, verb),
    },
  }
  return [
    { path: `${workspaces}/${workspace}` },
    ...(isThere ? [] : [made]),
    {
      method: 'POST',
      path: `${native}/clusterrolebindings`,
      body: {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: {
          generateName: `${user}-${name.replaceAll(':', '-')}-`,
          ...owned,
          labels: { ...owned.labels, 'kapis.io/workspace': workspace },
        },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
      },
    },
  ]
}
const remove = (path: string, name: string) => [
  { path: `${native}/${path}/${name}` },
  {
    method: 'DELETE',
    path: `${native}/${path}/${name}`,
    body: {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: `u-${name}`, resourceVersion: '3' },
    },
  },
]
/** The requests that remove a user from a binding with other subjects. */
const leave = (path: string, name: string, user: string) => {
  const all = [...(objects.rolebindings ?? []), ...(objects.clusterrolebindings ?? [])]
  const found = all.find(each => each.metadata.name === name)
  const subjects = (Array.isArray(found?.subjects) ? found.subjects : []).filter(
    subject => subject.name !== user,
  )
  const at = `${native}/${path}/${name}`
  return [{ path: at }, { method: 'PUT', path: at, body: { ...found, subjects } }]
}

describe('createMemberHandlers', () => {
  const served = serveRoleRoutes()
  const { calls, denied, send, write, rejectAfter } = served

  const writes: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    calls: readonly unknown[],
  ])[] = [
    ['POST', '/clustermembers', [member('new', 'cluster-viewer')], [post('', 'new', 'ClusterRole', 'view')]],
    ['POST', '/clustermembers', [member('new', 'own')], [post('', 'new', 'ClusterRole', 'own')]],
    [
      'POST',
      '/namespaces/b1/members',
      [member('new', 'operator'), member('other', 'deployer')],
      [post('b1', 'new', 'ClusterRole', 'edit'), post('b1', 'other', 'Role', 'deployer')],
    ],
    [
      'POST',
      '/namespaces/old/members',
      [member('new', 'operator')],
      [post('old', 'new', 'Role', 'operator')],
    ],
    // Roles that a user has in single namespaces of the workspace are not changed.
    [
      'PUT',
      '/workspaces/blue/workspacemembers/joe',
      member('joe', 'blue-admin'),
      [
        post('b1', 'joe', 'ClusterRole', 'admin'),
        post('b2', 'joe', 'ClusterRole', 'admin'),
        ...record('blue', 'joe', 'admin'),
      ],
    ],
    [
      'PUT',
      '/workspaces/blue/workspacemembers/ann',
      member('ann', 'blue-viewer'),
      [
        post('b1', 'ann', 'ClusterRole', 'view'),
        post('b2', 'ann', 'ClusterRole', 'view'),
        ...record('blue', 'ann', 'view'),
        ...remove('namespaces/b1/rolebindings', 'ann1'),
        ...remove('namespaces/b2/rolebindings', 'ann2'),
      ],
    ],
    // The user already has this role.
    ['POST', '/namespaces/b1/members', [member('ann', 'admin')], []],
    [
      'POST',
      '/workspaces/blue/workspacemembers',
      [member('joe', 'blue-viewer')],
      [post('b2', 'joe', 'ClusterRole', 'view'), ...record('blue', 'joe', 'view')],
    ],
    // A binding in a namespace that is being deleted can be deleted, but not created.
    [
      'POST',
      '/workspaces/going/workspacemembers',
      [member('new', 'going-admin')],
      [post('g1', 'new', 'ClusterRole', 'admin'), ...record('going', 'new', 'admin')],
    ],
    [
      'DELETE',
      '/workspaces/going/workspacemembers/joe',
      undefined,
      [...remove('namespaces/g1/rolebindings', 'joe3'), ...remove('namespaces/g2/rolebindings', 'joe4')],
    ],
    // A workspace without namespaces, and a role without permissions in namespaces.
    [
      'POST',
      '/workspaces/empty/workspacemembers',
      [member('new', 'empty-viewer'), member('ann', 'empty-admin')],
      record('empty', 'new', 'view'),
    ],
    [
      'POST',
      '/workspaces/blue/workspacemembers',
      [member('new', 'blue-regular')],
      record('blue', 'new', undefined),
    ],
    [
      'PUT',
      '/workspaces/empty/workspacemembers/ann',
      member('ann', 'empty-regular'),
      [...record('empty', 'ann', undefined), ...remove('clusterrolebindings', 'record1')],
    ],
    ['DELETE', '/workspaces/empty/workspacemembers/ann', undefined, remove('clusterrolebindings', 'record1')],
    [
      'PUT',
      '/namespaces/b1/members/joe',
      member('joe', 'admin'),
      [
        post('b1', 'joe', 'ClusterRole', 'admin'),
        ...leave('namespaces/b1/rolebindings', 'joe1', 'joe'),
        ...remove('namespaces/b1/rolebindings', 'joe2'),
      ],
    ],
    // A user has one role in a namespace: POST replaces it, as in KubeSphere.
    [
      'POST',
      '/namespaces/b1/members',
      [member('joe', 'admin')],
      [
        post('b1', 'joe', 'ClusterRole', 'admin'),
        ...leave('namespaces/b1/rolebindings', 'joe1', 'joe'),
        ...remove('namespaces/b1/rolebindings', 'joe2'),
      ],
    ],
    // The body carries the options: kube-apiserver ignores the query of a DELETE with a body.
    [
      'DELETE',
      '/namespaces/old/members/jane?dryRun=All',
      undefined,
      [
        { path: `${native}/namespaces/old/rolebindings/old2` },
        {
          method: 'DELETE',
          path: `${native}/namespaces/old/rolebindings/old2?dryRun=All`,
          body: {
            kind: 'DeleteOptions',
            apiVersion: 'v1',
            preconditions: { uid: 'u-old2', resourceVersion: '3' },
            dryRun: ['All'],
          },
        },
      ],
    ],
    ['DELETE', '/clustermembers/joe', undefined, leave('clusterrolebindings', 'two', 'joe')],
    [
      'DELETE',
      '/workspaces/blue/workspacemembers/ann',
      {},
      [...remove('namespaces/b1/rolebindings', 'ann1'), ...remove('namespaces/b2/rolebindings', 'ann2')],
    ],
  ]
  for (const [method, path, body, expected] of writes)
    it(`${method} ${path} ${JSON.stringify(body)} writes bindings as the caller`, async () => {
      const response = await write(method, path, body)
      expect(calls).to.deep.equal(expected)
      expect(response).to.deep.equal({
        code: 200,
        body: method === 'DELETE' ? { message: 'success' } : body,
      })
    })

  const refused: readonly RejectedWrite[] = [
    ['POST', '/clustermembers', {}, 400, 'the body must be a list of 1 to 256 members'],
    [
      'POST',
      '/clustermembers',
      [{ username: 'a' }],
      400,
      'invalid member: expected {"username": "NAME", "roleRef": "ROLE"}',
    ],
    [
      'POST',
      '/clustermembers',
      [member('system:admin', 'own')],
      400,
      'invalid username "system:admin": names that begin with system: belong to Kubernetes',
    ],
    [
      'POST',
      '/namespaces/b1/members',
      [member('a', 'admin'), member('b', 'none')],
      422,
      'RoleBinding.rbac.authorization.k8s.io "" is invalid: roleRef: unknown role "none"; supported: admin, operator, viewer',
    ],
    [
      'POST',
      '/workspaces/blue/workspacemembers',
      [member('a', 'red-regular')],
      422,
      'RoleBinding.rbac.authorization.k8s.io "" is invalid: roleRef: unknown role "red-regular"; supported: blue-admin, blue-self-provisioner, blue-viewer, blue-regular',
    ],
    ['POST', '/clustermembers', [member('a', 'own'), member('a', 'own')], 400, 'duplicate username "a"'],
    ['PUT', '/clustermembers/joe', member('ann', 'own'), 400, 'username must be the name in the path, "joe"'],
    ['DELETE', '/clustermembers/none', undefined, 404, 'clustermembers "none" not found'],
    [
      'DELETE',
      '/clustermembers/joe',
      { dryRun: ['All'] },
      400,
      'dryRun must be a query parameter here: ?dryRun=All',
    ],
    ['DELETE', '/namespaces/old/members/jane?dryRun=all', undefined, 400, 'dryRun must be All, not "all"'],
    ['DELETE', '/clustermembers/system:x', undefined, 404, 'clustermembers "system:x" not found'],
    [
      'DELETE',
      '/clustermembers/joe',
      { preconditions: { uid: 'x' } },
      400,
      'invalid preconditions: a member has no uid and no resourceVersion',
    ],
    [
      'DELETE',
      '/globalroles/platform-admin',
      undefined,
      404,
      'globalroles.iam.kapis.io "platform-admin" not found',
    ],
  ]
  itRejects(served, refused)

  const hidden: readonly HiddenWrite[] = [
    // Both for a user who has the role and for one who does not.
    ['POST', '/namespaces/b1/members', [member('ann', 'admin')], ['rolebindings b1']],
    ['POST', '/namespaces/b1/members', [member('joe', 'admin')], ['rolebindings b1']],
    ['POST', '/clustermembers', [member('joe', 'own')], ['clusterrolebindings']],
  ]
  itHides(served, hidden)

  it('stores no member of a workspace that does not exist', async () => {
    const none = [member('a', 'none-admin')]
    const { code, body } = await write('POST', '/workspaces/none/workspacemembers', none)
    expect([code, fieldsOf(body).message]).to.deep.equal([404, 'workspaces "none" not found'])
    expect(calls).to.deep.equal([{ path: `${workspaces}/none` }])
  })

  it('grants a member who cannot be stored a role in the existing namespaces, with a warning', async () => {
    rejectAfter(1)
    const members = [member('joe', 'blue-viewer')]
    const response = await send('POST', '/workspaces/blue/workspacemembers', members)
    expect([response.status, response.headers.get('warning')]).to.deep.equal([
      200,
      '299 - "joe has no role in later namespaces: escalation"',
    ])
  })

  it('does not reveal whether a role exists to a caller who may not list roles', async () => {
    denied.add('roles')
    for (const role of ['deployer', 'none'])
      expect(await write('POST', '/namespaces/b1/members', [member('a', role)])).to.include({ code: 403 })
    expect(calls).to.deep.equal([])
  })

  const failures: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    most: number,
    causes: unknown,
  ])[] = [
    ['POST', '/namespaces/b1/members', [member('a', 'viewer'), member('b', 'viewer')], 0, undefined],
    [
      'POST',
      '/namespaces/b1/members',
      [member('a', 'viewer'), member('b', 'viewer')],
      1,
      [
        { reason: 'Done', message: 'a: done: b1; not done: nothing', field: '[0]' },
        { reason: 'NotDone', message: 'b: done: nothing; not done: b1', field: '[1]' },
      ],
    ],
    [
      'PUT',
      '/namespaces/b1/members/joe',
      member('joe', 'admin'),
      3,
      [{ reason: 'PartlyDone', message: 'joe: done: b1, b1/joe1; not done: b1/joe2', field: '[0]' }],
    ],
    [
      'DELETE',
      '/workspaces/blue/workspacemembers/ann',
      undefined,
      2,
      [{ reason: 'PartlyDone', message: 'ann: done: b1/ann1; not done: b2/ann2', field: '[0]' }],
    ],
  ]
  for (const [method, path, body, most, causes] of failures)
    it(`${method} ${path} ${JSON.stringify(body)} reports what was written before call ${most + 1} failed`, async () => {
      rejectAfter(most)
      const response = await write(method, path, body)
      const { message, details } = fieldsOf(response.body)
      expect([response.code, fieldsOf(details).causes]).to.deep.equal([403, causes])
      if (causes !== undefined) expect(message).to.match(/^escalation: \d of \d writes were made before$/)
    })
})
