import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import { binding as bindingOf, groupDomain, native, object, storeOf } from './fixtures.ts'
import { createPlatformRoles } from './platform-roles.ts'
import { createScopeReader } from './role-reader.ts'

const scope = { labels: { 'iam.kapis.io/scope': 'global' } }

const binding = (name: string, role: string, kind: string, subject: string) =>
  bindingOf(name, `ClusterRole/${role}`, [`${kind}/${subject}`])

const bindings = [
  binding('root', 'cluster-admin', 'User', 'root'),
  binding('admins', 'cluster-admin', 'Group', 'platform-admins'),
  binding('auditor', 'auditor', 'User', 'ann'),
  binding('all', 'kapis:visible-namespaces', 'Group', 'everyone'),
  binding('other', 'view', 'User', 'joe'),
]
const stores = new Map([
  [
    'clusterroles',
    storeOf('clusterroles', [
      ...['cluster-admin', 'kapis:visible-namespaces', 'view'].map(name => object('ClusterRole', name)),
      object('ClusterRole', 'auditor', {}, scope),
    ]),
  ],
  ['clusterrolebindings', storeOf('clusterrolebindings', bindings)],
])

function setUp(denied: readonly string[] = []) {
  const calls: unknown[] = []
  const scopes = createScopeReader({
    groupDomain,
    async require(_exchange, { verb, resource }) {
      if (denied.includes(`${verb} ${resource}`)) throw new Status(403, 'Forbidden', `no ${resource}`)
    },
    async latest(plural) {
      const store = stores.get(plural)
      if (store === undefined) throw new Error(plural)
      return store
    },
    show: async () => undefined,
  })
  const roles = createPlatformRoles({
    groupDomain,
    scopes,
    async callAs(_exchange, { method = 'GET', path }) {
      calls.push(`${method} ${path}`)
      if (denied.includes('bind')) throw new Status(403, 'Forbidden', 'escalation')
      const found = bindings.find(({ metadata }) => path.endsWith(`/${metadata.name}`))
      return { code: 200, text: JSON.stringify(found ?? {}) }
    },
  })
  return { roles, calls }
}

describe('createPlatformRoles', () => {
  const rows: readonly [string, readonly string[], string][] = [
    ['root', [], 'platform-admin'],
    ['ann', [], 'auditor'],
    ['ann', ['platform-admins'], 'platform-admin'],
    ['ann', ['everyone'], 'auditor'],
    ['joe', ['everyone'], 'platform-regular'],
    ['nonexistent', ['dev'], 'platform-regular'],
    ['platform-admins', [], 'platform-regular'],
  ]
  for (const [name, groups, role] of rows)
    it(`returns ${role} for ${name} in [${groups}]`, async () =>
      expect((await setUp().roles.read()).of({ name, groups })).to.equal(role))

  describe('prepare', () => {
    const all = `${native}/clusterrolebindings`
    const tried = `POST ${all}?dryRun=All`

    async function prepare(
      name: string,
      role: string,
      { isNewUser = false, denied = [] as readonly string[] } = {},
    ) {
      const { roles, calls } = setUp(denied)
      const done = Promise.withResolvers<unknown>()
      const server = await startLoopback(async (req, res) => {
        const exchange = toExchange(req, res)
        const run = async () => {
          const give = await roles.prepare(
            exchange,
            { name, groups: ['platform-admins'] },
            { role, isNewUser },
          )
          calls.push('write')
          await give()
        }
        done.resolve(await run().catch(error => error))
        res.end()
      })
      try {
        const { headers } = await server.get('/kapis/iam.kapis.io/v1alpha2/users?fieldManager=x')
        return { calls, error: await done.promise, warning: headers.warning }
      } finally {
        await server.close()
      }
    }

    it('grants a new user a role if kube-apiserver allows the caller to', async () => {
      const { calls, warning } = await prepare('new', 'platform-admin', { isNewUser: true })
      expect(calls).to.deep.equal([tried, 'write', `POST ${all}`])
      expect(warning).to.equal(undefined)
    })

    it('replaces the role of a user, and names a role that comes from a group', async () => {
      const { calls, warning } = await prepare('root', 'auditor')
      expect(calls).to.deep.equal([tried, 'write', `POST ${all}`, `GET ${all}/root`, `DELETE ${all}/root`])
      expect(warning).to.include('the user keeps the platform role platform-admin of a group')
    })

    it('removes a role by assigning the default role', async () => {
      const { calls } = await prepare('ann', 'platform-regular')
      expect(calls).to.deep.equal(['write', `GET ${all}/auditor`, `DELETE ${all}/auditor`])
    })

    const refused: readonly [string, string, readonly string[], number, RegExp][] = [
      ['that the caller may not grant', 'platform-admin', ['bind'], 403, /escalation/],
      [
        'if the caller may not list bindings',
        'platform-admin',
        ['list clusterrolebindings'],
        403,
        /no cluster/,
      ],
      [
        'of another name if the caller may not list roles',
        'auditor',
        ['list clusterroles'],
        403,
        /no cluster/,
      ],
      ['that does not exist', 'root', [], 422, /unknown role "root"; supported: platform-admin, .*auditor/],
      ['that is a ClusterRole of the cluster', 'view', [], 422, /globalrole.*unknown role "view"/],
    ]
    for (const [title, role, denied, code, message] of refused)
      it(`rejects a role ${title}, before anything is written`, async () => {
        const { calls, error } = await prepare('joe', role, { denied })
        expect(error).to.include({ code })
        expect(String(error)).to.match(message)
        expect(calls).to.not.include('write')
      })
  })

  it('returns nothing to callers who may not list bindings', async () => {
    const server = await startLoopback(async (req, res) => {
      const { roles } = setUp(['list clusterrolebindings'])
      res.end(String(await roles.readFor(toExchange(req, res))))
    })
    try {
      expect((await server.get('/kapis/iam.kapis.io/v1alpha2/users')).text).to.equal('undefined')
    } finally {
      await server.close()
    }
  })
})
