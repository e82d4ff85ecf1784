import { expect } from 'chai'
import { rejectionOf } from '../apierrors/fixtures.ts'
import { jane } from '../apirequest/fixtures.ts'
import { type RequestInfo, toResourceInfo } from '../apirequest/request-info.ts'
import { membersOf, textOf } from '../kubeclient/object.ts'
import { toAggregatedKinds } from '../resourcecache/kinds.ts'
import { createAuthorizer } from './authorizer.ts'
import { createNarrowingRole, narrowingRole } from './narrowing-role.ts'
import { binding, indexOf, role, user } from './review/fixtures.ts'

const group = 'resources.kapis.io'
const lists = [{ apiGroups: [group], resources: ['pods', 'nodes', 'namespaces'], verbs: ['list', 'watch'] }]
const door = `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "${narrowingRole}" to Group "all"`
const list = (resource: string, namespace = '', of = group) =>
  toResourceInfo({ verb: 'list', group: of, version: 'v1alpha3', resource, namespace })

const roles = [role(narrowingRole, lists), role('full', lists)]
const to = (name: string, namespace?: string) =>
  binding('b', `ClusterRole/${name}`, [user(jane.username)], namespace)

async function start(...bindings: Parameters<typeof indexOf>[0]) {
  const index = await indexOf([...roles, to(narrowingRole), ...bindings])
  const kinds = toAggregatedKinds('kapis.io')
  const found = createNarrowingRole({ reader: index.reader(), group, kinds })
  index.stop()
  return found
}

describe('createNarrowingRole', () => {
  const rows: readonly [string, RequestInfo, string, boolean][] = [
    ['a list that it allows', list('pods'), door, true],
    ['one in a namespace', list('pods', 'a'), door, true],
    ['one that another role allows', list('pods'), door.replace(narrowingRole, 'full'), false],
    ['one that another authorizer allows', list('pods'), '', false],
    ['a kind that is not namespaced', list('nodes'), door, false],
    ['namespaces, which have rights of their own', list('namespaces'), door, false],
    ['a kind of another group', list('pods', '', 'apps'), door, false],
    [
      'a binding whose name holds its text',
      list('pods'),
      door.replace('"x" of', '"x\\" of').replace(` "${narrowingRole}" to`, ` \\"${narrowingRole}\\" to`),
      false,
    ],
  ]
  for (const [what, info, reason, isDecided] of rows)
    it(`${isDecided ? 'hands on' : 'leaves alone'} ${what}`, async () => {
      const { decidedBy } = await start()
      const native = { ...info, group: '', version: 'v1' }
      expect(decidedBy(info, jane, reason)).to.deep.equal(isDecided ? native : undefined)
    })

  it('takes nothing from one who has another role', async () => {
    const everywhere = await start(to('full'))
    expect(everywhere.decidedBy(list('pods'), jane, door)).to.equal(undefined)
    const somewhere = await start(to('full', 'a'))
    expect(somewhere.decidedBy(list('pods', 'a'), jane, door)).to.equal(undefined)
    expect(somewhere.decidedBy(list('pods', 'b'), jane, door)).to.include({ group: '' })
    expect(somewhere.decidedBy(list('pods'), jane, door)).to.include({ group: '' })
  })

  it('lets the right to the kind itself decide, or what is narrowed by it', async () => {
    const asked: string[] = []
    const authorize = createAuthorizer({
      client: {
        async call({ body }) {
          const { group: of, namespace } = membersOf(membersOf(membersOf(body).spec).resourceAttributes)
          asked.push(`${textOf(of)}/${textOf(namespace)}`)
          return { status: { allowed: of === group || namespace === 'a', reason: of === group ? door : '' } }
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
      expect(await rejectionOf(Promise.resolve(authorize(info, jane)))).to.include({ code: 403 })
    const narrowed: string[] = []
    await authorize(list('pods'), jane, async refused => {
      narrowed.push(`${refused.group}/${refused.resource}`)
      return true
    })
    expect(narrowed).to.deep.equal(['/pods'])
    expect(asked).to.deep.equal([`${group}/a`, '/a', `${group}/`, '/', `${group}/b`, '/b'])
  })
})
