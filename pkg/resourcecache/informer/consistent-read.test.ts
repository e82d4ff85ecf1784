import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { Status } from '../../apierrors/status.ts'
import type { VersionPage } from '../../kubeclient/list/list-versions.ts'
import { bookmark, event, node, replaceAll, servedNodes, storeOf } from '../fixtures.ts'
import { ObjectStore } from '../store/store.ts'
import { createConfirm } from './consistent-read.ts'
import { waitForLatest, waitForVersion } from './wait-for-resource-version.ts'

type Item = readonly [name: string, version: number, namespace?: string]

function page(version: number, items: readonly Item[], continueToken = ''): VersionPage {
  return {
    version: String(version),
    continueToken,
    items: items.map(([name, resourceVersion, namespace = '']) => ({
      namespace,
      name,
      resourceVersion: String(resourceVersion),
    })),
  }
}

describe('a consistent read', () => {
  const paths: string[] = []

  const objects = new Map<string, string>()
  beforeEach(() => {
    paths.splice(0)
    objects.clear()
  })

  function confirmedBy(...pages: readonly (VersionPage | Error)[]) {
    const left = [...pages]
    return (store: ObjectStore) =>
      createConfirm(store, {
        async page({ path }) {
          paths.push(path)
          const next = left.shift()
          if (next === undefined || next instanceof Error) throw next ?? new Error('one list too many')
          return next
        },
        async object({ path }) {
          paths.push(path)
          return objects.get(path)
        },
      })
  }
  const nodes = () => [node('a', { version: 3 }), node('b', { version: 4 })]
  const same: readonly Item[] = [
    ['a', 3],
    ['b', 4],
  ]

  it('uses the cached state if its version is that of the list', async () => {
    const store = storeOf(nodes(), { confirm: confirmedBy(page(10, [])) })
    await waitForLatest(store)
    expect(store.version).to.equal(10)
    expect(paths).to.deep.equal(['/api/v1/nodes?limit=1000'])
  })

  it('continues at the version of the list if nothing has changed in between', async () => {
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, same)) })
    await waitForLatest(store)
    expect(store.version).to.equal(17)
    expect(store.at(12)).to.deep.equal(store.snapshot())
    expect(store.since(13)).to.deep.equal([])
  })

  const changes: readonly [string, readonly Item[], ReturnType<typeof event>][] = [
    ['an additional object', [...same, ['c', 12]], event('ADDED', node('c', { version: 12 }))],
    ['a deleted object', [['a', 3]], event('DELETED', node('b', { version: 12 }))],
    [
      'a change',
      [
        ['a', 12],
        ['b', 4],
      ],
      event('MODIFIED', node('a', { version: 12 })),
    ],
  ]
  for (const [what, items, arriving] of changes) {
    it(`waits for ${what} that the list contains`, async () => {
      const store = storeOf(nodes(), { confirm: confirmedBy(page(17, items)) })
      let isDone = false
      const waiting = waitForLatest(store).then(() => {
        isDone = true
      })
      await later()
      expect(isDone).to.equal(false)
      store.apply([arriving])
      await waiting
      expect(store.version).to.equal(17)
    })
  }

  it('waits for the last of several changes', async () => {
    const items: readonly Item[] = [
      ['a', 13],
      ['b', 4],
    ]
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, items)) })
    const waiting = waitForLatest(store)
    await later()
    store.apply([event('MODIFIED', node('a', { version: 12 }))])
    await later()
    expect(store.version).to.equal(12)
    store.apply([event('MODIFIED', node('a', { version: 13 }))])
    await waiting
    expect(store.version).to.equal(17)
  })

  it('accepts a watch that is newer than the list', async () => {
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, [['a', 13]])) })
    const waiting = waitForLatest(store)
    await later()
    store.apply([event('ADDED', node('c', { version: 20 }))])
    await waiting
    expect(store.version).to.equal(20)
  })

  it('skips events for objects that were created and deleted before the confirmed version', async () => {
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, same)) })
    const observed: string[] = []
    store.subscribe({
      changed: list => observed.push(...list.map(({ type, entry }) => `${type} ${entry.name}`)),
      reset: () => undefined,
    })
    await waitForLatest(store)
    store.apply([event('ADDED', node('c', { version: 12 }))])
    expect(store.version).to.equal(17)
    store.apply([event('DELETED', node('c', { version: 13 })), bookmark(14)])
    expect(store.version).to.equal(17)
    store.apply([event('MODIFIED', node('a', { version: 18 }))])
    expect(observed).to.deep.equal(['MODIFIED a'])
    expect(store.version).to.equal(18)
  })

  it('lists a large kind page by page, and only if its watch does not catch up quickly', async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => node(`n${i}`, { version: 5 }))
    const items = many.map(({ metadata }): Item => [metadata.name, 5])
    const store = storeOf(many, {
      confirm: confirmedBy(
        page(11, items.slice(0, 1), 'one'),
        page(17, items.slice(0, 1), 'one'),
        page(17, items.slice(1, 1_001), 'two'),
        page(17, items.slice(1_001)),
      ),
    })
    const first = waitForLatest(store)
    await later()
    store.apply([bookmark(11)])
    await first
    expect(paths).to.deep.equal(['/api/v1/nodes?limit=1'])
    await waitForLatest(store)
    expect(store.version).to.equal(17)
    expect(paths.slice(1)).to.deep.equal([
      '/api/v1/nodes?limit=1',
      '/api/v1/nodes?limit=1000&continue=one',
      '/api/v1/nodes?limit=1000&continue=two',
    ])
  })

  function podsIn(...pages: readonly VersionPage[]) {
    const source = { group: '', version: 'v1', path: '/api/v1/pods' }
    const kind = { ...servedNodes.kind, plural: 'pods', namespaced: true, source }
    const store = new ObjectStore({ ...servedNodes, kind }, { confirm: confirmedBy(...pages) })
    const pods = ['x', 'y'].map((namespace, i) => node('p', { version: 3 + i, meta: { namespace } }))
    replaceAll(store, pods, '10')
    return store
  }

  it('compares only one namespace, and stays at its version', async () => {
    const store = podsIn(page(17, [['p', 3, 'x']]))
    await waitForLatest(store, { namespace: 'x', name: '' })
    expect(store.version).to.equal(10)
    expect(paths).to.deep.equal(['/api/v1/namespaces/x/pods?limit=1000'])
  })

  describe('for one object', () => {
    const path = '/api/v1/namespaces/y/pods/p'
    const scope = { namespace: 'y', name: 'p' }

    it('reads only that object', async () => {
      objects.set(path, '4')
      await waitForLatest(podsIn(), scope)
      expect(paths).to.deep.equal([path])
    })

    it('waits for its change', async () => {
      objects.set(path, '12')
      const store = podsIn()
      const waiting = waitForLatest(store, scope)
      await later()
      store.apply([event('MODIFIED', node('p', { version: 12, meta: { namespace: 'y' } }))])
      await waiting
      expect(store.get('y', 'p')?.version).to.equal(12)
    })

    it('trusts kube-apiserver about an object that does not exist', async () => {
      await waitForLatest(podsIn(), { namespace: 'y', name: 'none ?' })
      expect(paths).to.deep.equal(['/api/v1/namespaces/y/pods/none%20%3F'])
    })

    for (const name of ['..', '.', '%2C', 'a/b'])
      it(`reads no object for ${name}, which is not a valid name`, async () => {
        await waitForLatest(storeOf(nodes(), { confirm: confirmedBy() }), { namespace: '', name })
        expect(paths).to.deep.equal([])
      })

    it('waits for its deletion, at the version of a list', async () => {
      const name = 'p,=\\'
      const odd = (version: number) => node(name, { version, meta: { namespace: 'y' } })
      const store = podsIn(page(17, []))
      store.apply([event('ADDED', odd(11))])
      let isDone = false
      const waiting = waitForLatest(store, { namespace: 'y', name }).then(() => {
        isDone = true
      })
      await later()
      expect(isDone).to.equal(false)
      store.apply([event('DELETED', odd(12))])
      await waiting
      expect(paths).to.deep.equal([
        `/api/v1/namespaces/y/pods/${encodeURIComponent(name)}`,
        `/api/v1/namespaces/y/pods?limit=1000&fieldSelector=${encodeURIComponent('metadata.name=p\\,\\=\\\\')}`,
      ])
    })

    it('accepts an object that was created since', async () => {
      const store = podsIn(page(17, [['p', 12, 'y']]))
      const waiting = waitForLatest(store, scope)
      await later()
      store.apply([event('MODIFIED', node('p', { version: 12, meta: { namespace: 'y' } }))])
      await waiting
    })
  })

  it('shares a list, but not one that was sent before the request', async () => {
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, same), page(18, same)) })
    const first = [waitForLatest(store), waitForLatest(store)]
    await Promise.resolve()
    await Promise.resolve()
    const second = [waitForLatest(store), waitForLatest(store)]
    await Promise.all([...first, ...second])
    expect(paths).to.have.length(2)
    expect(store.version).to.equal(18)
  })

  it('throws 503 when kube-apiserver does not respond', async () => {
    const refused = new Status(500, 'InternalError', 'etcdserver: request timed out')
    const store = storeOf(nodes(), { confirm: confirmedBy(refused) })
    const rejection = await rejectedStatus(waitForLatest(store))
    expect(rejection).to.include({ code: 503, message: 'failed to list nodes at kube-apiserver' })
  })

  it('throws 504 when the writes do not arrive', async function () {
    this.timeout(30_000)
    const store = storeOf(nodes(), {
      confirm: confirmedBy(
        page(17, [
          ['a', 12],
          ['b', 4],
        ]),
      ),
    })
    const rejection = await rejectedStatus(waitForLatest(store))
    expect(rejection).to.include({
      code: 504,
      message: 'Timeout: Too large resource version: 17, current: 10',
    })
  })

  it('advances a kind without changes to the requested version', async () => {
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, same)) })
    const since = performance.now()
    await waitForVersion(store, '16')
    expect(performance.now() - since).to.be.lessThan(2_500)
    expect(store.version).to.equal(17)
  })

  it('throws 504 for a version newer than that of kube-apiserver', async function () {
    this.timeout(30_000)
    const store = storeOf(nodes(), { confirm: confirmedBy(page(17, same)) })
    const rejection = await rejectedStatus(waitForVersion(store, '99'))
    expect(rejection).to.include({
      code: 504,
      message: 'Timeout: Too large resource version: 99, current: 17',
    })
  })
})

function later(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
