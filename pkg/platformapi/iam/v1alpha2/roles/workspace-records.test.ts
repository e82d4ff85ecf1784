import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { KubeObject } from '../../../../kubeclient/object.ts'
import { replaceAll } from '../../../../resourcecache/fixtures.ts'
import { plain } from '../../../../resourcecache/kinds/platform.ts'
import { ObjectStore } from '../../../../resourcecache/store/store.ts'
import { recordRole } from './record-role.ts'
import { createBindingReader } from './role-bindings.ts'
import { createWorkspaceRecords, recordsOf } from './workspace-records.ts'

const groupDomain = 'kapis.io'
const group = 'rbac.authorization.k8s.io'

function object(kind: string, name: string, more: object): KubeObject {
  const metadata = { name, uid: `u-${name}`, resourceVersion: '3', creationTimestamp: '2031-01-01T00:00:00Z' }
  return { kind, apiVersion: `${group}/v1`, metadata, ...more }
}
function role(workspace: string, of: string | undefined): KubeObject {
  const { name, rules } = recordRole(groupDomain, workspace, of)
  return object('ClusterRole', name, { rules })
}
function binding(user: string, workspace: string, of: string | undefined): KubeObject {
  const { name } = recordRole(groupDomain, workspace, of)
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name }
  return object('ClusterRoleBinding', user, {
    roleRef,
    subjects: [{ apiGroup: group, kind: 'User', name: user }],
  })
}
function storeOf(plural: string, kind: string, objects: readonly KubeObject[]): ObjectStore {
  const named = { plural, singular: kind.toLowerCase(), kind, shortNames: [], categories: [], columns: [] }
  const source = { group, version: 'v1', path: `/apis/${group}/v1/${plural}` }
  const store = new ObjectStore({
    kind: { ...plain, ...named, namespaced: false, source },
    group,
    version: 'v1',
  })
  replaceAll(store, objects, '10')
  return store
}

const roles = storeOf('clusterroles', 'ClusterRole', [
  role('blue', 'admin'),
  role('blue', undefined),
  role('red', 'admin'),
  { ...role('blue', 'view'), rules: [] },
])
const bindings = storeOf('clusterrolebindings', 'ClusterRoleBinding', [
  binding('ann', 'blue', 'admin'),
  binding('joe', 'blue', undefined),
  binding('kim', 'red', 'admin'),
  // Bound to a role that gives nothing, as anyone might.
  binding('mallory', 'blue', 'view'),
  binding('eve', 'blue', 'edit'),
  binding('system:x', 'blue', 'admin'),
])
const toBinding = createBindingReader()
const recordsAt = async (workspace: string) =>
  recordsOf([...bindings.entries()].map(toBinding), { groupDomain, workspace }, roles)

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
  ] as const)
    it(`are those of workspace ${workspace}, by roles that cannot be bound by anyone`, async () =>
      expect(
        (await recordsAt(workspace)).map(({ user, recorded }) => [user, recorded.role]),
      ).to.have.deep.members([...members]))
})

describe('createWorkspaceRecords', () => {
  async function giveIn(isRefused: boolean) {
    const calls: unknown[] = []
    const { giveIn: give } = createWorkspaceRecords({
      groupDomain,
      places: { latest: async () => roles, recordsAt },
      async callAs(_exchange, { path, body }) {
        calls.push([path, Object(body).roleRef, Object(body).subjects[0].name])
        if (isRefused) throw new Status(403, 'Forbidden', 'escalation')
        return { code: 201, text: '{}' }
      },
    })
    const server = await startLoopback(async (req, res) => {
      await give(toExchange(req, res), { workspace: 'blue', namespace: 'new' })
      res.end()
    })
    try {
      const { headers } = await server.get('/kapis/tenant.kapis.io/v1alpha2/workspaces/blue/namespaces?x=1')
      return { calls, warning: headers.warning }
    } finally {
      await server.close()
    }
  }
  const given = [
    `/apis/${group}/v1/namespaces/new/rolebindings`,
    { apiGroup: group, kind: 'ClusterRole', name: 'admin' },
    'ann',
  ]

  it('gives the stored members their roles in a new namespace, as its creator', async () =>
    expect(await giveIn(false)).to.deep.equal({ calls: [given], warning: undefined }))

  it('tells the creator of members who have no role', async () => {
    const { warning } = await giveIn(true)
    expect(warning).to.equal(
      '299 - "1 of 1 members of the workspace have no role in the namespace: add them again"',
    )
  })
})
