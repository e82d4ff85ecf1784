import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { jane } from '../../apirequest/fixtures.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { event, replaceAll, toEntry } from '../../resourcecache/fixtures.ts'
import { toAggregatedKinds } from '../../resourcecache/kinds.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import { ObjectStore } from '../../resourcecache/store/store.ts'
import { createTaskQueue } from '../../scheduling/task-queue.ts'
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

/**
 * Starts `createVisibility` with mutable role bindings, and a kube-apiserver that allows every
 * user, or none, to list everything.
 */
function start(bound: readonly string[], mayList = false) {
  let namespaces = bound
  let respond: (requests: unknown) => boolean = () => mayList
  const clusterListeners: (() => void)[] = []
  const listeners = new Set<() => void>()
  /** Names of workspaces in a ClusterRoleBinding. */
  let recorded: readonly string[] = []
  const recordListeners = new Set<() => void>()
  const requests: unknown[] = []
  const client: KubeClient = {
    call: async ({ body }) => {
      const spec = isRecord(body) && isRecord(body.spec) ? body.spec : {}
      requests.push(spec.resourceAttributes)
      return { status: { allowed: respond(spec.resourceAttributes) } }
    },
    stream: () => Promise.reject(new Error('nothing is streamed here')),
    close: () => undefined,
  }
  const store = new ObjectStore(servedOf('namespaces'))
  replaceAll(
    store,
    [object('a', { workspace: 'w1' }), object('b', { workspace: 'w2' }), object('c', { workspace: 'w2' })],
    '5',
  )
  const find = createVisibility({
    client,
    tasks: createTaskQueue(error => {
      throw error
    }),
    groupDomain,
    index: {
      grantsOf: () => [{ role: 'view', namespaces }],
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    reader: {
      bindingsOf: () => [
        { namespace: '', name: 'record', role: 'record', subjects: [] },
        { namespace: 'a', name: 'inside', role: 'w8', subjects: [] },
      ],
      rulesOf: role => [
        {
          ...{ apiGroups: ['tenant.kapis.io'], resources: ['workspaces'], verbs: ['get', 'member'] },
          ...{ resourceNames: role === 'record' ? recorded : [role], nonResourceURLs: [] },
        },
        {
          ...{ apiGroups: [''], resources: ['pods'], verbs: ['get'] },
          ...{ resourceNames: ['w9'], nonResourceURLs: [] },
        },
      ],
      onChange: listener => {
        recordListeners.add(listener)
        return () => recordListeners.delete(listener)
      },
    },
    onClusterChange: listener => clusterListeners.push(listener),
    namespaces: async () => store,
  })
  const changeCluster = (next: typeof respond) => {
    respond = next
    for (const listener of clusterListeners) listener()
  }
  const bind = (...names: readonly string[]) => {
    namespaces = names
    for (const listener of listeners) listener()
  }
  const record = (...names: readonly string[]) => {
    recorded = names
    for (const listener of recordListeners) listener()
  }
  return { find, requests, bind, record, changeCluster, store, listeners }
}

const list = (resource: string) => ({ verb: 'list', resource, name: '' })
const watch = (resource: string) => ({ verb: 'watch', resource, name: '' })
const namespace = (name: string) => toEntry(servedOf('namespaces'), object(name))
const workspace = (name: string, manager?: string) =>
  toEntry(servedOf('workspaces'), object(name, manager === undefined ? {} : { manager }))

describe('createVisibility', () => {
  it('sends no review for kinds that every user sees in the same way', async () => {
    const { find, requests } = start([])
    expect(await find(list('nodes'), jane)).to.equal(undefined)
    expect(await find(list('pods'), jane)).to.equal(undefined)
    expect(requests).to.deep.equal([])
  })

  it('shows nothing to a caller whose name may have lost blanks in transit', async () => {
    const { find, requests } = start([], true)
    for (const kind of ['namespaces', 'workspaces']) {
      const trimmed = { ...jane, groups: ['system:masters'], isTrimmed: true }
      expect(await rejectedStatus(Promise.resolve(find(list(kind), trimmed)))).to.include({
        code: 403,
        reason: 'Forbidden',
      })
    }
    expect(requests).to.deep.equal([])
  })

  it('shows everything to superusers, and to callers who may list everything', async () => {
    const withoutNamespaces = start([])
    expect(
      await withoutNamespaces.find(list('namespaces'), { ...jane, groups: ['system:masters'] }),
    ).to.equal(undefined)
    expect(withoutNamespaces.requests).to.deep.equal([])
    const everybody = start([], true)
    expect(await everybody.find(list('namespaces'), jane)).to.equal(undefined)
    expect(await everybody.find(list('workspaces'), jane)).to.equal(undefined)
    await everybody.find(list('workspaces'), jane)
    expect(everybody.requests).to.deep.equal([
      { verb: 'list', resource: 'namespaces' },
      { verb: 'list', group: 'tenant.kapis.io', resource: 'workspaces' },
    ])
  })

  it('shows the namespaces that bindings name, and tracks them', async () => {
    const { find, bind, listeners } = start(['a'])
    const visible = await find(list('namespaces'), jane)
    const shown = () => ['a', 'b', 'c'].filter(name => visible?.has(namespace(name)))
    expect(shown()).to.deep.equal(['a'])
    let notified = 0
    const stop = visible?.onChange(() => notified++)
    bind('a', 'b')
    bind('b', 'c')
    // Consecutive changes cause one notification.
    await sleep(20)
    expect(notified).to.equal(1)
    expect(shown()).to.deep.equal(['b', 'c'])
    const before = listeners.size
    stop?.()
    expect(listeners.size).to.equal(before - 1)
  })

  it('reports a list that shows more than bindings grant since, and updates it', async () => {
    const { find, bind, store } = start(['a', 'b'])
    for (const kind of ['namespaces', 'workspaces']) {
      bind('a', 'b')
      const before = await find(list(kind), jane)
      const may = () => [before?.permissions?.isCurrent(), before?.permissions?.mayStillSee()]
      bind('b', 'a')
      expect(may(), kind).to.deep.equal([true, true])
      bind('a', 'b', 'c')
      expect(may(), kind).to.deep.equal([false, true])
      bind('b', 'c')
      expect(may(), kind).to.deep.equal([false, false])
      bind('b')
      expect(may(), kind).to.deep.equal([false, false])
      const after = await before?.permissions?.renew()
      expect(after?.permissions?.isCurrent(), kind).to.equal(true)
      expect(after?.key).to.equal((await find(list(kind), jane))?.key)
    }
    const workspaces = await find(list('workspaces'), jane)
    store.apply([event('MODIFIED', object('b', { workspace: 'w9', version: 6 }))])
    expect(workspaces?.permissions?.isCurrent()).to.equal(false)
  })

  it('stays constant for a list without a watch', async () => {
    const { find, bind } = start(['a'])
    const before = await find(list('namespaces'), jane)
    bind('b')
    expect(before?.has(namespace('a'))).to.equal(true)
    const after = await find(list('namespaces'), jane)
    expect(after?.has(namespace('a'))).to.equal(false)
    expect(after?.key).to.not.equal(before?.key)
    bind('a')
    expect((await find(list('namespaces'), jane))?.key).to.equal(before?.key)
  })

  it('shows the workspaces of visible namespaces, and those that the caller manages', async () => {
    const { find, bind, store } = start(['a'])
    const visible = await find(list('workspaces'), jane)
    const shown = () =>
      [workspace('w1'), workspace('w2'), workspace('w3', jane.username), workspace('w4', 'someone')]
        .filter(entry => visible?.has(entry))
        .map(({ name }) => name)
    expect(shown()).to.deep.equal(['w1', 'w3'])
    let notified = 0
    const stop = visible?.onChange(() => notified++)
    bind('c')
    await sleep(20)
    expect(shown()).to.deep.equal(['w2', 'w3'])
    // A caller who sees a namespace also sees its new workspace.
    store.apply([event('MODIFIED', object('c', { workspace: 'w4', version: 6 }))])
    await sleep(20)
    expect(shown()).to.deep.equal(['w3', 'w4'])
    expect(notified).to.equal(2)
    stop?.()
  })

  it('shows the workspaces that a ClusterRoleBinding lets the caller get by name', async () => {
    const { find, record } = start(['a'])
    record('w3')
    const visible = await find(list('workspaces'), jane)
    const shown = () => ['w1', 'w2', 'w3', 'w4', 'w8', 'w9'].filter(name => visible?.has(workspace(name)))
    expect(shown()).to.deep.equal(['w1', 'w3'])
    expect(visible?.permissions?.isCurrent()).to.equal(true)
    expect((await find(list('namespaces'), jane))?.has(namespace('w3'))).to.equal(false)
    const notified = Promise.withResolvers<void>()
    const stop = visible?.onChange(notified.resolve)
    record('w4')
    await notified.promise
    expect(shown()).to.deep.equal(['w1', 'w4'])
    stop?.()
    record()
    expect(visible?.permissions?.isCurrent()).to.equal(false)
    expect((await find(list('workspaces'), jane))?.key).to.not.equal(visible?.key)
  })

  it('shows a workspace that is requested by name to any caller with the permission, but in no list', async () => {
    const { find, requests, changeCluster } = start(['a'])
    changeCluster(attributes => isRecord(attributes) && attributes.name === 'b' && attributes.verb === 'get')
    const get = (resource: string, name: string) => find({ verb: 'get', resource, name }, jane)
    for (const resource of ['namespaces', 'workspaces']) {
      const visible = await get(resource, 'b')
      expect(['a', 'b'].filter(name => visible?.has(namespace(name)))).to.deep.equal(['b'])
    }
    for (const name of ['a', 'c', 'b'.repeat(254)]) {
      const visible = await get('namespaces', name)
      expect(visible?.has(namespace('a'))).to.equal(true)
      expect(visible?.has(namespace(name))).to.equal(name === 'a')
    }
    expect(
      (await find({ verb: 'list', resource: 'namespaces', name: 'b' }, jane))?.has(namespace('b')),
    ).to.equal(false)
    const all = { verb: 'list', resource: 'namespaces' }
    const b = { resource: 'namespaces', namespace: 'b', name: 'b' }
    expect(requests).to.deep.equal([
      all,
      { ...b, verb: 'get' },
      { verb: 'list', group: 'tenant.kapis.io', resource: 'workspaces' },
      { verb: 'get', group: 'tenant.kapis.io', resource: 'workspaces', name: 'b' },
      { ...b, verb: 'get', namespace: 'a', name: 'a' },
      { ...b, verb: 'get', namespace: 'c', name: 'c' },
      { ...b, verb: 'list' },
    ])
  })

  it('tracks the permission on a named object, in a watch', async () => {
    const { find, changeCluster } = start(['a'])
    changeCluster(attributes => isRecord(attributes) && attributes.name === 'b')
    const visible = await find({ verb: 'watch', resource: 'namespaces', name: 'b' }, jane)
    const shown = () => ['a', 'b', 'c'].filter(name => visible?.has(namespace(name)))
    expect(shown()).to.deep.equal(['a', 'b'])
    const notified = Promise.withResolvers<void>()
    const stop = visible?.onChange(notified.resolve)
    changeCluster(() => false)
    await notified.promise
    expect(shown()).to.deep.equal(['a'])
    stop?.()
  })

  it('finds no workspace for namespaces without one', async () => {
    const { find, store } = start(['d'])
    store.apply([event('ADDED', object('d', { version: 6 }))])
    const visible = await find(list('workspaces'), jane)
    expect(visible?.has(workspace('w1'))).to.equal(false)
  })

  describe('a watch, when the cluster-wide permissions change', () => {
    const shown = (visible: ObjectVisibility | undefined) =>
      ['a', 'b', 'c'].filter(name => visible?.has(namespace(name))).join('')

    it('of everything is notified when not everything is visible any more', async () => {
      const { find, changeCluster } = start(['a'], true)
      const visible = await find(watch('namespaces'), jane)
      expect(visible?.isAll).to.equal(true)
      let notified = 0
      const stop = visible?.onChange(() => notified++)
      changeCluster(() => true)
      await sleep(600)
      expect(notified).to.equal(0)
      changeCluster(() => false)
      await sleep(600)
      expect(notified).to.equal(1)
      // Earlier changes do not affect later lists either.
      expect(shown(await find(list('namespaces'), jane))).to.equal('a')
      stop?.()
    })

    it('of everything is also notified if the review fails', async () => {
      const { find, changeCluster } = start(['a'], true)
      const visible = await find(watch('namespaces'), jane)
      const notified = Promise.withResolvers<void>()
      visible?.onChange(notified.resolve)
      changeCluster(() => {
        throw new Error('no answer')
      })
      await notified.promise
    })

    it('of visible namespaces shows everything while permitted, and then those namespaces again', async () => {
      const { find, changeCluster } = start(['a'])
      const visible = await find(watch('namespaces'), jane)
      const observed = [shown(visible)]
      const stop = visible?.onChange(() => observed.push(shown(visible)))
      changeCluster(() => true)
      await sleep(600)
      changeCluster(() => false)
      await sleep(600)
      expect(observed).to.deep.equal(['a', 'abc', 'a'])
      stop?.()
      changeCluster(() => true)
      await sleep(600)
      expect(observed).to.have.length(3)
    })

    it('is notified of a change before it subscribed', async () => {
      const { find, changeCluster } = start(['a'])
      const visible = await find(watch('namespaces'), jane)
      changeCluster(() => true)
      await sleep(600)
      const notified = Promise.withResolvers<void>()
      visible?.onChange(notified.resolve)
      await notified.promise
      expect(shown(visible)).to.equal('abc')
    })

    it('is checked again because kube-apiserver may receive the change late', async () => {
      const { find, changeCluster } = start(['a'])
      let requests = 0
      const visible = await find(watch('namespaces'), jane)
      const notified = Promise.withResolvers<void>()
      visible?.onChange(notified.resolve)
      changeCluster(() => ++requests > 1)
      await notified.promise
      expect(requests).to.equal(2)
    })
  })
})
