import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import { parseListQuery } from '../../../../apirequest/query/list-query.ts'
import { entry } from '../../../../resourcecache/fixtures.ts'
import { memberKindOptions } from '../roles/members.ts'
import { narrowUsers, type UserFilterTools } from './user-filters.ts'

const users = ['ann', 'joe', 'kim', 'root']

async function usersOf(query: string, mayList = true) {
  const requests: unknown[] = []
  const held = (user: string, role: string, namespace: string, name: string) => {
    const bound = {
      entry: { ...entry(user), namespace },
      roleRef: { kind: 'ClusterRole', name },
      subjects: [],
    }
    return { user, role, binding: bound }
  }
  const scopes = {
    resolve: async (scopeRef: object) => ({ namespaces: ['b1'], ...scopeRef }),
    async requireList(_exchange: unknown, scopeRef: object, what: string) {
      requests.push([what, scopeRef])
      if (!mayList) throw new Status(403, 'Forbidden', 'no bindings')
    },
    visibleRoles: async () => [held('ann', 'admin', 'b1', 'admin'), held('joe', 'viewer', 'b1', 'view')],
  }
  const platformRoles = {
    read: async () => ({
      version: '1',
      of: ({ name }: { name: string }) => (name === 'root' ? 'platform-admin' : 'platform-regular'),
    }),
  }
  const done = Promise.withResolvers<unknown>()
  const server = await startLoopback(async (req, res) => {
    const exchange = toExchange(req, res)
    // The stubs implement only the methods that narrowUsers calls.
    const tools = { scopes, platformRoles } as unknown as UserFilterTools
    const narrow = async () => narrowUsers(tools, exchange, parseListQuery(exchange.query))
    done.resolve(await narrow().catch((error: unknown) => error))
    res.end()
  })
  try {
    await server.get(`/kapis/iam.kapis.io/v1alpha2/users?${query}`)
    const found = await done.promise
    if (found instanceof Status || found === undefined) return { found, requests }
    const { query: rest, narrowing } = found as NonNullable<Awaited<ReturnType<typeof narrowUsers>>>
    const names = users.filter(name => narrowing.matches(entry(name)))
    return { names, rest: Object.fromEntries(rest.filters), requests }
  } finally {
    await server.close()
  }
}

describe('narrowUsers', () => {
  const rows: readonly [string, readonly string[], object][] = [
    ['globalrole=platform-admin', ['root'], {}],
    ['globalrole=platform-regular&email=x', ['ann', 'joe', 'kim'], { email: 'x' }],
    ['globalrole=unknown', [], {}],
    ['workspace=blue', ['ann', 'joe'], {}],
    ['workspace=blue&workspacerole=blue-viewer&name=j', ['joe'], { name: 'j' }],
    ['namespace=b1&role=admin', ['ann'], {}],
    ['namespace=b1&role=adm', [], {}],
    ['cluster=true', ['ann', 'joe'], {}],
    ['cluster=true&clusterrole=viewer', ['joe'], {}],
  ]
  for (const [query, names, rest] of rows)
    it(`finds ${names.length} users by ${query}`, async () => {
      const found = await usersOf(query)
      expect([found.names, found.rest]).to.deep.equal([names, rest])
      expect(found.requests).to.have.length(1)
    })

  for (const query of ['', 'role=admin', 'workspacerole=x', 'cluster=false', 'email=x'])
    it(`leaves ${JSON.stringify(query)} to the other filters`, async () =>
      expect(await usersOf(query)).to.deep.equal({ found: undefined, requests: [] }))

  for (const query of ['globalrole=platform-admin', 'workspace=blue', 'namespace=b1', 'cluster=true'])
    it(`requires the permission to list bindings for ${query}`, async () =>
      expect((await usersOf(query, false)).found).to.include({ code: 403 }))
})

describe('memberKindOptions', () => {
  const { toFields, filters } = memberKindOptions('kapis.io', 'namespace')
  const fields = toFields({
    ...entry('ann').parsed(),
    metadata: { ...entry('ann').meta, annotations: { 'iam.kapis.io/role': 'admin,deployer' } },
  })
  const rows: readonly [string, boolean][] = [
    ['admin', true],
    ['deployer', true],
    ['adm', false],
    ['admin,deployer', false],
  ]
  for (const [role, isFound] of rows)
    it(`${isFound ? 'finds' : 'does not find'} a member with two roles by ${role}`, () =>
      expect(filters.role?.(role)(fields)).to.equal(isFound))
})
