import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import type { CallAs } from '../../../write/as-caller.ts'
import { binding, rbac as group, groupDomain, object, storeOf } from './fixtures.ts'
import { currentRecordRole, isRecordRole, recordRole } from './member-record-role.ts'
import { createWorkspaceRecords, recordsOf } from './member-records.ts'
import { createBindingReader } from './role-bindings.ts'

const ownedBy = (uid: string) => ({ ownerReferences: [{ kind: 'Workspace', name: 'blue', uid }] })

function role(workspace: string, of: string | undefined, meta: object = {}): KubeObject {
  const { name, rules } = recordRole(groupDomain, workspace, of)
  return object('ClusterRole', name, { rules }, meta)
}
function record(user: string, workspace: string, of: string | undefined, uid = `u-${workspace}`): KubeObject {
  const { name } = recordRole(groupDomain, workspace, of)
  return binding(user, `ClusterRole/${name}`, [`User/${user}`], ownedBy(uid))
}

const label = { labels: { 'kapis.io/workspace': 'blue' } }
const roles = storeOf('clusterroles', [
  role('blue', 'admin'),
  role('blue', undefined),
  role('red', 'admin'),
  role('blue', 'cluster-admin'),
  role('blue', 'blue-readers'),
  object('ClusterRole', 'cluster-admin'),
  object('ClusterRole', 'blue-readers', {}, label),
  { ...role('blue', 'view'), rules: [] },
  role('old', undefined, ownedBy('u-earlier')),
  role('new', undefined, ownedBy('u-new')),
])
const bindings = storeOf('clusterrolebindings', [
  record('ann', 'blue', 'admin'),
  record('joe', 'blue', undefined),
  record('kim', 'red', 'admin'),
  // Bound to an empty ClusterRole, which requires no permissions.
  record('mallory', 'blue', 'view'),
  record('eve', 'blue', 'edit'),
  record('system:x', 'blue', 'admin'),
  // Owned by a deleted workspace with the same name.
  record('old', 'blue', 'admin', 'u-earlier'),
  binding('hand', 'ClusterRole/kapis:workspace:blue:admin', ['User/hand']),
])
const toBinding = createBindingReader()
const recordsAt = async (workspace: string) =>
  recordsOf(
    [...bindings.entries()].map(toBinding),
    { groupDomain, workspace, uid: workspace === 'none' ? undefined : `u-${workspace}` },
    roles,
  )

describe('recordsOf', () => {
  for (const [workspace, members] of [
    [
      'blue',
      [
        ['ann', 'admin'],
        ['joe', undefined],
      ],
    ],
    ['red', [['kim', 'admin']]],
    ['re', []],
    ['none', []],
  ] as const)
    it(`returns the records of workspace ${workspace}, bound to the roles that only Kapis binds`, async () =>
      expect(
        (await recordsAt(workspace)).map(({ user, recorded }) => [user, recorded.role]),
      ).to.have.deep.members([...members]))
})

describe('createWorkspaceRecords', () => {
  type RecordScopes = Parameters<typeof createWorkspaceRecords>[0]['scopes']

  async function during(
    run: (records: ReturnType<typeof createWorkspaceRecords>, exchange: Parameters<CallAs>[0]) => unknown,
    { response, ...scopes }: Partial<RecordScopes> & { response?: (path: string) => object } = {},
  ) {
    const calls: unknown[] = []
    let thrown: unknown
    const records = createWorkspaceRecords({
      groupDomain,
      scopes: { latest: async () => roles, recordsAt, isBound: async () => false, ...scopes },
      async callAs(_exchange, { method = 'GET', path, body }) {
        const { roleRef, subjects } = Object(body)
        calls.push(method === 'GET' ? path : [path, roleRef?.name, subjects?.[0]?.name])
        return { code: 201, text: JSON.stringify(response?.(path) ?? {}) }
      },
    })
    const server = await startLoopback(async (req, res) => {
      try {
        await run(records, toExchange(req, res))
      } catch (error) {
        thrown = error
      }
      res.end()
    })
    try {
      const { headers } = await server.get('/kapis/tenant.kapis.io/v1alpha2/workspaces/blue/namespaces?x=1')
      return { calls, warning: headers.warning, thrown }
    } finally {
      await server.close()
    }
  }

  const giveIn = (options?: Parameters<typeof during>[1]) =>
    during((records, exchange) => records.giveIn(exchange, { workspace: 'blue', namespace: 'new' }), options)
  const given = [`/apis/${group}/v1/namespaces/new/rolebindings`, 'admin', 'ann']
  const fail = (code: number) => () => {
    throw new Status(code, code === 403 ? 'Forbidden' : 'ServiceUnavailable', 'no')
  }

  it('grants the stored members their roles in a new namespace, as its creator', async () =>
    expect(await giveIn()).to.deep.equal({ calls: [given], warning: undefined, thrown: undefined }))

  const addManager = (options?: Parameters<typeof during>[1]) =>
    during(
      (records, exchange) => records.addManager(exchange, { workspace: 'blue', manager: 'mia' }),
      options,
    )

  it('makes the manager of a new workspace its administrator, as its creator', async () => {
    const owner = { metadata: { name: 'blue', uid: 'u-blue', resourceVersion: '1', creationTimestamp: '' } }
    const { calls, warning, thrown } = await addManager({ response: () => owner })
    expect([warning, thrown]).to.deep.equal([undefined, undefined])
    expect(calls.at(-1)).to.deep.equal([
      `/apis/${group}/v1/clusterrolebindings?x=1`,
      'kapis:workspace:blue:admin',
      'mia',
    ])
  })

  it('warns the creator of a manager without a role', async () => {
    const { warning, thrown } = await addManager({ response: fail(403) })
    expect([warning, thrown]).to.deep.equal([
      '299 - "the manager \\"mia\\" has no role in the workspace: no"',
      undefined,
    ])
  })

  it('grants the creator no role that the creator already has', async () => {
    const isMe = async () =>
      (await recordsOfMany('admin', 1)()).flatMap(each => [
        { ...each, user: 'jane' },
        { ...each, user: 'jane', recorded: { role: 'edit' } },
        { ...each, user: 'jane', kind: 'Group' },
      ])
    const { calls } = await during(
      (records, exchange) => records.giveIn(exchange, { workspace: 'blue', namespace: 'new', isAdmin: true }),
      { recordsAt: isMe },
    )
    expect(calls).to.deep.equal([
      [given[0], 'edit', 'jane'],
      [given[0], 'admin', 'jane'],
    ])
  })

  it('warns the creator about members without a role', async () => {
    const { warning } = await giveIn({ response: fail(403) })
    expect(warning).to.equal(
      '299 - "1 of 1 members of the workspace have no role in the namespace: add them again"',
    )
  })

  const recordsOfMany = (role: string, count: number) => async () =>
    Array.from({ length: count }, (_, i) => ({
      ...{ kind: 'User', user: `u${i}`, role: '', recorded: { role } },
      binding: { entry: [...bindings.entries()][0] ?? Object(null), roleRef: Object(null), subjects: [] },
    }))

  it('grants no role that no longer belongs to the workspace', async () => {
    const { calls, warning } = await giveIn({ recordsAt: recordsOfMany('cluster-admin', 2) })
    expect(calls).to.deep.equal([])
    expect(warning).to.match(/"2 of 2 members of the workspace have no role/)
    expect((await giveIn({ recordsAt: recordsOfMany('blue-readers', 2) })).calls).to.have.length(2)
  })

  it('stops when kube-apiserver fails, and continues when it rejects a write', async () => {
    for (const [code, count] of [
      [503, 3],
      [403, 9],
    ] as const) {
      const { calls, warning } = await giveIn({
        recordsAt: recordsOfMany('admin', 9),
        response: fail(code),
      })
      expect(calls, String(code)).to.have.length(count)
      expect(warning).to.match(/"9 of 9 members/)
    }
  })

  it('returns a warning when the members cannot be read: the namespace already exists', async () => {
    const { thrown, warning } = await giveIn({ recordsAt: fail(503) })
    expect([thrown, warning]).to.deep.equal([
      undefined,
      '299 - "members of the workspace (no) have no role in the namespace: add them again"',
    ])
  })

  const store = (workspace: string, options: Parameters<typeof during>[1] = {}) =>
    during(
      async (records, exchange) => {
        const member = { subject: { kind: 'User', name: 'new' }, workspace, role: undefined }
        for (const { run } of records.stepsFor(exchange, member, { held: [], isRequired: true })) await run()
      },
      {
        response: path => (path.includes('/workspaces/') ? object('Workspace', workspace) : {}),
        ...options,
      },
    )
  const clusterRoles = [`/apis/${group}/v1/clusterroles?x=1`, undefined, undefined]
  const bound = (workspace: string) => [
    `/apis/${group}/v1/clusterrolebindings?x=1`,
    `kapis:workspace:${workspace}`,
    'new',
  ]

  it('stores a member with an existing role, and creates a missing one', async () => {
    expect((await store('new')).calls.slice(1)).to.deep.equal([bound('new')])
    expect((await store('other')).calls.slice(1)).to.deep.equal([clusterRoles, bound('other')])
  })

  const creating = { resources: ['workspaces/namespaces'], resourceNames: ['blue'], verbs: ['create'] }
  const group1 = { apiGroups: ['tenant.kapis.io'] }
  const patched = [
    `/apis/${group}/v1/clusterroles/kapis%3Aworkspace%3Ablue%3Aadmin?x=1`,
    undefined,
    undefined,
  ]

  /** Sends an administrator again, whose record has the rules of an earlier release. */
  async function sendAgain(user: string, options: Parameters<typeof during>[1] = {}) {
    const { otherRules } = recordRole(groupDomain, 'blue', 'admin')
    const earlier = storeOf('clusterroles', [{ ...role('blue', 'admin'), rules: otherRules }])
    const held = recordsOf(
      [...bindings.entries()].map(toBinding),
      { groupDomain, workspace: 'blue', uid: 'u-blue' },
      earlier,
    ).filter(each => each.user === user)
    return during(
      async (records, exchange) => {
        const member = { subject: { kind: 'User', name: user }, workspace: 'blue', role: 'admin' }
        for (const { run } of records.stepsFor(exchange, member, { held, isRequired: false })) await run()
      },
      {
        latest: async () => earlier,
        response: path => (path.includes('/workspaces/') ? object('Workspace', 'blue') : {}),
        ...options,
      },
    )
  }

  it('counts a record of an earlier release, and updates it when its member is sent again', async () => {
    const { calls, warning, thrown } = await sendAgain('ann')
    expect([calls.slice(1), warning, thrown]).to.deep.equal([[patched], undefined, undefined])
    expect((await sendAgain('new')).calls.slice(1)).to.deep.equal([
      patched,
      [`/apis/${group}/v1/clusterrolebindings?x=1`, 'kapis:workspace:blue:admin', 'new'],
    ])
  })

  it('keeps the record if the caller may not grant its new rules', async () => {
    const { calls, warning, thrown } = await sendAgain('new', {
      response(path) {
        if (path.includes('/workspaces/')) return object('Workspace', 'blue')
        if (path.includes('/clusterroles/')) throw new Status(403, 'Forbidden', 'no')
        return {}
      },
    })
    expect([calls.length, thrown]).to.deep.equal([3, undefined])
    expect(warning).to.equal(
      '299 - "the rules of the ClusterRole kapis:workspace:blue:admin are unchanged: no"',
    )
  })

  for (const [name, rules, creates] of [
    ['admin', [], true],
    ['edit', [], true],
    ['view', [], false],
    [undefined, [], false],
    ['own', [{ ...group1, ...creating }], true],
    ['own', [{ ...group1, ...creating, resourceNames: [] }], true],
    ['own', [{ ...group1, ...creating, resourceNames: ['red'] }], false],
    ['own', [{ ...group1, ...creating, verbs: ['get'] }], false],
    ['own', [{ ...group1, ...creating, apiGroups: [''] }], false],
    ['gone', undefined, false],
  ] as const)
    it(`the record of ${name} with ${JSON.stringify(rules)} ${creates ? 'allows' : 'does not allow'} to create namespaces`, () => {
      const roles = storeOf(
        'clusterroles',
        rules === undefined ? [] : [object('ClusterRole', name ?? '', { rules })],
      )
      const found = currentRecordRole(groupDomain, { workspace: 'blue', role: name }, roles)
      expect(found.rules.slice(1)).to.deep.equal(creates ? [{ ...group1, ...creating }] : [])
      for (const [ruled, isRecord] of [
        [found.rules, true],
        [found.otherRules, true],
        [[], false],
        [[...found.rules, ...found.rules], false],
        [[{ ...group1, ...creating }], false],
      ] as const) {
        const entries = storeOf('clusterroles', [object('ClusterRole', found.name, { rules: ruled })])
        expect([...entries.entries()].map(entry => isRecordRole(groupDomain, entry))).to.deep.equal([
          isRecord,
        ])
      }
    })

  it('does not treat a binding in a namespace as a record', () =>
    during((records, exchange) => {
      const namespaced = binding('b', 'ClusterRole/kapis:workspace:new', ['User/new'], { namespace: 'n' })
      const [entry] = storeOf('rolebindings', [namespaced]).entries()
      if (entry === undefined) throw new Error('no entry')
      const held = [{ user: 'new', role: 'kapis:workspace:new', binding: toBinding(entry) }]
      const member = { subject: { kind: 'User', name: 'new' }, workspace: 'new', role: undefined }
      expect(records.stepsFor(exchange, member, { held, isRequired: true })).to.have.length(1)
    }).then(({ thrown }) => expect(thrown).to.equal(undefined)))

  it('creates no role that existing bindings name, since their subjects would get its permissions', async () => {
    const { calls, thrown } = await store('other', {
      isBound: async name => name === 'kapis:workspace:other',
    })
    expect(calls).to.have.length(1)
    expect(thrown).to.include({
      code: 409,
      message:
        'ClusterRoleBindings name the ClusterRole "kapis:workspace:other", which does not exist: delete them first',
    })
  })

  it('binds no role of an earlier workspace of the name, which is about to be deleted', async () => {
    const { calls, thrown } = await store('old')
    expect(calls).to.have.length(1)
    expect(thrown).to.have.property('code', 409)
    expect(String(thrown)).to.contain('belongs to an earlier workspace with the same name')
  })

  it('binds no role with other rules that was created in the meantime', async () => {
    let isMade = false
    const other = storeOf('clusterroles', [{ ...role('other', undefined), rules: [] }])
    const { calls, thrown } = await store('other', {
      latest: async () => (isMade ? other : roles),
      response(path) {
        if (path.includes('/workspaces/')) return object('Workspace', 'other')
        isMade = true
        throw new Status(409, 'AlreadyExists', 'there is one')
      },
    })
    expect(calls.slice(1)).to.deep.equal([clusterRoles])
    expect(String(thrown)).to.contain('has other rules than those that Kapis sets')
  })
})
