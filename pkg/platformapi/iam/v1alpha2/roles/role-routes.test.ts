import { expect } from 'chai'
import { renderKube } from '../../../../apierrors/render-kube.ts'
import { Status, unknownResource } from '../../../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { User } from '../../../../iam/users/user.ts'
import { toUser } from '../../../../iam/users/user.ts'
import { itemsOf, type KubeObject, membersOf } from '../../../../kubeclient/object.ts'
import { routeOf } from '../../../../openapi/route.ts'
import { replaceAll } from '../../../../resourcecache/fixtures.ts'
import { namespaces } from '../../../../resourcecache/kinds/namespaces.ts'
import { plain } from '../../../../resourcecache/kinds/platform.ts'
import { ObjectStore } from '../../../../resourcecache/store/store.ts'
import { createRoleRoutes } from './role-routes.ts'

const groupDomain = 'kapis.io'
const base = '/kapis/iam.kapis.io/v1alpha2'
const rbac = 'rbac.authorization.k8s.io'
const native = `/apis/${rbac}/v1`

function object(kind: string, name: string, more: object = {}, meta: object = {}): KubeObject {
  const metadata = { name, uid: `u-${name}`, resourceVersion: '3', creationTimestamp: '2031-01-01T00:00:00Z' }
  return { kind, apiVersion: `${rbac}/v1`, metadata: { ...metadata, ...meta }, ...more }
}
function binding(name: string, role: string, subjects: readonly string[], meta: object = {}): KubeObject {
  const [kind, roleName] = role.split('/')
  return object(
    'RoleBinding',
    name,
    {
      roleRef: { apiGroup: rbac, kind, name: roleName },
      subjects: subjects.map(subject => {
        const [subjectKind, subjectName] = subject.split('/')
        return { apiGroup: rbac, kind: subjectKind, name: subjectName }
      }),
    },
    meta,
  )
}
const workspaces = '/apis/tenant.kapis.io/v1alpha1/workspaces'
const workspaceOf = (name: string) => ({
  ...object('Workspace', name),
  apiVersion: 'tenant.kapis.io/v1alpha1',
})
const recordRules = (workspace: string, verb: string) => [
  {
    apiGroups: ['tenant.kapis.io'],
    resources: ['workspaces'],
    resourceNames: [workspace],
    verbs: ['get', verb],
  },
]
const viewRule = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] }
const usersRule = { apiGroups: ['iam.kapis.io'], resources: ['users'], verbs: ['get'] }
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const label = (workspace: string) => ({ labels: { 'kapis.io/workspace': workspace } })
const inside = (namespace: string) => ({ namespace })
const objects: Readonly<Record<string, readonly KubeObject[]>> = {
  namespaces: [
    object('Namespace', 'b1', {}, label('blue')),
    object('Namespace', 'b2', {}, label('blue')),
    object('Namespace', 'free'),
    object('Namespace', 'old'),
  ],
  clusterroles: [
    ...['cluster-admin', 'admin', 'edit', 'view', 'kapis:visible-namespaces', 'own'].map(name =>
      object('ClusterRole', name, { rules }),
    ),
    object('ClusterRole', 'operators', { rules }, { labels: { 'iam.kapis.io/scope': 'global' } }),
    object('ClusterRole', 'blue-readers', { rules }, label('blue')),
    object('ClusterRole', 'kapis:workspace:empty:admin', { rules: recordRules('empty', 'member:admin') }),
    object('ClusterRole', 'kapis:workspace:empty', { rules: recordRules('empty', 'member') }),
    object(
      'ClusterRole',
      'template-view',
      { rules: [viewRule] },
      { labels: { 'iam.kapis.io/role-template': 'true', 'iam.kapis.io/scope': 'namespace' } },
    ),
    object(
      'ClusterRole',
      'template-users',
      { rules: [usersRule] },
      { labels: { 'iam.kapis.io/role-template': 'true', 'iam.kapis.io/scope': 'workspace' } },
    ),
    // Anyone who may make roles may make one that gives nothing.
    object('ClusterRole', 'kapis:workspace:empty:edit', { rules: [] }),
  ],
  roles: [
    object('Role', 'deployer', { rules }, inside('b1')),
    // As KubeSphere creates them in each namespace.
    object('Role', 'operator', { rules }, inside('old')),
    object('Role', 'own', { rules }, inside('old')),
  ],
  clusterrolebindings: [
    binding('admins', 'ClusterRole/cluster-admin', ['Group/platform-admins']),
    binding('two', 'ClusterRole/own', ['User/joe', 'User/ann', 'User/system:x']),
    binding('record1', 'ClusterRole/kapis:workspace:empty:admin', ['User/ann']),
    binding('record2', 'ClusterRole/kapis:workspace:empty', ['User/joe', 'Group/dev']),
    binding('forged', 'ClusterRole/kapis:workspace:empty:edit', ['User/kim']),
    binding('op', 'ClusterRole/operators', ['User/joe'], { labels: { 'iam.kapis.io/scope': 'global' } }),
  ],
  rolebindings: [
    binding('ann1', 'ClusterRole/admin', ['User/ann'], inside('b1')),
    binding('ann2', 'ClusterRole/admin', ['User/ann'], inside('b2')),
    binding('joe1', 'ClusterRole/view', ['User/joe', 'Group/dev'], inside('b1')),
    binding('joe2', 'Role/deployer', ['User/joe'], inside('b1')),
    binding('old1', 'Role/operator', ['User/kim'], inside('old')),
    binding('old2', 'ClusterRole/own', ['User/jane'], inside('old')),
    binding('mail', 'ClusterRole/view', ['User/kim@x.test'], inside('old')),
  ],
  users: ['joe', 'ann'].map(name => ({
    ...object('User', name, { spec: { email: `${name}@x.test` } }),
    apiVersion: 'iam.kapis.io/v1alpha2',
  })),
}
const stored = new Map<string, User>(
  [
    ['jane', ['dev']],
    ['joe', []],
    ['root', ['platform-admins']],
  ].map(([name, groups]) => [
    String(name),
    toUser(object('User', String(name), { spec: { groups } }, { uid: name === 'jane' ? 'u-1' : 'u-x' })),
  ]),
)

describe('createRoleRoutes', () => {
  let loopback: Loopback
  const calls: unknown[] = []
  const denied = new Set<string>()
  let mostCalls = Number.POSITIVE_INFINITY

  before(async () => {
    const stores = new Map(
      Object.entries(objects).map(([plural, items]) => {
        const kind = {
          ...(plural === 'namespaces' ? namespaces(groupDomain) : plain),
          ...{ plural, singular: plural.slice(0, -1), kind: items[0]?.kind ?? '', shortNames: [] },
          ...{ categories: [], columns: [], namespaced: plural === 'roles' || plural === 'rolebindings' },
          source: { group: rbac, version: 'v1', path: `${native}/${plural}` },
        }
        const store = new ObjectStore({ kind, group: rbac, version: 'v1' })
        replaceAll(store, items, '10')
        return [plural, store]
      }),
    )
    const routes = createRoleRoutes({
      groupDomain,
      users: stored,
      isCaller: ({ identity }, name) => name === identity.username,
      audit: () => undefined,
      async callAs(_exchange, call) {
        calls.push(call)
        if (calls.length > mostCalls) throw new Status(403, 'Forbidden', 'escalation')
        const workspace = /\/workspaces\/(\w+)$/.exec(call.path)?.[1]
        if (workspace === 'none') throw new Status(404, 'NotFound', 'workspaces "none" not found')
        if (workspace !== undefined) return { code: 200, text: JSON.stringify(workspaceOf(workspace)) }
        const name = /bindings\/(\w+)/.exec(call.path)?.[1]
        const found = [...(objects.rolebindings ?? []), ...(objects.clusterrolebindings ?? [])].find(
          each => each.metadata.name === name,
        )
        return { code: 200, text: JSON.stringify(found ?? {}) }
      },
      async require(_exchange, { resource, namespace }) {
        if (denied.has(resource) || denied.has(`${resource} ${namespace}`))
          throw new Status(403, 'Forbidden', `${resource} in "${namespace}" is forbidden`)
      },
      async latest(plural) {
        const found = stores.get(plural)
        if (found === undefined) throw new Error(plural)
        return found
      },
      async show({ res, info }, what, items) {
        const shown = items.filter(({ metadata }) => info.name === '' || info.name === metadata.name)
        res.end(JSON.stringify({ path: info.path, what, items: shown }))
      },
    })
    loopback = await startLoopback(async (req, res) => {
      const exchange = toExchange(req, res)
      try {
        const serve = routeOf(routes, exchange.info.parts)
        if (serve === undefined) throw unknownResource()
        await serve(exchange)
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    calls.splice(0)
    denied.clear()
    mostCalls = Number.POSITIVE_INFINITY
  })

  const get = async (path: string) => {
    const { code, text } = await loopback.get(`${base}${path}`)
    const body: unknown = JSON.parse(text)
    return { code, body }
  }
  const names = async (path: string) => {
    const { body } = await get(path)
    const items = Array.isArray(body) ? body : membersOf(body).items
    return Array.isArray(items)
      ? items.map(({ metadata }) => {
          const role = Object.entries(metadata.annotations ?? {}).find(([key]) => /role$/.test(key))
          return role === undefined ? metadata.name : `${metadata.name}=${role[1]}`
        })
      : body
  }

  const lists: readonly (readonly [path: string, names: readonly string[]])[] = [
    ['/globalroles', ['platform-admin', 'platform-regular', 'operators']],
    ['/globalroles/platform-admin', ['platform-admin']],
    [
      '/clusterroles',
      ['cluster-admin', 'cluster-viewer', 'admin', 'edit', 'kapis:visible-namespaces', 'own', 'view'],
    ],
    [
      '/workspaces/blue/workspaceroles',
      [
        'blue-admin',
        'blue-self-provisioner',
        'blue-viewer',
        'blue-regular',
        'blue-readers',
        'template-users',
      ],
    ],
    ['/namespaces/b1/roles', ['admin', 'operator', 'viewer', 'deployer', 'template-view']],
    ['/namespaces/free/roles', ['admin', 'operator', 'viewer', 'template-view']],
    ['/namespaces/old/roles', ['admin', 'operator', 'own', 'viewer', 'template-view']],
    ['/clusterroles/kapis:visible-namespaces', ['kapis:visible-namespaces']],
    ['/clustermembers', ['joe=own', 'ann=own']],
    ['/namespaces/b1/members', ['ann=admin', 'joe=deployer,viewer']],
    ['/namespaces/free/members', []],
    ['/namespaces/old/members', ['kim=operator', 'jane=own', 'kim@x.test=viewer']],
    ['/namespaces/old/members/kim@x.test', ['kim@x.test=viewer']],
    // A ClusterRole, and not the Role of its name.
    ['/namespaces/old/members/jane/roles', []],
    ['/workspaces/blue/workspacemembers', ['ann=blue-admin', 'joe=blue-regular']],
    ['/workspaces/none/workspacemembers', []],
    ['/workspaces/empty/workspacemembers', ['ann=empty-admin', 'joe=empty-regular']],
    ['/workspaces/empty/workspacemembers/joe/workspaceroles', ['empty-regular']],
    // By a group, and by name.
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
    it(`GET ${path} is ${expected.join(', ') || 'empty'}`, async () => {
      const found = await names(path)
      expect(Array.isArray(found) ? [...found].sort() : found).to.deep.equal([...expected].sort())
      expect(calls).to.deep.equal([])
    })

  it('shows a GlobalRole with the rules of the ClusterRole, and what consoles show', async () => {
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
      const labels = itemsOf(Array.isArray(body) ? body : membersOf(body).items)
        .map(item => membersOf(membersOf(item).metadata).labels)
        .map(each => membersOf(each)['kapis.io/workspace'])
      expect([...new Set(labels)]).to.deep.equal([workspace])
    })

  it('shows members as users to those who may read users, and as names to others', async () => {
    const user = objects.users?.[1]
    const annotations = { 'iam.kapis.io/clusterrole': 'own' }
    const first = async () => membersOf((await get('/clustermembers/ann')).body).items
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

  const rights: readonly (readonly [path: string, denied: readonly string[], code: number])[] = [
    ['/globalroles', ['clusterroles'], 403],
    ['/clusterroles/own', ['clusterroles'], 403],
    ['/namespaces/b1/roles', ['roles b1'], 403],
    ['/namespaces/b1/roles', ['clusterroles'], 200],
    ['/clustermembers', ['clusterrolebindings'], 403],
    ['/namespaces/b1/members', ['rolebindings b1'], 403],
    ['/namespaces/b1/members', ['rolebindings ', 'clusterrolebindings'], 200],
    ['/workspaces/blue/workspacemembers', ['rolebindings '], 200],
    ['/workspaces/blue/workspacemembers', ['rolebindings ', 'rolebindings b2'], 403],
    ['/workspaces/none/workspacemembers', ['rolebindings '], 403],
    ['/users/joe/globalroles', ['clusterrolebindings'], 403],
    ['/users/none/globalroles', ['clusterrolebindings'], 403],
    ['/users/none/globalroles', [], 404],
    ['/users/none/globalroles', ['users'], 200],
    ['/users/joe/globalroles', ['users'], 200],
    // Everybody may read their own.
    ['/users/jane/globalroles', ['clusterrolebindings', 'clusterroles'], 200],
    ['/clustermembers/jane/clusterroles', ['clusterrolebindings'], 200],
    ['/namespaces/b1/members/jane/roles', ['rolebindings'], 200],
    ['/workspaces/blue/workspacemembers/jane/workspaceroles', ['rolebindings'], 200],
  ]
  for (const [path, without, code] of rights)
    it(`GET ${path} without the right to list ${without.join(', ') || 'nothing'} is ${code}`, async () => {
      for (const right of without) denied.add(right)
      expect((await get(path)).code).to.equal(code)
    })

  it('leaves out what ClusterRoles say for a caller who may not read them', async () => {
    denied.add('clusterroles')
    const { body } = await get('/workspaces/blue/workspaceroles')
    const { items } = membersOf(body)
    expect(Array.isArray(items) && items.map(each => [each.metadata.name, each.rules])).to.deep.equal(
      ['admin', 'self-provisioner', 'viewer', 'regular'].map(name => [`blue-${name}`, []]),
    )
  })

  async function write(method: string, path: string, body?: unknown) {
    const response = await fetch(`http://127.0.0.1:${loopback.port}${base}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answered: unknown = await response.json()
    return { code: response.status, body: answered }
  }
  const post = (namespace: string, user: string, kind: string, name: string) => ({
    method: 'POST',
    path:
      namespace === '' ? `${native}/clusterrolebindings` : `${native}/namespaces/${namespace}/rolebindings`,
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
  /** The member is stored, whatever namespaces there are. */
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
  /** The binding stays for its other subjects. */
  const leave = (path: string, name: string, user: string) => {
    const all = [...(objects.rolebindings ?? []), ...(objects.clusterrolebindings ?? [])]
    const found = all.find(each => each.metadata.name === name)
    const subjects = (Array.isArray(found?.subjects) ? found.subjects : []).filter(
      subject => subject.name !== user,
    )
    const at = `${native}/${path}/${name}`
    return [{ path: at }, { method: 'PUT', path: at, body: { ...found, subjects } }]
  }
  const member = (username: string, roleRef: string) => ({ username, roleRef })
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
    [
      'POST',
      '/namespaces/old/members',
      [member('new', 'operator')],
      [post('old', 'new', 'Role', 'operator')],
    ],
    // The roles of a user in single namespaces of a workspace are not changed.
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
    // Nothing of a name becomes a part of a query or of another path.
    [
      'DELETE',
      '/namespaces/b1%3Fdry%23/roles/x%3Fy',
      undefined,
      [{ method: 'DELETE', path: `${native}/namespaces/b1%3Fdry%23/roles/x%3Fy` }],
    ],
    // Has it already.
    ['POST', '/namespaces/b1/members', [member('ann', 'admin')], []],
    [
      'POST',
      '/workspaces/blue/workspacemembers',
      [member('joe', 'blue-viewer')],
      [post('b2', 'joe', 'ClusterRole', 'view'), ...record('blue', 'joe', 'view')],
    ],
    // Without a project, and without a role.
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
    // kube-apiserver ignores the query of a DELETE with a body.
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
      const answer = await write(method, path, body)
      expect(calls).to.deep.equal(expected)
      // The fields of a role that kube-apiserver returns.
      const written = /roles/.test(path) ? {} : body
      expect(answer).to.deep.equal({
        code: 200,
        body: method === 'DELETE' ? { message: 'success' } : written,
      })
    })

  const refused: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    code: number,
    message: string,
  ])[] = [
    ['POST', '/clustermembers', {}, 400, 'the body must be a list of 1 to 256 members'],
    ['POST', '/clustermembers', [{ username: 'a' }], 400, 'a member must be {"username": …, "roleRef": …}'],
    [
      'POST',
      '/clustermembers',
      [member('system:admin', 'own')],
      400,
      'invalid username "system:admin": it is one of kube-apiserver\'s own',
    ],
    [
      'POST',
      '/namespaces/b1/members',
      [member('a', 'admin'), member('a', 'none')],
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
    ['PUT', '/globalroles', {}, 405, 'the server does not allow this method on the requested resource'],
    ['DELETE', '/globalroles/own', undefined, 404, 'globalroles.iam.kapis.io "own" not found'],
    [
      'DELETE',
      '/globalroles/platform-admin',
      undefined,
      404,
      'globalroles.iam.kapis.io "platform-admin" not found',
    ],
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
  for (const [method, path, body, code, message] of refused)
    it(`${method} ${path} ${JSON.stringify(body)} is ${code}`, async () => {
      const answer = await write(method, path, body)
      expect([answer.code, membersOf(answer.body).message]).to.deep.equal([code, message])
      expect(calls).to.deep.equal([])
    })

  const hidden: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    denied: readonly string[],
  ])[] = [
    // With the role, and without it.
    ['POST', '/namespaces/b1/members', [member('ann', 'admin')], ['rolebindings b1']],
    ['POST', '/namespaces/b1/members', [member('joe', 'admin')], ['rolebindings b1']],
    ['POST', '/clustermembers', [member('joe', 'own')], ['clusterrolebindings']],
    ['PUT', '/globalroles/operators', { metadata: { name: 'operators' } }, ['clusterroles']],
    ['PUT', '/globalroles/own', { metadata: { name: 'own' } }, ['clusterroles']],
    ['DELETE', '/workspaces/blue/workspaceroles/blue-readers', undefined, ['clusterroles']],
    ['DELETE', '/workspaces/red/workspaceroles/blue-readers', undefined, ['clusterroles']],
  ]
  for (const [method, path, body, without] of hidden)
    it(`${method} ${path} ${JSON.stringify(body)} is 403 without ${without.join(', ')}`, async () => {
      for (const right of without) denied.add(right)
      expect(await write(method, path, body)).to.include({ code: 403 })
      expect(calls).to.deep.equal([])
    })

  it('stores no member of a workspace that there is not', async () => {
    const none = [member('a', 'none-admin')]
    const { code, body } = await write('POST', '/workspaces/none/workspacemembers', none)
    expect([code, membersOf(body).message]).to.deep.equal([404, 'workspaces "none" not found'])
    expect(calls).to.deep.equal([{ path: `${workspaces}/none` }])
  })

  it('gives a role in the namespaces that there are to a member who cannot be stored, with a warning', async () => {
    mostCalls = 1
    const url = `http://127.0.0.1:${loopback.port}${base}/workspaces/blue/workspacemembers`
    const body = JSON.stringify([member('joe', 'blue-viewer')])
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body })
    expect([response.status, response.headers.get('warning')]).to.deep.equal([
      200,
      '299 - "joe has no role in later namespaces: escalation"',
    ])
  })

  it('shows no stored members to a caller who may not list ClusterRoleBindings', async () => {
    denied.add('clusterrolebindings')
    expect(await names('/workspaces/empty/workspacemembers')).to.deep.equal([])
  })

  it('names no namespace of a workspace to a caller who may not read its bindings', async () => {
    for (const right of ['rolebindings ', 'rolebindings b2']) denied.add(right)
    const { body } = await get('/workspaces/blue/workspacemembers')
    expect(membersOf(body).message).to.equal('rolebindings in "" is forbidden')
  })

  it('shows no groups, and no user, to a caller who may not read users', async () => {
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

  it('shows no rules of ClusterRoles of others to a caller who may not read them', async () => {
    denied.add('clusterroles')
    const rulesAt = async (path: string) => itemsOf((await get(path)).body).map(role => membersOf(role).rules)
    expect(await rulesAt('/users/joe/globalroles')).to.deep.equal([[]])
    expect(await rulesAt('/namespaces/b1/members/joe/roles')).to.deep.equal([[], rules])
    expect(await rulesAt('/namespaces/b1/members/jane/roles')).to.deep.equal([rules])
  })

  it('does not say whether a role exists to a caller who may not list roles', async () => {
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
    it(`${method} ${path} ${JSON.stringify(body)} tells what was done before call ${most + 1} failed`, async () => {
      mostCalls = most
      const answer = await write(method, path, body)
      const { message, details } = membersOf(answer.body)
      expect([answer.code, membersOf(details).causes]).to.deep.equal([403, causes])
      if (causes !== undefined) expect(message).to.match(/^escalation: \d of \d writes were made before$/)
    })

  describe('role templates', () => {
    const annotation = 'iam.kapis.io/aggregation-roles'
    const from = (names: string, more: object = {}) => ({
      metadata: { name: 'made', annotations: { [annotation]: names } },
      ...more,
    })
    const sentRules = () => calls.map(call => Object(Object(call).body).rules)

    it('give a role their rules, each once', async () => {
      const body = from('["template-view","template-users","template-view"]', { rules: [usersRule] })
      expect((await write('POST', '/namespaces/b1/roles', body)).code).to.equal(200)
      expect(sentRules()).to.deep.equal([[viewRule, usersRule]])
    })

    it('take their rules along when they are taken from a role, with a warning', async () => {
      const url = `http://127.0.0.1:${loopback.port}${base}/namespaces/b1/roles/made`
      const body = JSON.stringify(from('["template-view"]', { rules: [viewRule, usersRule] }))
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'PUT', headers, body })
      expect([response.status, response.headers.get('warning')]).to.deep.equal([
        200,
        '299 - "the rules are those of the role templates alone"',
      ])
      expect(sentRules()).to.deep.equal([[viewRule]])
    })

    it('there are none of leave the rules of a role', async () => {
      const body = from('["none"]', { rules: [usersRule] })
      expect((await write('PUT', '/namespaces/b1/roles/made', body)).code).to.equal(200)
      expect(sentRules()).to.deep.equal([[usersRule]])
    })

    it('that there are not give nothing, as no other ClusterRole does, with a warning', async () => {
      const url = `http://127.0.0.1:${loopback.port}${base}/namespaces/b1/roles`
      const body = JSON.stringify(from('["cluster-admin","none","template-view"]'))
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers, body })
      expect(response.headers.get('warning')).to.equal(
        '299 - "no role templates, which give no rights: cluster-admin, none"',
      )
      expect(sentRules()).to.deep.equal([[viewRule]])
    })

    it('take the right to list ClusterRoles', async () => {
      denied.add('clusterroles')
      expect((await write('POST', '/namespaces/b1/roles', from('["template-view"]'))).code).to.equal(403)
      expect(calls).to.deep.equal([])
    })

    for (const names of ['x', '{}', '[1]'])
      it(`are 400 as ${names}`, async () => {
        const { code, body } = await write('POST', '/namespaces/b1/roles', from(names))
        expect([code, membersOf(body).message]).to.deep.equal([
          400,
          `invalid annotation ${annotation}: expected a JSON list of at most 256 names`,
        ])
      })
  })
})
