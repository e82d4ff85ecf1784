import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { Status } from '../../apierrors/status.ts'
import { jane, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { anonymous, type Identity } from '../../apirequest/identity/identity.ts'
import type { CallAs } from '../write/as-caller.ts'
import { createNamespace } from './create-namespace.ts'

type Tools = Parameters<typeof createNamespace>[0]

const url = '/kapis/tenant.kapis.io/v1alpha2/workspaces/blue/namespaces'
const namespaces = 'create  namespaces'
const projects = 'create tenant.kapis.io workspaces/namespaces blue'
const made = {
  metadata: { name: 'b1', uid: 'u-b1', resourceVersion: '1', creationTimestamp: '2031-01-01T00:00:00Z' },
}
const body = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: 'b1',
    labels: { 'kapis.io/workspace': 'blue' },
    annotations: { 'kapis.io/creator': 'jane' },
  },
}
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: {
    generateName: 'jane-admin-',
    labels: { 'app.kubernetes.io/managed-by': 'kapis' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'b1', uid: 'u-b1' }],
  },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
}
const create = { method: 'POST', path: '/api/v1/namespaces', body }
const bind = {
  method: 'POST',
  path: '/apis/rbac.authorization.k8s.io/v1/namespaces/b1/rolebindings',
  body: binding,
}
const denied = (what: string) =>
  new Status(403, 'Forbidden', `${what} is forbidden`, { details: { kind: what } })

describe('createNamespace', () => {
  type Setup = {
    readonly allowed?: readonly string[]
    readonly identity?: Identity
    readonly sent?: object
    readonly path?: string
    readonly isVisible?: Tools['isVisible']
    readonly kapis?: CallAs
    readonly isAllowedNow?: Tools['isAllowedNow']
  }

  async function post(setup: Setup) {
    const { allowed = [projects], identity = jane, sent = { metadata: { name: 'b1' } }, path = url } = setup
    const calls: unknown[] = []
    const given: unknown[] = []
    const checks: string[] = []
    const record =
      (who: string, next?: CallAs): CallAs =>
      async (exchange, call) => {
        calls.push([who, exchange.identity.username, call])
        return next === undefined ? { code: 201, text: JSON.stringify(made) } : next(exchange, call)
      }
    const server = await startLoopback(async (req, res) => {
      try {
        const tools: Tools = {
          groupDomain: 'kapis.io',
          ownNamespace: 'kapis-system',
          callAs: record('caller'),
          callAsKapis: record('kapis', setup.kapis),
          async requirePermission(_identity, { verb, group, resource, subresource, name }) {
            const full = subresource === undefined ? resource : `${resource}/${subresource}`
            const check = [verb, group, full, name].join(' ').trimEnd()
            checks.push(check)
            if (!allowed.includes(check)) throw denied(resource)
          },
          isAllowedNow: setup.isAllowedNow ?? (async () => true),
          isVisible: setup.isVisible ?? (async () => true),
          async created(_exchange, where) {
            given.push(where)
          },
        }
        const { code, text } = await createNamespace(tools, { ...toExchange(req, res), identity }, 'blue')
        res.writeHead(code).end(text)
      } catch (error) {
        renderKube(res, error)
      }
    })
    try {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        ...{ method: 'POST', headers, body: JSON.stringify(sent) },
      })
      const received = JSON.parse(await response.text())
      const warning = response.headers.get('warning')
      return { code: response.status, received, warning, calls, given, checks }
    } finally {
      await server.close()
    }
  }

  it('creates a namespace as the caller, who may create namespaces', async () => {
    const sent = { metadata: { name: 'b1', labels: { a: 'b' } } }
    const { code, calls, given, checks } = await post({ allowed: [namespaces, projects], sent })
    expect(code).to.equal(201)
    expect(checks).to.deep.equal([namespaces])
    const labels = { a: 'b', 'kapis.io/workspace': 'blue' }
    const metadata = { name: 'b1', labels }
    expect(calls).to.deep.equal([['caller', 'jane', { ...create, body: { ...body, metadata } }]])
    expect(given).to.deep.equal([{ workspace: 'blue', namespace: 'b1' }])
  })

  it('creates it with the permissions of Kapis for a caller who may only create it in the workspace, and makes the caller its administrator', async () => {
    expect(await post({})).to.deep.equal({
      code: 201,
      received: made,
      warning: null,
      calls: [
        ['kapis', 'jane', create],
        ['kapis', 'jane', bind],
      ],
      given: [{ workspace: 'blue', namespace: 'b1', isAdmin: true }],
      checks: [namespaces, projects],
    })
  })

  it('does nothing else in a dry run, and forwards no unknown parameter', async () => {
    const { code, calls, given } = await post({
      path: `${url}?dryRun=All&fieldManager=my%26tool&pretty=true&x=%2F`,
    })
    expect(code).to.equal(201)
    const path = '/api/v1/namespaces?dryRun=All&fieldManager=my%26tool'
    expect(calls).to.deep.equal([['kapis', 'jane', { ...create, path }]])
    expect(given).to.deep.equal([])
  })

  for (const query of ['dryRun=x', 'dryRun=', 'dryRun=All&dryRun=All', 'fieldManager=a&fieldManager=b'])
    it(`rejects ${query}`, async () => {
      const { code, calls } = await post({ path: `${url}?${query}` })
      expect([code, calls]).to.deep.equal([400, []])
    })

  it('returns the 403 of kube-apiserver with both permissions to other callers', async () => {
    const { code, received, calls } = await post({ allowed: [projects.replace('blue', 'red')] })
    expect([code, calls]).to.deep.equal([403, []])
    expect(received).to.deep.include({
      message:
        'namespaces is forbidden; in the workspace "blue", create on resource "workspaces/namespaces" in API group "tenant.kapis.io" with its name is sufficient',
      details: { kind: 'namespaces' },
    })
  })

  for (const identity of [anonymous, { ...jane, groups: ['system:unauthenticated'] }])
    it(`returns 403 to ${identity.username} in ${identity.groups}, whatever RBAC allows`, async () => {
      const { code, calls } = await post({ identity })
      expect([code, calls]).to.deep.equal([403, []])
    })

  it('returns 404 for a workspace that the caller may not see, before any check of permissions', async () => {
    const { code, calls, checks } = await post({ isVisible: async () => false })
    expect([code, calls, checks]).to.deep.equal([404, [], []])
  })

  it('returns 409 for a workspace that is being deleted', async () => {
    const deletionTimestamp = '2031-01-01T00:00:00Z'
    const entry = Object({ meta: { ...made.metadata, deletionTimestamp } })
    const { code, calls, received } = await post({
      isVisible: async (_exchange, only) => only?.matches(entry) !== false,
    })
    expect([code, calls]).to.deep.equal([409, []])
    expect(received.message).to.equal('the workspace "blue" is being deleted')
  })

  it('grants nothing in a namespace that exists', async () => {
    const kapis: CallAs = async () => {
      throw new Status(409, 'AlreadyExists', 'namespaces "b1" already exists')
    }
    const { code, calls, given } = await post({ kapis })
    expect(code).to.equal(409)
    expect(calls).to.deep.equal([['kapis', 'jane', create]])
    expect(given).to.deep.equal([])
  })

  it('warns if the body names another creator', async () => {
    const metadata = { name: 'b1', annotations: { 'kapis.io/creator': 'root' } }
    const { calls, warning } = await post({ sent: { metadata } })
    expect(calls[0]).to.deep.equal(['kapis', 'jane', create])
    expect(warning).to.equal('299 - "the creator of the namespace is \\"jane\\", not another user"')
  })

  it('warns if the caller could not become the administrator, after three attempts', async () => {
    const kapis: CallAs = async (_exchange, { path }) => {
      if (path === create.path) return { code: 201, text: JSON.stringify(made) }
      throw new Status(503, 'ServiceUnavailable', 'kube-apiserver is not responding')
    }
    const { code, warning, calls, given } = await post({ kapis })
    expect(code).to.equal(201)
    expect(calls).to.have.length(4)
    expect(warning).to.equal(
      '299 - "namespace \\"b1\\" has no administrator and no members: the RoleBinding of its creator failed (503 ServiceUnavailable)"',
    )
    expect(given).to.deep.equal([])
  })

  it('grants the members their roles after kube-apiserver applies the binding of the caller', async () => {
    const asked: unknown[] = []
    const { given } = await post({
      async isAllowedNow({ username }, permission) {
        asked.push([username, permission])
        return asked.length > 2
      },
    })
    const group = 'rbac.authorization.k8s.io'
    const permission = { verb: 'create', group, resource: 'rolebindings', namespace: 'b1', name: '' }
    expect(asked).to.deep.equal(Array.from({ length: 3 }, () => ['jane', permission]))
    expect(given).to.have.length(1)
  })
})
