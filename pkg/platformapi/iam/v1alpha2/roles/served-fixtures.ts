import { expect } from 'chai'
import { renderKube } from '../../../../apierrors/render-kube.ts'
import { Status, unknownResource } from '../../../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import type { Handler } from '../../../../apirequest/request-context.ts'
import { toUser, type User } from '../../../../iam/users/user.ts'
import { fieldsOf, type KubeObject } from '../../../../kubeclient/object/object.ts'
import { routeOf } from '../../../../openapi/route.ts'
import { binding, groupDomain, object, rbac, storeOf } from './fixtures.ts'
import { createRoleRoutes, type RoleTools } from './role-routes.ts'

export const base = '/kapis/iam.kapis.io/v1alpha2'

export const workspaces = '/apis/tenant.kapis.io/v1alpha1/workspaces'
export const workspaceOf = (name: string) => ({
  ...object('Workspace', name),
  apiVersion: 'tenant.kapis.io/v1alpha1',
})
export const recordRules = (workspace: string, verb: string) => [
  {
    apiGroups: ['tenant.kapis.io'],
    resources: ['workspaces'],
    resourceNames: [workspace],
    verbs: ['get', verb],
  },
  ...(verb === 'member:admin' || verb === 'member:edit'
    ? [
        {
          apiGroups: ['tenant.kapis.io'],
          resources: ['workspaces/namespaces'],
          resourceNames: [workspace],
          verbs: ['create'],
        },
      ]
    : []),
]
export const viewRule = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] }
export const usersRule = { apiGroups: ['iam.kapis.io'], resources: ['users'], verbs: ['get'] }
export const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const label = (workspace: string) => ({ labels: { 'kapis.io/workspace': workspace } })
const inside = (namespace: string) => ({ namespace })
const owned = (workspace: string) => ({
  ownerReferences: [{ kind: 'Workspace', name: workspace, uid: `u-${workspace}` }],
})
export const objects: Readonly<Record<string, readonly KubeObject[]>> = {
  namespaces: [
    object('Namespace', 'b1', {}, label('blue')),
    object('Namespace', 'b2', {}, label('blue')),
    object('Namespace', 'g1', {}, label('going')),
    object('Namespace', 'g2', {}, { ...label('going'), deletionTimestamp: '2031-01-02T00:00:00Z' }),
    object('Namespace', 'free'),
    object('Namespace', 'old'),
  ],
  clusterroles: [
    ...['cluster-admin', 'admin', 'edit', 'view', 'kapis:visible-namespaces', 'own'].map(name =>
      object('ClusterRole', name, { rules }),
    ),
    object('ClusterRole', 'operators', { rules }, { labels: { 'iam.kapis.io/scope': 'global' } }),
    object('ClusterRole', 'blue-readers', { rules }, label('blue')),
    object('ClusterRole', 'kapis:workspace:empty:admin', { rules: recordRules('empty', 'member:admin') }),
    object('ClusterRole', 'kapis:workspace:empty', { rules: recordRules('empty', 'member') }),
    object(
      'ClusterRole',
      'template-view',
      { rules: [viewRule] },
      { labels: { 'iam.kapis.io/role-template': 'true', 'iam.kapis.io/scope': 'namespace' } },
    ),
    object(
      'ClusterRole',
      'template-users',
      { rules: [usersRule] },
      { labels: { 'iam.kapis.io/role-template': 'true', 'iam.kapis.io/scope': 'workspace' } },
    ),
    // An empty role, which every user who may create roles may create.
    object('ClusterRole', 'kapis:workspace:empty:edit', { rules: [] }),
  ],
  roles: [
    object('Role', 'deployer', { rules }, inside('b1')),
    // Roles with the names of presets, as KubeSphere creates them in each namespace.
    object('Role', 'operator', { rules }, inside('old')),
    object('Role', 'own', { rules }, inside('old')),
  ],
  clusterrolebindings: [
    binding('admins', 'ClusterRole/cluster-admin', ['Group/platform-admins']),
    binding('two', 'ClusterRole/own', ['User/joe', 'User/ann', 'User/system:x']),
    binding('record1', 'ClusterRole/kapis:workspace:empty:admin', ['User/ann'], owned('empty')),
    binding('record2', 'ClusterRole/kapis:workspace:empty', ['User/joe', 'Group/dev'], owned('empty')),
    binding('forged', 'ClusterRole/kapis:workspace:empty:edit', ['User/kim'], owned('empty')),
    binding('op', 'ClusterRole/operators', ['User/joe'], { labels: { 'iam.kapis.io/scope': 'global' } }),
  ],
  rolebindings: [
    binding('ann1', 'ClusterRole/admin', ['User/ann'], inside('b1')),
    binding('ann2', 'ClusterRole/admin', ['User/ann'], inside('b2')),
    binding('joe1', 'ClusterRole/view', ['User/joe', 'Group/dev'], inside('b1')),
    binding('joe2', 'Role/deployer', ['User/joe'], inside('b1')),
    binding('ann3', 'ClusterRole/view', ['User/ann'], inside('g1')),
    binding('joe3', 'ClusterRole/view', ['User/joe'], inside('g1')),
    binding('joe4', 'ClusterRole/view', ['User/joe'], inside('g2')),
    binding('old1', 'Role/operator', ['User/kim'], inside('old')),
    binding('old2', 'ClusterRole/own', ['User/jane'], inside('old')),
    binding('mail', 'ClusterRole/view', ['User/kim@x.test'], inside('old')),
  ],
  groups: [
    object('Group', 'dev', {}, { ...label('blue'), generateName: 'dev' }),
    ...['ops', 'unused'].map(name => object('Group', name, {}, label('empty'))),
  ],
  workspaces: ['blue', 'empty'].map(workspaceOf),
  users: ['joe', 'ann'].map(name => ({
    ...object('User', name, {
      spec: { email: `${name}@x.test`, groups: name === 'joe' ? ['dev', 'ops'] : [] },
    }),
    apiVersion: 'iam.kapis.io/v1alpha2',
  })),
}
const stored = new Map<string, User>(
  [
    ['jane', ['dev']],
    ['joe', []],
    ['root', ['platform-admins']],
  ].map(([name, groups]) => [
    String(name),
    toUser(object('User', String(name), { spec: { groups } }, { uid: name === 'jane' ? 'u-1' : 'u-x' })),
  ]),
)

export const member = (username: string, roleRef: string) => ({ username, roleRef })

/** A role as kube-apiserver returns it; one of a dry run has no version. */
function respondWithRole({ path, body }: { readonly path: string; readonly body?: unknown }) {
  const { metadata, rules = [] } = fieldsOf(body)
  const name = String(fieldsOf(metadata).name ?? path.split('/').at(-1))
  const kind = path.includes('/clusterroles') ? 'ClusterRole' : 'Role'
  if (name === 'taken') {
    const plural = `${kind.toLowerCase()}s`
    const details = { name, group: rbac, kind: plural }
    throw new Status(409, 'AlreadyExists', `${plural}.${rbac} "taken" already exists`, { details })
  }
  const managedFields = [{ manager: 'kapis' }]
  const version = path.includes('dryRun=All') ? { resourceVersion: undefined } : {}
  const meta = { ...fieldsOf(metadata), managedFields, ...version }
  const text = JSON.stringify(object(kind, name, { rules }, meta))
  return { code: 200, text }
}

/** Serves the roles and members of the objects above while the tests of a `describe` block run. */
export function serveRoleRoutes(
  toRoutes: (tools: RoleTools) => Readonly<Record<string, Handler>> = createRoleRoutes,
) {
  let loopback: Loopback
  /** The requests to kube-apiserver as the caller. */
  const calls: unknown[] = []
  /** Resources that the caller may not list, optionally with a namespace: `roles b1`. */
  const denied = new Set<string>()
  let maxCalls = Number.POSITIVE_INFINITY

  before(async () => {
    const stores = new Map(Object.entries(objects).map(([plural, items]) => [plural, storeOf(plural, items)]))
    const routes = toRoutes({
      groupDomain,
      users: stored,
      isCaller: ({ identity }, name) => name === identity.username,
      audit: () => undefined,
      async callAs(_exchange, call) {
        calls.push(call)
        if (calls.length > maxCalls) throw new Status(403, 'Forbidden', 'escalation')
        const workspace = /\/workspaces\/(\w+)$/.exec(call.path)?.[1]
        if (workspace === 'none') throw new Status(404, 'NotFound', 'workspaces "none" not found')
        if (workspace !== undefined) return { code: 200, text: JSON.stringify(workspaceOf(workspace)) }
        if (/\/(clusterroles|roles)\b/.test(call.path) && call.method !== 'DELETE')
          return respondWithRole(call)
        const name = /bindings\/(\w+)/.exec(call.path)?.[1]
        const found = [...(objects.rolebindings ?? []), ...(objects.clusterrolebindings ?? [])].find(
          each => each.metadata.name === name,
        )
        return { code: 200, text: JSON.stringify(found ?? { metadata: { name: 'made' } }) }
      },
      async require(_exchange, { resource, namespace }) {
        if (denied.has(resource) || denied.has(`${resource} ${namespace}`))
          throw new Status(403, 'Forbidden', `${resource} in "${namespace}" is forbidden`)
      },
      async latest(plural) {
        const found = stores.get(plural)
        if (found === undefined) throw new Error(plural)
        return found
      },
      async show({ res, info }, what, items) {
        const shown = items.filter(({ metadata }) => info.name === '' || info.name === metadata.name)
        res.end(JSON.stringify({ path: info.path, what, items: shown }))
      },
    })
    loopback = await startLoopback(async (req, res) => {
      const exchange = toExchange(req, res)
      try {
        const serve = routeOf(routes, exchange.info.parts)
        if (serve === undefined) throw unknownResource()
        await serve(exchange)
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    calls.splice(0)
    denied.clear()
    maxCalls = Number.POSITIVE_INFINITY
  })

  const get = async (path: string) => {
    const { code, text } = await loopback.get(`${base}${path}`)
    const body: unknown = JSON.parse(text)
    return { code, body }
  }
  const names = async (path: string) => {
    const { body } = await get(path)
    const items = Array.isArray(body) ? body : fieldsOf(body).items
    return Array.isArray(items)
      ? items.map(({ metadata }) => {
          const role = Object.entries(metadata.annotations ?? {}).find(([key]) => /role$/.test(key))
          return role === undefined ? metadata.name : `${metadata.name}=${role[1]}`
        })
      : body
  }

  const send = (method: string, path: string, body?: unknown) =>
    fetch(`http://127.0.0.1:${loopback.port}${base}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  async function write(method: string, path: string, body?: unknown) {
    const response = await send(method, path, body)
    const answered: unknown = await response.json()
    return { code: response.status, body: answered }
  }
  /** Makes kube-apiserver reject all calls after the first `count`. */
  const rejectAfter = (count: number) => {
    maxCalls = count
  }

  return { calls, denied, get, names, send, write, rejectAfter }
}

type ServedRoutes = Pick<ReturnType<typeof serveRoleRoutes>, 'calls' | 'denied' | 'write'>

export type RejectedWrite = readonly [
  method: string,
  path: string,
  body: unknown,
  code: number,
  message: string,
]

/** Defines a test for each write that is rejected before anything is written. */
export function itRejects(
  { calls, write }: Pick<ServedRoutes, 'calls' | 'write'>,
  refused: readonly RejectedWrite[],
) {
  for (const [method, path, body, code, message] of refused)
    it(`${method} ${path} ${JSON.stringify(body)} is ${code}`, async () => {
      const response = await write(method, path, body)
      expect([response.code, fieldsOf(response.body).message]).to.deep.equal([code, message])
      expect(calls).to.deep.equal([])
    })
}

export type HiddenWrite = readonly [method: string, path: string, body: unknown, denied: readonly string[]]

/** Defines tests of writes that are rejected if the caller may not list resources. */
export function itHides({ calls, denied, write }: ServedRoutes, hidden: readonly HiddenWrite[]) {
  for (const [method, path, body, without] of hidden)
    it(`${method} ${path} ${JSON.stringify(body)} is 403 without ${without.join(', ')}`, async () => {
      for (const right of without) denied.add(right)
      expect(await write(method, path, body)).to.include({ code: 403 })
      expect(calls).to.deep.equal([])
    })
}
