import { expect } from 'chai'
import { fieldsOf, itemsOf } from '../../../../kubeclient/object/object.ts'
import { native, object, rbac } from './fixtures.ts'
import { objects, rules, serveRoleRoutes } from './served-fixtures.ts'

const blueRoles = ['blue-admin', 'blue-self-provisioner', 'blue-viewer', 'blue-regular', 'blue-readers']

describe('createRoleRoutes', () => {
  const { calls, denied, get, names } = serveRoleRoutes()

  const lists: readonly (readonly [path: string, names: readonly string[]])[] = [
    ['/globalroles', ['platform-admin', 'platform-regular', 'operators']],
    ['/globalroles/platform-admin', ['platform-admin']],
    [
      '/clusterroles',
      [
        ...['cluster-admin', 'cluster-viewer', 'admin', 'edit', 'kapis:visible-namespaces', 'own', 'view'],
        // Has the name of a record but other rules, so it is a role that grants permissions.
        'kapis:workspace:empty:edit',
      ],
    ],
    ['/workspaces/blue/workspaceroles', blueRoles],
    // `show` of these tests ignores the selectors.
    [
      '/workspaces/blue/workspaceroles?label=iam.kapis.io/role-template=true',
      [...blueRoles, 'template-users'],
    ],
    [
      '/workspaces/blue/workspaceroles?labelSelector=iam.kapis.io%2Frole-template%3Dtrue',
      [...blueRoles, 'template-users'],
    ],
    ['/workspaces/blue/workspaceroles?label=team=a', blueRoles],
    ['/workspaces/blue/workspaceroles/template-users', ['template-users']],
    ['/namespaces/b1/roles', ['admin', 'operator', 'viewer', 'deployer', 'template-view']],
    ['/namespaces/free/roles', ['admin', 'operator', 'viewer', 'template-view']],
    ['/namespaces/old/roles', ['admin', 'operator', 'own', 'viewer', 'template-view']],
    ['/clusterroles/kapis:visible-namespaces', ['kapis:visible-namespaces']],
    ['/clustermembers', ['joe=own', 'ann=own', 'kim=kapis:workspace:empty:edit']],
    ['/namespaces/b1/members', ['ann=admin', 'joe=deployer,viewer']],
    ['/namespaces/free/members', []],
    ['/namespaces/old/members', ['kim=operator', 'jane=own', 'kim@x.test=viewer']],
    ['/namespaces/old/members/kim@x.test', ['kim@x.test=viewer']],
    // The binding refers to a ClusterRole, not to the Role with the same name.
    ['/namespaces/old/members/jane/roles', []],
    ['/workspaces/blue/workspacemembers', ['ann=blue-admin', 'joe=blue-regular']],
    ['/workspaces/going/workspacemembers', ['ann=going-viewer', 'joe=going-viewer']],
    ['/workspaces/none/workspacemembers', []],
    ['/workspaces/empty/workspacemembers', ['ann=empty-admin', 'joe=empty-regular']],
    ['/workspaces/empty/workspacemembers/joe/workspaceroles', ['empty-regular']],
    // One user has the role by a group, the other by name.
    ['/users/root/globalroles', ['platform-admin']],
    ['/users/joe/globalroles', ['operators']],
    ['/users/jane/globalroles', []],
    ['/clustermembers/root/clusterroles', ['cluster-admin']],
    ['/clustermembers/joe/clusterroles', ['own']],
    ['/namespaces/b1/members/jane/roles', ['viewer']],
    ['/namespaces/b1/members/joe/roles', ['viewer', 'deployer']],
    ['/workspaces/blue/workspacemembers/jane/workspaceroles', ['blue-regular']],
  ]
  for (const [path, expected] of lists)
    it(`GET ${path} returns ${expected.join(', ') || 'nothing'}`, async () => {
      const found = await names(path)
      expect(Array.isArray(found) ? [...found].sort() : found).to.deep.equal([...expected].sort())
      expect(calls).to.deep.equal([])
    })

  it('returns a GlobalRole with the rules of the ClusterRole, and the annotations of consoles', async () => {
    const { body } = await get('/globalroles/platform-admin')
    const actions = ['view', 'create', 'edit', 'delete', 'manage']
    const modules = ['clusters', 'workspaces', 'users', 'roles', 'platform-settings']
    expect(body).to.deep.equal({
      path: '/kapis/iam.kapis.io/v1alpha2/globalroles/platform-admin',
      what: {
        plural: 'globalroles',
        kind: 'GlobalRole',
        namespaced: false,
        group: 'iam.kapis.io',
        version: 'v1alpha2',
      },
      items: [
        {
          kind: 'GlobalRole',
          apiVersion: 'iam.kapis.io/v1alpha2',
          metadata: {
            ...object('', 'cluster-admin').metadata,
            name: 'platform-admin',
            annotations: {
              'kapis.io/creator': 'system',
              'iam.kapis.io/role-template-rules': JSON.stringify(
                Object.fromEntries(modules.map(module => [module, actions])),
              ),
            },
          },
          rules,
        },
      ],
    })
  })

  for (const [path, workspace] of [
    ['/workspaces/blue/workspaceroles', 'blue'],
    ['/workspaces/blue/workspacemembers/jane/workspaceroles', 'blue'],
    ['/namespaces/b1/roles', undefined],
  ] as const)
    it(`labels the roles at ${path} with ${workspace ?? 'no workspace'}`, async () => {
      const { body } = await get(path)
      const labels = itemsOf(Array.isArray(body) ? body : fieldsOf(body).items)
        .map(item => fieldsOf(fieldsOf(item).metadata).labels)
        .map(each => fieldsOf(each)['kapis.io/workspace'])
      expect([...new Set(labels)]).to.deep.equal([workspace])
    })

  it('returns members as users to callers who may read users, and as names to others', async () => {
    const user = objects.users?.[1]
    const annotations = { 'iam.kapis.io/clusterrole': 'own' }
    const first = async () => fieldsOf((await get('/clustermembers/ann')).body).items
    expect(await first()).to.deep.equal([
      {
        ...user,
        apiVersion: `${rbac}/v1`,
        metadata: { ...user?.metadata, selfLink: `${native}/users/ann`, annotations },
      },
    ])
    denied.add('users')
    expect(await first()).to.deep.equal([
      {
        kind: 'User',
        apiVersion: 'iam.kapis.io/v1alpha2',
        metadata: {
          ...{ name: 'ann', uid: '', resourceVersion: '0', creationTimestamp: '1970-01-01T00:00:00Z' },
          annotations,
        },
      },
    ])
  })

  const permissions: readonly (readonly [path: string, denied: readonly string[], code: number])[] = [
    ['/globalroles', ['clusterroles'], 403],
    ['/clusterroles/own', ['clusterroles'], 403],
    ['/namespaces/b1/roles', ['roles b1'], 403],
    ['/namespaces/b1/roles', ['clusterroles'], 200],
    ['/clustermembers', ['clusterrolebindings'], 403],
    ['/namespaces/b1/members', ['rolebindings b1'], 403],
    ['/namespaces/b1/members', ['rolebindings ', 'clusterrolebindings'], 200],
    ['/workspaces/blue/workspacemembers', ['rolebindings '], 200],
    ['/workspaces/blue/workspacemembers', ['rolebindings ', 'rolebindings b2'], 403],
    ['/workspaces/going/workspacemembers', ['rolebindings ', 'rolebindings g2'], 403],
    ['/workspaces/none/workspacemembers', ['rolebindings '], 403],
    ['/users/joe/globalroles', ['clusterrolebindings'], 403],
    ['/users/none/globalroles', ['clusterrolebindings'], 403],
    ['/users/none/globalroles', [], 404],
    ['/users/none/globalroles', ['users'], 200],
    ['/users/joe/globalroles', ['users'], 200],
    // All users may read their own roles.
    ['/users/jane/globalroles', ['clusterrolebindings', 'clusterroles'], 200],
    ['/clustermembers/jane/clusterroles', ['clusterrolebindings'], 200],
    ['/namespaces/b1/members/jane/roles', ['rolebindings'], 200],
    ['/workspaces/blue/workspacemembers/jane/workspaceroles', ['rolebindings'], 200],
  ]
  for (const [path, without, code] of permissions)
    it(`GET ${path} without permission to list ${without.join(', ') || 'nothing'} is ${code}`, async () => {
      for (const right of without) denied.add(right)
      expect((await get(path)).code).to.equal(code)
    })

  it('omits the rules of ClusterRoles for a caller who may not read them', async () => {
    denied.add('clusterroles')
    const { body } = await get('/workspaces/blue/workspaceroles')
    const { items } = fieldsOf(body)
    expect(Array.isArray(items) && items.map(each => [each.metadata.name, each.rules])).to.deep.equal(
      ['admin', 'self-provisioner', 'viewer', 'regular'].map(name => [`blue-${name}`, []]),
    )
  })

  it('returns no stored members to a caller who may not list ClusterRoleBindings', async () => {
    denied.add('clusterrolebindings')
    for (const path of ['', '/joe/workspaceroles'])
      expect(await names(`/workspaces/empty/workspacemembers${path}`), path).to.deep.equal([])
  })

  it('names no namespace of a workspace to a caller who may not read its bindings', async () => {
    for (const right of ['rolebindings ', 'rolebindings b2']) denied.add(right)
    const { body } = await get('/workspaces/blue/workspacemembers')
    expect(fieldsOf(body).message).to.equal('rolebindings in "" is forbidden')
  })

  it('returns no groups, and no user, to a caller who may not read users', async () => {
    denied.add('users')
    for (const [path, expected] of [
      ['/users/root/globalroles', []],
      ['/users/none/globalroles', []],
      ['/users/joe/globalroles', ['operators']],
      ['/namespaces/b1/members/none/roles', []],
      ['/namespaces/b1/members/joe/roles', ['viewer', 'deployer']],
    ] as const)
      expect(await names(path), path).to.have.members([...expected])
  })

  it('returns no rules of other ClusterRoles to a caller who may not read them', async () => {
    denied.add('clusterroles')
    const rulesAt = async (path: string) => itemsOf((await get(path)).body).map(role => fieldsOf(role).rules)
    expect(await rulesAt('/users/joe/globalroles')).to.deep.equal([[]])
    expect(await rulesAt('/namespaces/b1/members/joe/roles')).to.deep.equal([[], rules])
    expect(await rulesAt('/namespaces/b1/members/jane/roles')).to.deep.equal([rules])
  })
})
