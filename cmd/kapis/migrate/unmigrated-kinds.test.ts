import { expect } from 'chai'
import type { KubeObject } from '../../../pkg/kubeclient/object/object.ts'
import { findUnmigrated } from './unmigrated-kinds.ts'

function named(name: string, meta: object = {}): KubeObject {
  return { metadata: { name, uid: '', resourceVersion: '1', creationTimestamp: '', ...meta } }
}

describe('findUnmigrated', () => {
  const iam = '/apis/iam.old.test/v1alpha2'
  const objects: Readonly<Record<string, readonly KubeObject[]>> = {
    [`${iam}/workspaceroles`]: [
      named('own'),
      named('template', { labels: { 'iam.old.test/role-template': 'true' } }),
      named('w-admin', { annotations: { 'old.test/creator': 'system' } }),
    ],
    [`${iam}/workspacerolebindings`]: [1, 2, 3, 4, 5, 6, 7].map(i => named(`b${i}`)),
    [`${iam}/groups`]: [named('dev')],
    '/apis/tenant.old.test/v1alpha2/workspacetemplates': [named('blue')],
  }

  it('names kinds that are not migrated, with what to do', async () => {
    const lines = await findUnmigrated(async path => objects[path] ?? [], {
      from: 'old.test',
      to: 'new.test',
    })
    expect(lines).to.deep.equal([
      'WorkspaceRole own: not migrated; create ClusterRoles with the label new.test/workspace',
      'WorkspaceRoleBinding b1, b2, b3, b4, b5 and 2 more: not migrated; create RoleBindings in the namespaces of the workspace',
      'Group dev: not migrated; groups are names in spec.groups of users; their aliases are not migrated',
      'WorkspaceTemplate blue: not migrated; create Workspaces of tenant.new.test, and label their namespaces new.test/workspace',
    ])
  })

  it('omits kinds that a Kapis with the group domain of KubeSphere uses', async () => {
    const lines = await findUnmigrated(async path => objects[path] ?? [], {
      from: 'old.test',
      to: 'old.test',
    })
    expect(lines.map(line => line.split(' ')[0])).to.deep.equal(['WorkspaceRole', 'WorkspaceRoleBinding'])
  })

  it('names a kind that cannot be listed, and continues', async () => {
    const lines = await findUnmigrated(
      async path => {
        if (path.endsWith('/groups')) throw new Error('groups is forbidden')
        return objects[path] ?? []
      },
      { from: 'old.test', to: 'new.test' },
    )
    expect(lines).to.have.length(4)
    expect(lines[2]).to.equal('Group: not migrated, and failed to list them: groups is forbidden')
  })

  it('names bindings of others than existing users', async () => {
    const subjects = (...of: readonly string[]) => ({
      subjects: of.map(text => ({ kind: text.split(' ')[0], name: text.split(' ')[1] })),
    })
    const bound: Readonly<Record<string, readonly KubeObject[]>> = {
      [`${iam}/users`]: [named('ann')],
      [`${iam}/globalrolebindings`]: [
        { ...named('of-ann'), ...subjects('User ann') },
        { ...named('of-group'), ...subjects('User ann', 'Group dev') },
        { ...named('of-gone'), ...subjects('User gone') },
        named('of-none'),
      ],
      [`${iam}/groupbindings`]: [
        { ...named('dev-ann'), groupRef: { name: 'dev' }, users: ['ann'] },
        { ...named('dev-gone'), groupRef: { name: 'dev' }, users: ['ann', 'gone'] },
        { ...named('without'), users: ['ann'] },
      ],
      '/apis/cluster.old.test/v1alpha1/clusters': [named('host'), named('east')],
      '/apis/quota.old.test/v1alpha2/resourcequotas': [named('blue')],
    }
    const lines = await findUnmigrated(async path => bound[path] ?? [], { from: 'old.test', to: 'new.test' })
    expect(lines).to.deep.equal([
      'GlobalRoleBinding of-group, of-gone, of-none: not migrated; it has no subject, a group, a service account or a user who does not exist: create ClusterRoleBindings',
      'GroupBinding dev-gone, without: not migrated; it has no group, or users who do not exist',
      'ResourceQuota (of workspaces) blue: not migrated; create ResourceQuotas in the namespaces of the workspace',
      'Cluster east: not migrated; create Clusters of cluster.new.test, and a Secret with each kubeconfig (docs/clusters.md)',
    ])
  })

  it('returns nothing if no such objects exist', async () => {
    expect(await findUnmigrated(async () => [], { from: 'old.test', to: 'new.test' })).to.deep.equal([])
  })
})
