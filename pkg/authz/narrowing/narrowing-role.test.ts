import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { jane } from '../../apirequest/fixtures.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import { fieldsOf, textOf } from '../../kubeclient/object/object.ts'
import { toAggregatedKinds } from '../../resourcecache/kinds.ts'
import { createAuthorizer } from '../authorizer.ts'
import { binding, indexOf, role, user } from '../review/fixtures.ts'
import { createNarrowingRole, narrowingRole } from './narrowing-role.ts'

const group = 'resources.kapis.io'
const lists = [{ apiGroups: [group], resources: ['pods', 'nodes', 'namespaces'], verbs: ['list', 'watch'] }]
const reason = `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "${narrowingRole}" to Group "all"`
const list = (resource: string, namespace = '', of = group) =>
  toResourceInfo({ verb: 'list', group: of, version: 'v1alpha3', resource, namespace })

const full = lists.map(rule => ({ ...rule, verbs: ['get', ...rule.verbs] }))

const roles = [role(narrowingRole, lists), role('full', full), role('copy', lists)]
const to = (name: string, namespace?: string) =>
  binding('b', `ClusterRole/${name}`, [user(jane.username)], namespace)

const start = (...bindings: Parameters<typeof indexOf>[0]) => startWith(to(narrowingRole), ...bindings)

async function startWith(...bindings: Parameters<typeof indexOf>[0]) {
  const index = await indexOf([...roles, ...bindings])
  const kinds = toAggregatedKinds('kapis.io')
  const found = createNarrowingRole({ reader: index.reader(), group, kinds })
  index.stop()
  return found
}

describe('createNarrowingRole', () => {
  const rows: readonly [string, RequestInfo, string, boolean][] = [
    ['a list that the role allows', list('pods'), reason, true],
    ['a list in a namespace', list('pods', 'a'), reason, true],
    [
      'a list that a role allows which is not cached yet',
      list('pods'),
      reason.replace(narrowingRole, 'full'),
      true,
    ],
    ['a list whose reason has another wording', list('pods'), 'allowed', true],
    ['a list without a reason', list('pods'), '', true],
    ['an object that the role does not allow', { ...list('pods'), verb: 'get' }, '', false],
    ['a cluster-scoped kind', list('nodes'), reason, false],
    ['namespaces, which have permissions of their own', list('namespaces'), reason, false],
    ['a kind of another API group', list('pods', '', 'apps'), reason, false],
    [
      'a binding whose name contains the text of the role',
      { ...list('pods'), verb: 'get' },
      reason.replace('"x" of', '"x\\" of').replace(` "${narrowingRole}" to`, ` \\"${narrowingRole}\\" to`),
      false,
    ],
  ]
  for (const [what, info, given, isDecided] of rows)
    it(`${isDecided ? 'decides' : 'ignores'} ${what}`, async () => {
      const { decidedBy } = await start()
      const native = { ...info, group: '', version: 'v1' }
      expect(decidedBy(info, jane, given)).to.deep.equal(isDecided ? native : undefined)
    })

  it('does not decide for a caller with another role in the same namespace', async () => {
    const everywhere = await start(to('full'))
    expect(everywhere.decidedBy(list('pods'), jane, reason)).to.equal(undefined)
    const somewhere = await start(to('full', 'a'))
    expect(somewhere.decidedBy(list('pods', 'a'), jane, reason)).to.equal(undefined)
    expect(somewhere.decidedBy(list('pods', 'b'), jane, reason)).to.include({ group: '' })
    expect(somewhere.decidedBy(list('pods'), jane, reason)).to.include({ group: '' })
  })

  it('ignores copies of the role, which any of its users can create, while it is bound', async () => {
    const toAll = binding('d', `ClusterRole/${narrowingRole}`, [user('others')])
    const ofCopy = reason.replace(narrowingRole, 'copy')
    for (const [bindings, isDecided] of [
      [[toAll, to('copy')], true],
      [[toAll, to('copy'), to('full', 'a')], true],
      [[toAll, to('copy'), to('full')], false],
      [[to('copy')], false],
      // Another authorizer has allowed it.
      [[toAll], false],
    ] as const) {
      const { decidedBy } = await startWith(...bindings)
      const found = decidedBy(list('pods'), jane, ofCopy)
      expect(found !== undefined, JSON.stringify(bindings)).to.equal(isDecided)
    }
  })

  it('does not narrow a list in a namespace either', async () => {
    const toAll = binding('d', `ClusterRole/${narrowingRole}`, [user('others')])
    for (const [bindings, isNative] of [
      [[to('full', 'a')], false],
      [[to(narrowingRole, 'a')], true],
      [[toAll, to('copy', 'a')], true],
    ] as const) {
      const { narrowedBy } = await startWith(...bindings)
      expect(narrowedBy(list('pods'), jane)).to.include({ group: isNative ? '' : group })
      expect(narrowedBy(list('nodes'), jane)).to.include({ group })
    }
  })

  it('prefers the permission on the kind itself, and otherwise narrows', async () => {
    const requests: string[] = []
    const authorize = createAuthorizer({
      client: {
        async call({ body }) {
          const { group: of, namespace } = fieldsOf(fieldsOf(fieldsOf(body).spec).resourceAttributes)
          requests.push(`${textOf(of)}/${textOf(namespace)}`)
          return {
            status: { allowed: of === group || namespace === 'a', reason: of === group ? reason : '' },
          }
        },
        stream: () => Promise.reject(new Error('nothing is streamed here')),
        close: () => undefined,
      },
      group,
      narrowingRole: await start(),
      observe: () => undefined,
    })
    await authorize(list('pods', 'a'), jane)
    for (const info of [list('pods'), list('pods', 'b')])
      expect(await rejectedStatus(Promise.resolve(authorize(info, jane)))).to.include({ code: 403 })
    const narrowed: string[] = []
    await authorize(list('pods'), jane, async refused => {
      narrowed.push(`${refused.group}/${refused.resource}`)
      return true
    })
    expect(narrowed).to.deep.equal(['/pods'])
    expect(requests).to.deep.equal([`${group}/a`, '/a', `${group}/`, '/', `${group}/b`, '/b'])
  })
})
