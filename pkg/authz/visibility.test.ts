import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { KubeClient } from '../kube/client.ts'
import { isRecord, type KubeObject } from '../kube/object.ts'
import { jane } from '../request/fixtures.ts'
import { Collection } from '../resources/collection.ts'
import { Entry } from '../resources/entry.ts'
import { event } from '../resources/fixtures.ts'
import { toAggregatedKinds } from '../resources/kinds.ts'
import { createVisibility } from './visibility.ts'

const groupDomain = 'kapis.io'

function servedOf(plural: string) {
  const kind = toAggregatedKinds(groupDomain).find(row => row.plural === plural)
  if (kind === undefined) throw new Error(`${plural} are not aggregated`)
  return { kind, group: `resources.${groupDomain}`, version: 'v1alpha3' }
}

function object(
  name: string,
  more: { readonly workspace?: string; readonly manager?: string; readonly version?: number } = {},
): KubeObject {
  const { workspace, manager, version = 1 } = more
  return {
    metadata: {
      name,
      uid: name,
      resourceVersion: String(version),
      creationTimestamp: '2031-01-01T00:00:00Z',
      ...(workspace === undefined ? {} : { labels: { [`${groupDomain}/workspace`]: workspace } }),
    },
    ...(manager === undefined ? {} : { spec: { manager } }),
  }
}

/** Role bindings that can be changed, and an orchestrator that lets nobody (or everybody) list everything. */
function start(bound: readonly string[], mayList = false) {
  let namespaces = bound
  const listeners = new Set<() => void>()
  const asked: unknown[] = []
  const client: KubeClient = {
    call: async ({ body }) => {
      const spec = isRecord(body) && isRecord(body.spec) ? body.spec : {}
      asked.push(spec.resourceAttributes)
      return { status: { allowed: mayList } }
    },
    stream: () => Promise.reject(new Error('nothing is streamed here')),
    close: () => undefined,
  }
  const collection = new Collection(servedOf('namespaces'))
  collection.replace(
    [object('a', { workspace: 'w1' }), object('b', { workspace: 'w2' }), object('c', { workspace: 'w2' })],
    '5',
  )
  const find = createVisibility({
    client,
    groupDomain,
    index: {
      grantsOf: () => [{ role: 'view', namespaces }],
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    namespaces: async () => collection,
  })
  const bind = (...names: readonly string[]) => {
    namespaces = names
    for (const listener of listeners) listener()
  }
  return { find, asked, bind, collection, listeners }
}

const namespace = (name: string) => Entry.from(servedOf('namespaces'), object(name))
const workspace = (name: string, manager?: string) =>
  Entry.from(servedOf('workspaces'), object(name, manager === undefined ? {} : { manager }))

describe('createVisibility', () => {
  it('asks nothing about kinds of which everybody sees the same', async () => {
    const { find, asked } = start([])
    expect(await find('nodes', jane)).to.equal(undefined)
    expect(await find('pods', jane)).to.equal(undefined)
    expect(asked).to.deep.equal([])
  })

  it('shows everything to superusers, and to those who may list everything', async () => {
    const nobody = start([])
    expect(await nobody.find('namespaces', { ...jane, groups: ['system:masters'] })).to.equal(undefined)
    expect(nobody.asked).to.deep.equal([])
    const everybody = start([], true)
    expect(await everybody.find('namespaces', jane)).to.equal(undefined)
    expect(await everybody.find('workspaces', jane)).to.equal(undefined)
    await everybody.find('workspaces', jane)
    expect(everybody.asked).to.deep.equal([
      { verb: 'list', group: '', resource: 'namespaces' },
      { verb: 'list', group: 'tenant.kapis.io', resource: 'workspaces' },
    ])
  })

  it('shows the namespaces that bindings name, and follows them', async () => {
    const { find, bind, listeners } = start(['a'])
    const visible = await find('namespaces', jane)
    const shown = () => ['a', 'b', 'c'].filter(name => visible?.has(namespace(name)))
    expect(shown()).to.deep.equal(['a'])
    let told = 0
    const stop = visible?.onChange(() => told++)
    bind('a', 'b')
    bind('b', 'c')
    // What changes together is told once.
    await sleep(20)
    expect(told).to.equal(1)
    expect(shown()).to.deep.equal(['b', 'c'])
    stop?.()
    expect(listeners.size).to.equal(0)
  })

  it('stays as it was for a list, which nobody follows', async () => {
    const { find, bind } = start(['a'])
    const before = await find('namespaces', jane)
    bind('b')
    expect(before?.has(namespace('a'))).to.equal(true)
    const after = await find('namespaces', jane)
    expect(after?.has(namespace('a'))).to.equal(false)
    expect(after?.key).to.not.equal(before?.key)
    bind('a')
    expect((await find('namespaces', jane))?.key).to.equal(before?.key)
  })

  it('shows the workspaces of visible namespaces, and those that the caller manages', async () => {
    const { find, bind, collection } = start(['a'])
    const visible = await find('workspaces', jane)
    const shown = () =>
      [workspace('w1'), workspace('w2'), workspace('w3', jane.username), workspace('w4', 'somebody')]
        .filter(entry => visible?.has(entry))
        .map(({ name }) => name)
    expect(shown()).to.deep.equal(['w1', 'w3'])
    let told = 0
    const stop = visible?.onChange(() => told++)
    bind('c')
    await sleep(20)
    expect(shown()).to.deep.equal(['w2', 'w3'])
    // A namespace that moves takes its people along.
    collection.apply([event('MODIFIED', object('c', { workspace: 'w4', version: 6 }))])
    await sleep(20)
    expect(shown()).to.deep.equal(['w3', 'w4'])
    expect(told).to.equal(2)
    stop?.()
  })

  it('has no workspace for namespaces without one', async () => {
    const { find, collection } = start(['d'])
    collection.apply([event('ADDED', object('d', { version: 6 }))])
    const visible = await find('workspaces', jane)
    expect(visible?.has(workspace('w1'))).to.equal(false)
  })
})
