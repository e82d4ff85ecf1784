import { expect } from 'chai'
import { unavailable } from '../../apierrors/status.ts'
import { jane } from '../../apirequest/fixtures.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import { parseRequestInfo } from '../../apirequest/request-info.ts'
import type { RbacIndex, RbacReader } from '../rbac/rbac-index.ts'
import { accessReport } from './access-report.ts'
import { allowedNamespaces } from './allowed-namespaces.ts'
import { explainAccess, rolesThatAllow } from './explain-access.ts'
import { createForbiddenExplanation } from './explain-forbidden.ts'
import { binding, groupOf, indexOf, role, user } from './fixtures.ts'
import { createRbacCheck } from './rbac-check.ts'
import type { AccessAttributes } from './rule.ts'
import { whoCan } from './who-can.ts'

const read = { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] }
const write = { apiGroups: [''], resources: ['pods'], verbs: ['delete'] }
const objects = [
  role('view', [read]),
  role('edit', [read, write]),
  role('pods', [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }]),
  role('everything', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
  role('one', [{ ...read, resourceNames: ['web-0'] }]),
  role('metrics', [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]),
  role('system:all', [write]),
  role('acting', [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }]),
  role('accounts', [
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
    { apiGroups: [''], resources: ['*/token'], verbs: ['create'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind', 'escalate'] },
  ]),
  role('own', [write], 'shop'),
  role('own', [read], 'bank'),
  binding('ops', 'ClusterRole/edit', [user('ann'), groupOf('ops')]),
  binding('metrics', 'ClusterRole/metrics', [groupOf('dev')]),
  binding('acting', 'ClusterRole/acting', [user('bob')]),
  binding('metrics-here', 'ClusterRole/metrics', [user('carl')], 'shop'),
  binding('dev', 'ClusterRole/view', [groupOf('dev')], 'shop'),
  binding('twice', 'ClusterRole/view', [user('jane'), groupOf('dev')], 'shop'),
  binding('one', 'ClusterRole/one', [user('jane')], 'bank'),
  binding('own', 'Role/own', [{ kind: 'ServiceAccount', name: 'ci' }], 'shop'),
  binding('all-accounts', 'Role/own', [groupOf('system:serviceaccounts:shop')], 'bank'),
  binding('accounts', 'ClusterRole/accounts', [user('dora')], 'vault'),
  binding('lost', 'Role/gone', [user('jane')], 'shop'),
  // Ignored: a ClusterRoleBinding has no namespace.
  binding('nowhere', 'ClusterRole/edit', [{ kind: 'ServiceAccount', name: 'ci' }]),
]
const caller = (username: string, ...groups: readonly string[]): Identity => ({
  username,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: {},
})
const on = (verb: string, target: string, namespace = '', name = ''): AccessAttributes => {
  const [resource = '', subresource = ''] = target.split('/')
  return { isResource: true, verb, group: '', resource, subresource, name, namespace }
}

describe('reviews of access', () => {
  let index: RbacIndex
  let reader: RbacReader
  before(async () => {
    index = await indexOf(objects)
    reader = index.reader()
  })
  after(() => index.stop())

  describe('whoCan', () => {
    const subjects = (attributes: AccessAttributes) =>
      whoCan(reader, attributes).subjects.map(({ kind, namespace, name, grants }) => {
        const bindings = grants.map(grant => grant.binding.name).join('+')
        return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}: ${bindings}`
      })
    const everywhere = ['Group ops: ops', 'Group system:masters: ', 'User ann: ops']
    const responses: readonly [string, AccessAttributes, readonly string[]][] = [
      ['in the cluster', on('delete', 'pods'), everywhere],
      ['in a namespace', on('delete', 'pods', 'shop'), [...everywhere, 'ServiceAccount shop/ci: own']],
      [
        'of a group, and of a subject in two ways',
        on('get', 'pods/log', 'shop'),
        ['Group dev: dev+twice', ...everywhere, 'User jane: twice'],
      ],
      ['in a namespace that does not exist', on('get', 'pods', 'nowhere'), everywhere],
      [
        'for a path, which RoleBindings do not grant',
        { isResource: false, verb: 'get', path: '/metrics' },
        ['Group dev: metrics', 'Group system:masters: '],
      ],
    ]
    for (const [what, attributes, expected] of responses) {
      it(`finds the subjects ${what}`, () => expect(subjects(attributes)).to.deep.equal(expected))
    }

    it('finds subjects with a permission on one object by its name', () => {
      const group = 'Group system:serviceaccounts:shop: all-accounts'
      expect(subjects(on('get', 'pods', 'bank')))
        .to.include(group)
        .and.not.include('User jane: one')
      expect(subjects(on('get', 'pods', 'bank', 'web-0'))).to.include.members([group, 'User jane: one'])
      expect(subjects(on('get', 'pods', 'bank', 'web-1'))).to.not.include('User jane: one')
    })

    it('runs in milliseconds for a subject of ten thousand bindings', () => {
      const one = { namespace: '', name: 'b', role: 'view', subjects: ['user ann'] }
      const many = { ...reader, clusterBindings: () => Array.from({ length: 20_000 }, () => one) }
      const start = performance.now()
      const [, ann] = whoCan(many, on('get', 'pods')).subjects
      expect(ann?.grants).to.have.length(20_000)
      expect(performance.now() - start).to.be.below(1500)
    })

    it('returns the rule, and the subjects that may impersonate others', () => {
      const { subjects: found, notes } = whoCan(reader, on('delete', 'pods'))
      expect(found.find(({ name }) => name === 'ann')).to.deep.equal({
        kind: 'User',
        name: 'ann',
        grants: [
          {
            binding: { kind: 'ClusterRoleBinding', name: 'ops' },
            role: { kind: 'ClusterRole', name: 'edit' },
            rule: write,
          },
        ],
      })
      expect(notes).to.include('these subjects may impersonate users: user bob')
    })

    it('notes the subjects that may escalate in the namespace of the request only', () => {
      const dora = (attributes: AccessAttributes) =>
        whoCan(reader, attributes).notes.filter(note => note.includes('user dora'))
      expect(dora(on('delete', 'pods', 'vault'))).to.deep.equal([
        'these subjects may impersonate service accounts in the namespace "vault": user dora',
        'these subjects may create tokens of service accounts in the namespace "vault": user dora',
        'these subjects may write Roles with permissions that they do not have in the namespace "vault": user dora',
        'these subjects may bind Roles with permissions that they do not have in the namespace "vault": user dora',
      ])
      for (const elsewhere of [on('delete', 'pods', 'shop'), on('delete', 'pods')])
        expect(dora(elsewhere)).to.deep.equal([])
    })
  })

  describe('createRbacCheck', () => {
    const cases: readonly [target: string, identity: Identity, expected: boolean][] = [
      ['/api/v1/namespaces/shop/pods', caller('x', 'dev'), true],
      ['/api/v1/namespaces/bank/pods', caller('x', 'dev'), false],
      ['/api/v1/pods', caller('ann'), true],
      ['/api/v1/namespaces/bank/pods/web-0', caller('jane'), true],
      ['/api/v1/namespaces/bank/pods/web-1', caller('jane'), false],
      ['/metrics', caller('x', 'dev'), true],
      ['/metrics', caller('carl'), false],
    ]
    for (const [target, identity, expected] of cases)
      it(`${expected ? 'allows' : 'denies'} ${identity.username} to get ${target}`, () => {
        expect(createRbacCheck(reader).allows(parseRequestInfo('GET', target), identity)).to.equal(expected)
      })

    it('returns undefined before the first lists', () => {
      const bindingsOf = () => {
        throw unavailable('not yet')
      }
      const check = createRbacCheck({ ...reader, bindingsOf })
      expect(check.allows(parseRequestInfo('GET', '/metrics'), jane)).to.equal(undefined)
    })
  })

  describe('allowedNamespaces', () => {
    const found = (identity: Identity, attributes: AccessAttributes) => {
      const { allNamespaces, namespaces } = allowedNamespaces(reader, identity, attributes)
      return allNamespaces ? 'all' : namespaces
    }

    it('returns the namespaces of the bindings that grant the permission', () => {
      expect(found(jane, on('get', 'pods'))).to.deep.equal(['shop'])
      expect(found(jane, on('get', 'pods', '', 'web-0'))).to.deep.equal(['bank', 'shop'])
      expect(found(jane, on('delete', 'pods'))).to.deep.equal([])
      expect(found(caller('ann'), on('delete', 'pods'))).to.equal('all')
      expect(found(caller('x', 'system:masters'), on('delete', 'pods'))).to.equal('all')
      const account = caller('system:serviceaccount:shop:ci', 'system:serviceaccounts:shop')
      expect(found(account, on('list', 'pods'))).to.deep.equal(['bank'])
      expect(found(account, on('delete', 'pods'))).to.deep.equal(['shop'])
    })
  })

  describe('accessReport', () => {
    it('lists bindings by namespace, and the rules of each role once', () => {
      const report = accessReport(reader, jane, '')
      expect(report.cluster.map(({ binding: { name } }) => name)).to.deep.equal(['metrics'])
      const names = report.namespaces.map(({ namespace, bindings }) => [
        namespace,
        ...bindings.map(({ binding: { name } }) => name),
      ])
      expect(names).to.deep.equal([
        ['bank', 'one'],
        ['shop', 'dev', 'lost', 'twice'],
      ])
      expect(report.roles).to.deep.equal([
        {
          role: { kind: 'ClusterRole', name: 'metrics' },
          rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
        },
        { role: { kind: 'ClusterRole', name: 'one' }, rules: [{ ...read, resourceNames: ['web-0'] }] },
        { role: { kind: 'Role', name: 'gone', namespace: 'shop' }, isMissing: true, rules: [] },
        { role: { kind: 'ClusterRole', name: 'view' }, rules: [read] },
      ])
      expect(report.notes).to.deep.equal([])
    })

    it('contains one namespace on request, with cluster-wide bindings', () => {
      const { cluster, namespaces } = accessReport(reader, jane, 'bank')
      expect(cluster).to.have.length(1)
      expect(namespaces.map(({ namespace }) => namespace)).to.deep.equal(['bank'])
    })

    it('notes a permission to impersonate', () => {
      expect(accessReport(reader, caller('bob'), '').notes).to.deep.equal([
        'may impersonate users, and thereby use their permissions',
      ])
    })
  })

  describe('explainAccess', () => {
    it('returns the bindings that allow a request', () => {
      const { isAllowed, grants, nearest } = explainAccess(reader, jane, on('get', 'pods', 'shop'))
      expect(isAllowed).to.equal(true)
      expect(grants.map(grant => grant.binding.name).sort()).to.deep.equal(['dev', 'twice'])
      expect(nearest).to.deep.equal([])
    })

    it('returns the missing rule, and the closest one', () => {
      const { isAllowed, nearest, missingRule } = explainAccess(reader, jane, on('delete', 'pods', 'shop'))
      expect(isAllowed).to.equal(false)
      expect(missingRule).to.deep.equal({ verbs: ['delete'], apiGroups: [''], resources: ['pods'] })
      const misses = nearest.map(({ binding: { name, namespace }, missing }) => [namespace, name, ...missing])
      expect(misses).to.deep.equal([
        ['shop', 'dev', 'the verbs are get, list, not delete'],
        ['shop', 'lost', 'the Role does not exist'],
        ['shop', 'twice', 'the verbs are get, list, not delete'],
      ])
    })

    const misses: readonly [string, AccessAttributes, string][] = [
      [
        'the namespace',
        on('get', 'pods', 'bank'),
        'the binding applies in the namespace "shop", not in "bank"',
      ],
      [
        'the cluster scope',
        on('get', 'pods'),
        'the binding applies in the namespace "shop" only, not at the cluster scope',
      ],
      ['the name', on('get', 'pods', 'bank', 'web-1'), 'the names are "web-0", not "web-1"'],
      ['all names', on('get', 'pods', 'bank'), 'it allows only the names "web-0"'],
      ['the subresource', on('get', 'pods/exec', 'shop'), 'the resources are pods, pods/log, not pods/exec'],
    ]
    for (const [what, attributes, expected] of misses) {
      it(`reports that ${what} is missing`, () => {
        const { nearest } = explainAccess(reader, jane, attributes)
        expect(nearest.map(({ missing }) => missing)).to.deep.include([expected])
      })
    }

    it('returns no closest rule if no rule is about the resource', () => {
      const { nearest } = explainAccess(reader, caller('carl'), on('get', 'secrets', 'bank'))
      expect(nearest).to.deep.equal([])
    })

    it('returns the roles that would suffice, those without wildcards first, without Kubernetes’ own', () => {
      const names = rolesThatAllow(reader, on('delete', 'pods', 'shop')).map(
        ({ kind, name }) => `${kind} ${name}`,
      )
      expect(names).to.deep.equal([
        'Role own',
        'ClusterRole edit',
        'ClusterRole pods',
        'ClusterRole everything',
      ])
    })
  })

  describe('createForbiddenExplanation', () => {
    const explained = (path: string, lacks = '') =>
      createForbiddenExplanation(reader)(
        parseRequestInfo('DELETE', path),
        jane,
        async ({ verb, resource }) => verb === 'list' && resource !== lacks,
      )

    it('names the closest binding, or the rule', async () => {
      expect(await explained('/api/v1/namespaces/shop/pods/web-0')).to.equal(
        'RoleBinding "dev" in the namespace "shop" gives ClusterRole "view", but the verbs are get, list, not delete',
      )
      expect(await explained('/api/v1/namespaces/bank/secrets/a')).to.equal(
        'no binding grants the rule {"verbs":["delete"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a"]}',
      )
    })

    for (const lacks of ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings']) {
      it(`returns nothing for a caller who may not list ${lacks}`, async () => {
        expect(await explained('/api/v1/namespaces/shop/pods/web-0', lacks)).to.equal('')
      })
    }
  })
})
