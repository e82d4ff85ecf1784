import { expect } from 'chai'
import { notFound } from '../../../../apierrors/status.ts'
import { fieldsOf, itemsOf } from '../../../../kubeclient/object/object.ts'
import { groupDomain, native, object, storeOf } from '../roles/fixtures.ts'
import { createScopeReader } from '../roles/role-reader.ts'
import { itHides, itRejects, type RejectedWrite, serveRoleRoutes } from '../roles/served-fixtures.ts'
import { createGroupRoutes } from './group-routes.ts'

const changes: object[] = []
const left: object[] = []

const crowd = storeOf(
  'users',
  Array.from({ length: 1026 }, (_, i) => object('User', `user${i}`, { spec: { groups: ['ops'] } })),
)
let isCrowded = false

const served = serveRoleRoutes(tools =>
  createGroupRoutes(
    {
      ...{ groupDomain, callAs: tools.callAs, require: tools.require },
      async changeGroups(_exchange, change) {
        if (change.user === 'nonexistent')
          throw notFound({ group: 'iam.kapis.io', resource: 'users' }, 'nonexistent')
        changes.push(change)
      },
      leaveBindings: async (_exchange, subject) => void left.push(subject),
    },
    createScopeReader({
      ...tools,
      latest: async plural => (plural === 'users' && isCrowded ? crowd : tools.latest(plural)),
    }),
  ),
)
const { calls, get, names, write } = served

const blue = '/workspaces/blue'
const path = '/apis/iam.kapis.io/v1alpha2/groups'
const apiVersion = 'iam.kapis.io/v1alpha2'
const label = { 'kapis.io/workspace': 'blue' }
const roleBinding = (role: string, name = 'dev', kind = 'Group') => ({
  roleRef: { kind: role.startsWith('blue-') ? 'WorkspaceRole' : 'Role', name: role },
  subjects: [{ kind, name }],
})
/** Method, path, role and subjects of each binding that was written. */
const written = () =>
  calls.map(call => {
    const { method, path: at, body } = fieldsOf(call)
    const { roleRef, subjects } = fieldsOf(body)
    return [method, at, fieldsOf(roleRef).name, ...itemsOf(subjects).map(each => fieldsOf(each).name)]
  })

describe('createGroupRoutes', () => {
  beforeEach(() => {
    changes.splice(0)
    left.splice(0)
    isCrowded = false
  })

  it('returns the groups of a workspace, and no others', async () => {
    expect(await names(`${blue}/groups`)).to.deep.equal(['dev'])
    expect(await names(`${blue}/groups/dev`)).to.deep.equal(['dev'])
    expect(await get(`${blue}/groups/ops`)).to.include({ code: 404 })
  })

  it('creates a group with the label of the workspace, as the caller', async () => {
    const body = {
      kind: 'Group',
      metadata: { generateName: 'qa', labels: { 'kapis.io/workspace': 'empty' } },
    }
    await write('POST', `${blue}/groups`, body)
    const metadata = { generateName: 'qa', labels: label }
    expect(calls).to.deep.equal([{ method: 'POST', path, body: { apiVersion, kind: 'Group', metadata } }])
  })

  it('preserves the label of the workspace in PUT and PATCH', async () => {
    await write('PUT', `${blue}/groups/dev`, { metadata: { name: 'dev' } })
    await write('PATCH', `${blue}/groups/dev`, { metadata: { labels: { 'kapis.io/workspace': 'empty' } } })
    expect(calls).to.deep.equal([
      {
        ...{ method: 'PUT', path: `${path}/dev` },
        body: { apiVersion, kind: 'Group', metadata: { name: 'dev', labels: label } },
      },
      {
        ...{ method: 'PATCH', path: `${path}/dev`, contentType: 'application/merge-patch+json' },
        body: { metadata: { labels: label } },
      },
    ])
  })

  const deletion = (dryRun?: object) => {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u-dev' }, ...dryRun }
    return { method: 'DELETE', path: `${path}/dev`, body }
  }
  const tried = deletion({ dryRun: ['All'] })

  it('deletes the members and bindings of a deleted group', async () => {
    expect(await write('DELETE', `${blue}/groups/dev`)).to.deep.equal({
      code: 200,
      body: { message: 'success' },
    })
    expect(calls).to.deep.equal([tried, deletion()])
    expect(changes).to.deep.equal([{ user: 'joe', group: 'dev', isMember: false }])
    expect(left).to.deep.equal([{ kind: 'Group', name: 'dev' }])
  })

  it('changes nothing else in a dry run', async () => {
    await write('DELETE', `${blue}/groups/dev?dryRun=All`)
    expect(calls).to.deep.equal([tried])
    expect([...changes, ...left]).to.deep.equal([])
  })

  it('keeps the members if the caller may not delete the group', async () => {
    served.rejectAfter(0)
    expect(await write('DELETE', `${blue}/groups/dev`)).to.include({ code: 403 })
    expect([...changes, ...left]).to.deep.equal([])
  })

  it('returns no members of a deleted group to callers who may not list users', async () => {
    served.denied.add('users')
    const [dev, unused] = [
      await served.send('DELETE', `${blue}/groups/dev`),
      await served.send('DELETE', '/workspaces/empty/groups/unused'),
    ]
    const warning = '299 - "users may still have the group in spec.groups: you may not list users"'
    for (const response of [dev, unused])
      expect([response.status, response.headers.get('warning')]).to.deep.equal([200, warning])
    expect(changes).to.deep.equal([])
  })

  it('does not delete a group with more members than a request may write', async () => {
    isCrowded = true
    const response = await served.send('DELETE', '/workspaces/empty/groups/ops')
    expect(await response.json()).to.deep.include({
      code: 409,
      reason: 'Conflict',
      message: 'the group "ops" has 2 more members: delete it again to continue',
    })
    expect(changes).to.have.lengthOf(1024)
    expect(calls).to.have.lengthOf(1)
  })

  it('returns spec.groups of users as GroupBindings', async () => {
    expect(await names(`${blue}/groupbindings`)).to.deep.equal(['dev:joe'])
    const { body } = await get(`${blue}/groupbindings`)
    expect(itemsOf(fieldsOf(body).items)[0]).to.deep.include({
      groupRef: { apiGroup: 'iam.kapis.io', kind: 'groups', name: 'dev' },
      users: ['joe'],
    })
  })

  it('adds users to groups, and removes them', async () => {
    const { body } = await write('POST', `${blue}/groupbindings`, [{ userName: 'ann', groupName: 'dev' }])
    expect(itemsOf(body).map(each => fieldsOf(fieldsOf(each).metadata).name)).to.deep.equal(['dev:ann'])
    expect(await write('DELETE', `${blue}/groupbindings/dev:joe`)).to.include({ code: 200 })
    expect(changes).to.deep.equal([
      { user: 'ann', group: 'dev', isMember: true },
      { user: 'joe', group: 'dev', isMember: false },
    ])
  })

  for (const name of ['dev:ann', 'ops:joe', 'dev', 'x:y'])
    it(`returns 404 for the GroupBinding ${name} in the workspace`, async () => {
      expect(await write('DELETE', `${blue}/groupbindings/${name}`)).to.include({ code: 404 })
      expect(changes).to.deep.equal([])
    })

  // The second is the kind that client-go of KubeSphere sends.
  for (const kind of ['WorkspaceRole', 'WorkspaceRoleBinding'])
    it(`grants a group a ${kind} in each namespace of a workspace, and stores it`, async () => {
      const sent = { ...roleBinding('blue-viewer', 'ops'), roleRef: { kind, name: 'blue-viewer' } }
      const { code } = await write('POST', `${blue}/workspacerolebindings`, [sent])
      expect(code).to.equal(200)
      expect(written().filter(([method]) => method === 'POST')).to.deep.equal([
        ['POST', `${native}/namespaces/b1/rolebindings`, 'view', 'ops'],
        ['POST', `${native}/namespaces/b2/rolebindings`, 'view', 'ops'],
        ['POST', `${native}/clusterroles`, undefined],
        ['POST', `${native}/clusterrolebindings`, 'kapis:workspace:blue:view', 'ops'],
      ])
    })

  it('returns the role of a stored group, and removes it', async () => {
    const { body } = await get('/workspaces/empty/workspacerolebindings')
    expect(itemsOf(fieldsOf(body).items)).to.have.lengthOf(1)
    expect(itemsOf(fieldsOf(body).items)[0]).to.deep.include({
      roleRef: { apiGroup: 'iam.kapis.io', kind: 'WorkspaceRole', name: 'empty-regular' },
    })
    expect(await write('DELETE', '/workspaces/empty/workspacerolebindings/dev')).to.include({ code: 200 })
    expect(calls.at(-1)).to.deep.include({ method: 'PUT', path: `${native}/clusterrolebindings/record2` })
    expect(calls.at(-1)).to.have.nested.property('body.subjects.length', 1)
  })

  it('keeps a role in a single namespace when the workspace role is removed', async () => {
    // The group dev has a role in the namespace b1 only.
    expect(await write('DELETE', `${blue}/workspacerolebindings/dev`)).to.include({ code: 404 })
  })

  it('returns RoleBindings of groups with the role names of KubeSphere', async () => {
    const { body } = await get(`${blue}/rolebindings`)
    expect(fieldsOf(fieldsOf(body).what)).to.include({ plural: 'rolebindings', list: 'array' })
    const [first] = itemsOf(fieldsOf(body).items)
    expect(first).to.have.deep.property('roleRef', {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: 'viewer',
    })
    expect(first).to.have.deep.nested.property('metadata.labels', { 'iam.kapis.io/group-ref': 'dev' })
  })

  const labels = { 'iam.kapis.io/group-ref': 'dev' }
  const made: readonly (readonly [path: string, role: string, metadata: object])[] = [
    ['/namespaces/b2/rolebindings', 'operator', { name: 'made', namespace: 'b2', labels }],
    // The group already has this role.
    ['/namespaces/b1/rolebindings', 'viewer', { name: 'joe1', namespace: 'b1', labels }],
    [`${blue}/workspacerolebindings`, 'blue-viewer', { name: 'dev', labels: { ...labels, ...label } }],
  ]
  for (const [path, role, metadata] of made)
    it(`returns the name of the binding of a group at ${path}`, async () => {
      const sent = roleBinding(role)
      const { body } = await write('POST', path, [sent])
      expect(body).to.deep.equal([{ ...sent, metadata }])
    })

  it('grants a group a role in a namespace, and removes it', async () => {
    await write('POST', '/namespaces/b2/rolebindings', [roleBinding('operator')])
    expect(written()).to.deep.equal([['POST', `${native}/namespaces/b2/rolebindings`, 'edit', 'dev']])
    await write('DELETE', '/namespaces/b2/rolebindings/x')
    expect(calls.at(-1)).to.deep.equal({ method: 'DELETE', path: `${native}/namespaces/b2/rolebindings/x` })
  })

  const members = 'invalid member: expected {"userName": "NAME", "groupName": "GROUP"}'
  const binding = 'a binding must have roleRef.name, and one subject with kind and name'
  const unknownField = 'unknown field "more" in a binding: expected roleRef and subjects'
  const lost = [
    { ...roleBinding('viewer'), more: 1 },
    { ...roleBinding('viewer'), roleRef: { name: 'viewer', more: 1 } },
    { ...roleBinding('viewer'), subjects: [{ kind: 'Group', name: 'dev', more: 1 }] },
  ]
  itRejects(served, [
    [
      'POST',
      `${blue}/groups`,
      { metadata: { generateName: 'dev' } },
      409,
      'the workspace already has a group "dev"',
    ],
    ['POST', `${blue}/groups`, [], 400, 'the body must be a Group as a JSON object'],
    [
      ...(['PUT', `${blue}/groups/dev`, { metadata: { name: 'x' } }, 400] as const),
      'metadata.name must be the name in the path, "dev"',
    ],
    ['POST', `${blue}/groupbindings`, {}, 400, 'the body must be a list of 1 to 256 members'],
    ['POST', `${blue}/groupbindings`, [{ userName: 'ann' }], 400, members],
    ['POST', `${blue}/groupbindings`, [{ userName: 'ann', groupName: 'dev', more: 1 }], 400, members],
    ['POST', `${blue}/workspacerolebindings`, [], 400, 'the body must be a list of 1 to 256 bindings'],
    ['POST', `${blue}/workspacerolebindings`, [{ roleRef: { name: 'x' } }], 400, binding],
    ...lost.map((sent): RejectedWrite => ['POST', '/namespaces/b1/rolebindings', [sent], 400, unknownField]),
    [
      ...(['POST', '/namespaces/b1/rolebindings'] as const),
      [{ ...roleBinding('viewer'), roleRef: { kind: 'ClusterRole', name: 'viewer' } }],
      400,
      'invalid roleRef.kind "ClusterRole": expected Role',
    ],
    [
      ...(['POST', '/namespaces/b1/rolebindings', [roleBinding('viewer', 'system:masters')], 400] as const),
      'invalid subject "Group system:masters": expected a Group or a User whose name does not begin with system:',
    ],
  ])
  it('rejects a group of another workspace', async () => {
    const body = [{ userName: 'ann', groupName: 'ops' }]
    expect(await write('POST', `${blue}/groupbindings`, body)).to.include({ code: 422 })
    expect(changes).to.deep.equal([])
  })
  it('reports that a user does not exist', async () => {
    const body = [{ userName: 'nonexistent', groupName: 'dev' }]
    expect(await write('POST', `${blue}/groupbindings`, body)).to.include({ code: 404 })
  })
  itHides(served, [
    ['GET', `${blue}/groups`, undefined, ['groups']],
    ['DELETE', `${blue}/groups/ops`, undefined, ['groups']],
    ['GET', `${blue}/groupbindings`, undefined, ['users']],
    ['DELETE', `${blue}/groupbindings/dev:none`, undefined, ['users']],
    ['POST', `${blue}/groupbindings`, [{ userName: 'ann', groupName: 'none' }], ['groups']],
    ['GET', `${blue}/workspacerolebindings`, undefined, ['rolebindings', 'rolebindings b1']],
    ['GET', `${blue}/rolebindings`, undefined, ['rolebindings', 'rolebindings b1']],
    ['POST', '/namespaces/b1/rolebindings', [roleBinding('viewer')], ['rolebindings']],
  ])
})
