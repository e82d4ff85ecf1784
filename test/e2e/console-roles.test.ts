import { expect } from 'chai'
import { type Accounts, createAccounts } from './account.ts'
import { accessToken, kubectl, makeNamespace, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'

const base = `/kapis/iam.${groupDomain}/v1alpha2`
const namespace = uniqueName('members')

describe('roles and members for KubeSphere 3.4 consoles', function () {
  this.timeout(60_000)
  const user = uniqueName('ann')
  let accounts: Accounts
  let admin = ''
  let plain = ''

  const send = async (token: string, method: string, path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    const response = await sendAs(token, `${base}${path}`, { method, ...sent })
    return { code: response.code, body: JSON.parse(response.body) }
  }
  const namesOf = (items: readonly { readonly metadata: { readonly name: string } }[]) =>
    items.map(({ metadata }) => metadata.name)

  before(async () => {
    admin = await accessToken()
    accounts = await createAccounts('roles')
    plain = await accounts.make('plain', [])
    await makeNamespace(namespace, [])
  })
  after(async () => {
    await kubectl('delete', 'namespace', namespace, '--wait=false')
    await accounts.remove()
  })

  it('the first administrator is a platform administrator, through a group', async () => {
    const { code, body } = await send(admin, 'GET', '/users/admin/globalroles')
    expect(code, JSON.stringify(body)).to.equal(200)
    expect(namesOf(body)).to.deep.equal(['platform-admin'])
    const rules = body[0].metadata.annotations[`iam.${groupDomain}/role-template-rules`]
    expect(JSON.parse(rules).workspaces).to.include('manage')
  })

  it('members of a namespace are added, changed and removed as role bindings, with the permissions of the caller', async () => {
    const members = `/namespaces/${namespace}/members`
    const roles = async () => {
      const { items } = (await send(admin, 'GET', members)).body
      return items.map(
        ({ metadata }: { metadata: { name: string; annotations: Record<string, string> } }) => [
          metadata.name,
          metadata.annotations[`iam.${groupDomain}/role`],
        ],
      )
    }
    const viewer = [{ username: user, roleRef: 'viewer' }]
    expect(await send(admin, 'POST', members, viewer)).to.deep.equal({ code: 200, body: viewer })
    expect(await roles()).to.deep.equal([[user, 'viewer']])
    const operator = { username: user, roleRef: 'operator' }
    expect(await send(admin, 'PUT', `${members}/${user}`, operator)).to.deep.equal({
      code: 200,
      body: operator,
    })
    expect(await roles()).to.deep.equal([[user, 'operator']])
    expect((await send(admin, 'DELETE', `${members}/${user}`)).body).to.deep.equal({ message: 'success' })
    expect(await roles()).to.deep.equal([])
  })

  it('no caller can grant more than their own permissions, or read roles without permission', async () => {
    const members = `/namespaces/${namespace}/members`
    const refused = await send(plain, 'POST', members, [{ username: user, roleRef: 'viewer' }])
    expect(refused.code).to.equal(403)
    expect(refused.body.message).to.contain('cannot list resource "rolebindings"')
    for (const path of [members, '/clustermembers', '/globalroles', '/users/admin/globalroles'])
      expect((await send(plain, 'GET', path)).code, path).to.equal(403)
    // A caller who may create bindings still cannot grant more than the caller's own permissions.
    const bindings = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'] }
    const rule = { ...bindings, verbs: ['create', 'list'] }
    const binder = await accounts.make('binder', [rule])
    await eventually(async () => {
      const escalated = await send(binder, 'POST', members, [{ username: user, roleRef: 'admin' }])
      expect(escalated.body.message).to.contain('attempting to grant RBAC permissions not currently held')
      expect(escalated.code).to.equal(403)
    }, 10_000)
  })

  it('no member or role is written in a namespace that cannot exist', async () => {
    for (const [path, body] of [
      ['members', [{ username: user, roleRef: 'viewer' }]],
      ['roles', { kind: 'Role', metadata: { name: 'r' }, rules: [] }],
      [
        'rolebindings',
        [{ subjects: [{ kind: 'Group', name: 'g' }], roleRef: { kind: 'Role', name: 'viewer' } }],
      ],
    ] as const) {
      const { code, body: error } = await send(admin, 'POST', `/namespaces/%25/${path}`, body)
      expect([code, error.message], path).to.deep.equal([404, 'namespaces "%" not found'])
    }
  })

  const stale: readonly (readonly [kind: string, path: string])[] = [
    ['GlobalRole', '/globalroles'],
    ['ClusterRole', '/clusterroles'],
    ['WorkspaceRole', '/workspaces/stale/workspaceroles'],
    ['Role', `/namespaces/${namespace}/roles`],
  ]
  for (const [kind, path] of stale)
    it(`a ${kind} is not overwritten at a version that the caller has not read`, async () => {
      const name = uniqueName('stale')
      const made = await send(admin, 'POST', path, { kind, metadata: { name }, rules: [] })
      expect(made.code, JSON.stringify(made.body)).to.equal(201)
      const read = async () => (await send(admin, 'GET', `${path}/${name}`)).body
      let old = await read()
      await eventually(async () => {
        old = await read()
        expect(old.metadata?.name).to.equal(name)
      }, 10_000)
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
      const changed = await send(admin, 'PUT', `${path}/${name}`, { ...old, rules })
      expect(changed.code, JSON.stringify(changed.body)).to.equal(200)
      const again = await send(admin, 'PUT', `${path}/${name}`, { ...old, rules: [] })
      expect([again.code, again.body.reason], JSON.stringify(again.body)).to.deep.equal([409, 'Conflict'])
      const { resourceVersion } = old.metadata
      const headers = { 'content-type': 'application/merge-patch+json' }
      const body = JSON.stringify({ metadata: { resourceVersion }, rules: [] })
      const patched = await sendAs(admin, `${base}${path}/${name}`, { method: 'PATCH', headers, body })
      expect(patched.code, patched.body).to.equal(409)
      expect((await send(admin, 'DELETE', `${path}/${name}`)).code).to.equal(200)
    })

  it('a workspace without projects has members, who receive their role in later projects', async () => {
    const workspace = uniqueName('empty')
    const project = uniqueName('later')
    const tenant = `/kapis/tenant.${groupDomain}/v1alpha2/workspaces`
    const ask = (token: string, method: string, path: string, body: object) =>
      sendAs(token, path, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const members = `/workspaces/${workspace}/workspacemembers`
    const expected = [
      { username: user, roleRef: `${workspace}-viewer` },
      { username: `${user}-2`, roleRef: `${workspace}-regular` },
    ]
    expect((await send(admin, 'POST', members, expected)).code).to.equal(404)
    const spec = { template: { spec: {} } }
    const made = await ask(admin, 'POST', tenant, { metadata: { name: workspace }, spec })
    expect(made.code, made.body).to.equal(201)
    // A caller who may write bindings and read the workspace cannot grant more than that either.
    const writes = {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles', 'clusterrolebindings'],
    }
    const lists = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['list'] }
    const reads = { apiGroups: [`tenant.${groupDomain}`], resources: ['workspaces'], verbs: ['get'] }
    const weak = await accounts.make('weak', [{ ...writes, verbs: ['create', 'list'] }, lists, reads])
    await eventually(async () => {
      const { code, body } = await send(weak, 'POST', members, expected)
      expect(body.message).to.contain('attempting to grant RBAC permissions not currently held')
      expect(code).to.equal(403)
    }, 10_000)
    try {
      const added = await send(admin, 'POST', members, expected)
      expect(added.code, JSON.stringify(added.body)).to.equal(200)
      const roles = async () => {
        const { items } = (await send(admin, 'GET', members)).body
        return items.map(
          ({ metadata }: { metadata: { name: string; annotations: Record<string, string> } }) => [
            metadata.name,
            metadata.annotations[`iam.${groupDomain}/workspacerole`],
          ],
        )
      }
      await eventually(
        async () =>
          expect(await roles()).to.have.deep.members(
            expected.map(({ username, roleRef }) => [username, roleRef]),
          ),
        5_000,
      )
      const namespaces = `${tenant}/${workspace}/namespaces`
      const created = await ask(admin, 'POST', namespaces, { metadata: { name: project } })
      expect([created.code, created.headers.warning], created.body).to.deep.equal([201, undefined])
      const inside = await send(admin, 'GET', `/namespaces/${project}/members`)
      expect(namesOf(inside.body.items)).to.deep.equal([user])
      expect((await send(admin, 'DELETE', `${members}/${user}`)).code).to.equal(200)
      await eventually(
        async () => expect(await roles()).to.deep.equal([[`${user}-2`, `${workspace}-regular`]]),
        5_000,
      )
    } finally {
      await kubectl('delete', 'namespace', project, '--wait=false')
      await kubectl('delete', `workspaces.tenant.${groupDomain}`, workspace)
    }
  })

  it('the manager of a new workspace becomes its administrator, with the permissions of its creator', async () => {
    const workspace = uniqueName('managed')
    const tenant = `/kapis/tenant.${groupDomain}/v1alpha2/workspaces`
    const create = (token: string, dryRun: string) =>
      sendAs(token, `${tenant}${dryRun}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          metadata: { name: workspace },
          spec: { template: { spec: { manager: user } } },
        }),
      })
    const roles = async () => {
      const { items } = (await send(admin, 'GET', `/workspaces/${workspace}/workspacemembers`)).body
      return items.map(
        ({ metadata }: { metadata: { name: string; annotations: Record<string, string> } }) => [
          metadata.name,
          metadata.annotations[`iam.${groupDomain}/workspacerole`],
        ],
      )
    }
    const maker = await accounts.make('maker', [
      { apiGroups: [`tenant.${groupDomain}`], resources: ['workspaces'], verbs: ['create'] },
    ])
    expect((await create(admin, '?dryRun=All')).code).to.equal(201)
    await eventually(async () => {
      const made = await create(maker, '')
      expect(made.code, made.body).to.equal(201)
      expect(String(made.headers.warning)).to.contain(`has no role in the workspace`)
    }, 10_000)
    expect(await roles()).to.deep.equal([])
    await kubectl('delete', `workspaces.tenant.${groupDomain}`, workspace)
    try {
      const made = await create(admin, '')
      expect([made.code, made.headers.warning], made.body).to.deep.equal([201, undefined])
      await eventually(async () => expect(await roles()).to.deep.equal([[user, `${workspace}-admin`]]), 5_000)
    } finally {
      await kubectl('delete', `workspaces.tenant.${groupDomain}`, workspace)
    }
  })

  it('members of a deleted workspace are not members of a later one with the same name', async () => {
    const workspace = uniqueName('again')
    const project = uniqueName('again-project')
    const tenant = `/kapis/tenant.${groupDomain}/v1alpha2/workspaces`
    const make = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const made = await sendAs(admin, path, { method: 'POST', headers, body: JSON.stringify(body) })
      expect([made.code, made.headers.warning], made.body).to.deep.equal([201, undefined])
    }
    const spec = { template: { spec: {} } }
    const members = `/workspaces/${workspace}/workspacemembers`
    const names = async () => namesOf((await send(admin, 'GET', members)).body.items)
    await make(tenant, { metadata: { name: workspace }, spec })
    try {
      const added = await send(admin, 'POST', members, [{ username: user, roleRef: `${workspace}-viewer` }])
      expect(added.code, JSON.stringify(added.body)).to.equal(200)
      await eventually(async () => expect(await names()).to.deep.equal([user]), 5_000)
      // With `orphan`, objects that the workspace owns are not deleted.
      await kubectl('delete', `workspaces.tenant.${groupDomain}`, workspace, '--cascade=orphan')
      await make(tenant, { metadata: { name: workspace }, spec })
      await eventually(async () => expect(await names()).to.deep.equal([]), 5_000)
      await make(`${tenant}/${workspace}/namespaces`, { metadata: { name: project } })
      expect(namesOf((await send(admin, 'GET', `/namespaces/${project}/members`)).body.items)).to.deep.equal(
        [],
      )
    } finally {
      await kubectl('delete', 'namespace', project, '--wait=false', '--ignore-not-found')
      await kubectl('delete', `workspaces.tenant.${groupDomain}`, workspace)
      await kubectl('delete', 'clusterrolebindings', '-l', `${groupDomain}/workspace=${workspace}`)
      await kubectl('delete', 'clusterrole', `kapis:workspace:${workspace}:view`, '--ignore-not-found')
    }
  })
})
