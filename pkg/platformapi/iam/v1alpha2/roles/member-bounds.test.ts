import { expect } from 'chai'
import { startLoopback, toExchange } from '../../../../apirequest/fixtures.ts'
import { entry } from '../../../../resourcecache/fixtures.ts'
import { createMemberHandlers } from './member-routes.ts'
import { presetsOf } from './role-presets.ts'
import type { ScopeReader } from './role-reader.ts'

describe('membership lookup in a workspace with thousands of namespaces', () => {
  const namespaces = Array.from({ length: 3_000 }, (_, i) => `n${i}`)
  const members = Array.from({ length: 100 }, (_, i) => ({ username: `u${i}`, roleRef: 'blue-admin' }))
  const roleRef = { kind: 'ClusterRole', name: 'admin' }
  const bound = namespaces.map(namespace => ({
    ...{ roleRef, subjects: [] },
    entry: Object.assign(Object.create(entry('b')), { namespace }),
  }))
  const held = members.flatMap(({ username: user }) => [
    ...bound.map(binding => ({ user, role: 'blue-admin', binding })),
    ...bound.slice(0, 1).map(binding => ({ user, role: '', binding, recorded: { role: 'admin' } })),
  ])
  const scopes = {
    resolve: async (scopeRef: object) => ({ ...scopeRef, namespaces }),
    requireList: async () => undefined,
    presetsAt: async () => presetsOf('workspace', 'blue'),
    assignedRoles: async () => held,
    latest: async () => new Map(),
    // The stub implements only the methods that the handler calls.
  } as unknown as ScopeReader

  it('compares the bindings in one pass', async () => {
    const { members: serve } = createMemberHandlers(
      {
        groupDomain: 'kapis.io',
        callAs: () => Promise.reject(new Error('each member has the role')),
        audit: () => undefined,
      },
      scopes,
    )
    let longest = 0
    const server = await startLoopback(async (req, res) => {
      const begun = performance.now()
      await serve(() => ({ scope: 'workspace', namespace: '', workspace: 'blue' }))(toExchange(req, res))
      longest = performance.now() - begun
    })
    try {
      const { status } = await fetch(`http://127.0.0.1:${server.port}/kapis/iam.kapis.io/v1alpha2/x`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(members),
      })
      expect(status).to.equal(200)
      expect(longest).to.be.lessThan(5_000)
    } finally {
      await server.close()
    }
  })
})
