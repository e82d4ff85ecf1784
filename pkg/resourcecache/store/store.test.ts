import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import {
  bookmark,
  createRandom,
  entry,
  event,
  namesOf,
  node,
  replaceAll,
  servedNodes,
  storeOf,
} from '../fixtures.ts'
import { toOrder } from '../list/order.ts'
import type { CachedObject } from './cached-object.ts'
import { entriesOf, selectPage } from './chunk.ts'
import type { ViewQuery } from './materialized-view.ts'
import { ObjectStore, type Subscriber } from './store.ts'
import type { WatchChange } from './watch-window.ts'

const stateOf = (chunks: ReturnType<ObjectStore['at']>) =>
  chunks?.flatMap(chunk => chunk.entries.map(({ name, version }) => `${name}@${version}`))

function createRecorder() {
  const received: string[] = []
  const subscriber: Subscriber = {
    changed: (changes: readonly WatchChange[]) =>
      received.push(
        changes.map(({ type, entry: { name }, version }) => `${type} ${name} ${version}`).join(', '),
      ),
    reset: () => received.push('reset'),
  }
  return { received, subscriber }
}

describe('ObjectStore', () => {
  describe('replace', () => {
    it('sets the whole state and its version', () => {
      const store = storeOf([node('b', { version: 3 }), node('a', { version: 5 })], { version: 9 })
      expect(namesOf(store.snapshot())).to.deep.equal(['a', 'b'])
      expect([store.size, store.version, store.horizon]).to.deep.equal([2, 9, 9])
      expect(store.get('', 'a')?.version).to.equal(5)
      expect(store.get('', 'z')).to.equal(undefined)
    })

    it('removes the previous state, and reports that no watch can resume', () => {
      const store = storeOf([node('a')], { version: 9 })
      store.apply([event('ADDED', node('b', { version: 11 }))])
      const { received, subscriber } = createRecorder()
      store.subscribe(subscriber)
      replaceAll(store, [node('c', { version: 20 })], '21')
      expect(received).to.deep.equal(['reset'])
      expect(namesOf(store.snapshot())).to.deep.equal(['c'])
      expect(store.since(11)).to.equal(undefined)
      expect(store.at(11)).to.equal(undefined)
      expect(store.horizon).to.equal(21)
    })

    it('does not change snapshots that are being written', () => {
      const store = storeOf([node('a')])
      const snapshot = store.snapshot()
      store.apply([event('DELETED', node('a', { version: 11 }))])
      replaceAll(store, [], '12')
      expect(namesOf(snapshot)).to.deep.equal(['a'])
    })
  })

  describe('apply', () => {
    it('notifies once per batch, in order', () => {
      const store = storeOf([node('a')])
      const { received, subscriber } = createRecorder()
      store.subscribe(subscriber)
      store.apply([
        event('MODIFIED', node('a', { version: 11 })),
        event('ADDED', node('b', { version: 12 })),
        event('DELETED', node('a', { version: 13 })),
      ])
      expect(received).to.deep.equal(['MODIFIED a 11, ADDED b 12, DELETED a 13'])
      expect(store.version).to.equal(13)
      expect(namesOf(store.snapshot())).to.deep.equal(['b'])
    })

    it('advances the version with a bookmark without a notification', () => {
      const store = storeOf([node('a')])
      const { received, subscriber } = createRecorder()
      store.subscribe(subscriber)
      store.apply([bookmark(50)])
      store.apply([])
      expect([store.version, store.horizon]).to.deep.equal([50, 10])
      expect(received).to.deep.equal([])
      expect(store.since(10)).to.deep.equal([])
    })

    it('keeps the state before each change', () => {
      const store = storeOf([node('a')])
      const before = store.get('', 'a')
      store.apply([
        event('MODIFIED', node('a', { version: 11 })),
        event('DELETED', node('a', { version: 12 })),
      ])
      const [modified, deleted] = store.since(10) ?? []
      expect(modified?.old).to.equal(before)
      expect(deleted?.old).to.equal(modified?.entry)
      expect(deleted?.entry.version).to.equal(12)
    })

    it('accepts an event for an unknown object', () => {
      const store = storeOf([])
      store.apply([
        event('MODIFIED', node('a', { version: 11 })),
        event('DELETED', node('b', { version: 12 })),
      ])
      expect(namesOf(store.snapshot())).to.deep.equal(['a'])
      expect(stateOf(store.at(10))).to.deep.equal([])
    })

    it('does not notify subscribers that have unsubscribed', () => {
      const store = storeOf([])
      const { received, subscriber } = createRecorder()
      const leave = store.subscribe(subscriber)
      leave()
      leave()
      store.apply([event('ADDED', node('a', { version: 11 }))])
      replaceAll(store, [], '12')
      expect(received).to.deep.equal([])
    })
  })

  describe('at', () => {
    it('returns the state at every version of any history', () => {
      const random = createRandom(7)
      for (let round = 0; round < 10; round++) {
        const { store, log } = playHistory(random)
        let last: readonly string[] | undefined
        for (let at = 10; at <= store.version; at++) {
          last = log.get(at) ?? last
          expect(stateOf(store.at(at))?.sort(), `at ${at}`).to.deep.equal(last)
        }
        // Reading past versions must not change the current state.
        expect(stateOf(store.snapshot())?.sort()).to.deep.equal(last)
      }
    })

    it('returns the state in key order', () => {
      const store = storeOf([node('b'), node('d')])
      store.apply([event('DELETED', node('b', { version: 11 })), event('ADDED', node('a', { version: 12 }))])
      expect(stateOf(store.at(10))).to.deep.equal(['b@1', 'd@1'])
      expect(stateOf(store.at(11))).to.deep.equal(['d@1'])
    })

    it('returns nothing before the window and for future versions', () => {
      const store = storeOf([node('a')], { version: 10 })
      expect(store.at(9)).to.equal(undefined)
      expect(store.at(11)).to.equal(undefined)
    })
  })

  describe('waitFor', () => {
    it('returns immediately for a known version', async () => {
      const store = storeOf([])
      expect(await store.waitFor(10, 60_000)).to.equal(true)
      expect(await store.waitFor(0, 0)).to.equal(true)
    })

    it('resolves when the version arrives, in an event, a bookmark or a list', async () => {
      const store = storeOf([])
      const arrivals: readonly (() => void)[] = [
        () => store.apply([event('ADDED', node('a', { version: 21 }))]),
        () => store.apply([bookmark(31)]),
        () => replaceAll(store, [], '41'),
      ]
      for (const arrive of arrivals) {
        const requested = store.version + 10
        const waiting = store.waitFor(requested, 60_000)
        arrive()
        expect(await waiting).to.equal(true)
      }
    })

    it('returns false when the store is closed', async () => {
      const store = storeOf([])
      const waiting = store.waitFor(12, 60_000)
      store.end()
      expect(await waiting).to.equal(false)
      expect(await store.waitFor(12, 60_000)).to.equal(false)
    })

    it('returns false after its timeout', async () => {
      const store = storeOf([])
      const waiting = store.waitFor(12, 10)
      store.apply([bookmark(11)])
      expect(await waiting).to.equal(false)
    })
  })

  describe('redecorate', () => {
    const make = () => {
      let word = 'first'
      const store = storeOf([node('a'), node('b')], {
        decorate: (e: CachedObject) => ({ annotations: { word: `${word} ${e.name}` }, cells: [word] }),
      })
      return {
        store,
        say: (next: string) => {
          word = next
        },
      }
    }
    const wordOf = (store: ObjectStore, name: string) => store.get('', name)?.decoration.annotations.word

    it('updates the decoration of the named objects, in views as well, without an event', () => {
      const { store, say } = make()
      const { received, subscriber } = createRecorder()
      store.subscribe(subscriber)
      const view = store.view({ key: 'all', matches: () => true, order: toOrder('name').compare })
      say('second')
      store.redecorate(['a', 'unknown'])
      expect([wordOf(store, 'a'), wordOf(store, 'b')]).to.deep.equal(['second a', 'first b'])
      expect(view.snapshot().flatMap(chunk => chunk.entries.map(e => e.decoration.cells))).to.deep.equal([
        ['second'],
        ['first'],
      ])
      expect(received).to.deep.equal([])
      expect(store.version).to.equal(10)
      expect(store.since(10)).to.deep.equal([])
      expect(store.size).to.equal(2)
    })

    it('applies to later objects, too', () => {
      const { store, say } = make()
      say('third')
      store.apply([event('ADDED', node('c', { version: 11 }))])
      expect(wordOf(store, 'c')).to.equal('third c')
    })

    it('does nothing for a kind without decoration', () => {
      const store = storeOf([node('a')])
      const before = store.get('', 'a')
      store.redecorate(['a'])
      expect(store.get('', 'a')).to.equal(before)
    })
  })

  describe('view', () => {
    it('limits the number of views that are kept up to date', () => {
      const store = storeOf([node('a')])
      let looked = 0
      const matches = () => {
        const until = performance.now() + 5
        while (performance.now() < until) looked++
        return true
      }
      const keys = Array.from({ length: 64 }, (_, i) => String(i))
      for (const key of keys) store.view({ key, matches, order: toOrder('name').compare })
      const startedAt = performance.now()
      store.apply([event('MODIFIED', node('a', { version: 11 }))])
      expect([performance.now() - startedAt < 640, looked > 0]).to.deep.equal([true, true])
      expect(keys.filter(key => store.hasView(key)).length).to.be.within(1, 32)
      const again = store.view({ key: '63', matches, order: toOrder('name').compare })
      expect(namesOf(again.snapshot())).to.deep.equal(['a'])
    })

    const query = (key: string, matches: ViewQuery['matches'] = () => true): ViewQuery => ({
      key,
      matches,
      order: toOrder('name').compare,
    })

    it('is reused for a repeated query', () => {
      const store = storeOf([node('a')])
      expect(store.view(query('x'))).to.equal(store.view(query('x')))
    })

    it('is evicted for others after a while, and recreated on request', () => {
      const store = storeOf([node('a')])
      const first = store.view(query('0'))
      for (let i = 1; i <= 64; i++) store.view(query(String(i)))
      const again = store.view(query('0'))
      expect(again).to.not.equal(first)
      expect(namesOf(again.snapshot())).to.deep.equal(['a'])
    })

    it('is kept while it is in use', () => {
      const store = storeOf([node('a')])
      const first = store.view(query('0'))
      for (let i = 1; i <= 200; i++) {
        store.view(query(String(i)))
        expect(store.view(query('0'))).to.equal(first)
      }
    })

    it('always equals filtering and sorting from scratch', () => {
      const random = createRandom(8)
      const store = new ObjectStore(servedNodes)
      const zones = ['a', 'b', 'c']
      const make = (name: string, version: number): KubeObject =>
        node(name, {
          version,
          labels: { zone: zones[random(3)] ?? '' },
          created: `2031-01-0${1 + random(9)}T00:00:00Z`,
        })
      const queries: readonly ViewQuery[] = [
        { key: 'all', matches: () => true, order: toOrder('createTime').compare },
        { key: 'zone a', matches: e => e.meta.labels?.zone === 'a', order: toOrder('name').compare },
        { key: 'zone b', matches: e => e.meta.labels?.zone === 'b', order: toOrder('createTime').compare },
        { key: 'none', matches: () => false, order: toOrder('name').compare },
      ]
      let state = new Map<string, KubeObject>()
      let version = 1
      replaceAll(store, [], '1')
      const step = (isReplacement: boolean) => {
        version++
        const name = `n${random(150)}`
        const object = make(name, version)
        const known = state.has(name)
        if (isReplacement) {
          state = new Map([[name, object]])
          replaceAll(store, [object], String(version))
        } else if (known && random(3) === 0) {
          state.delete(name)
          store.apply([event('DELETED', object)])
        } else {
          store.apply([event(known ? 'MODIFIED' : 'ADDED', object)])
          state.set(name, object)
        }
      }
      for (let i = 0; i < 2500; i++) {
        step(i % 900 === 899)
        const asked = queries[random(queries.length)]
        if (asked === undefined) continue
        const view = store.view(asked)
        const expected = [...state.values()]
          .map(o => entry(o.metadata.name, { version: Number(o.metadata.resourceVersion), ...toOptions(o) }))
          .filter(asked.matches)
          .sort(asked.order)
          .map(e => `${e.name}@${e.version}`)
        expect(view.size).to.equal(expected.length)
        const whole = selectPage(view.snapshot(), {
          offset: 0,
          count: view.size,
          descending: false,
          size: view.size,
        })
        expect([...entriesOf(whole)].map(e => `${e.name}@${e.version}`)).to.deep.equal(expected)
      }
    })
  })
})

function toOptions({ metadata }: KubeObject) {
  return { created: metadata.creationTimestamp, labels: metadata.labels ?? {} }
}

/** Creates a store with a random history, and the expected state at each version. */
function playHistory(random: (below: number) => number) {
  const first = Array.from({ length: random(80) }, (_, i) => node(`n${i}`, { version: 1 + random(9) }))
  const store = storeOf(first, { version: 10 })
  const state = new Map(first.map(object => [object.metadata.name, object]))
  const log = new Map<number, readonly string[]>()
  const note = (version: number) => {
    log.set(version, [...state.values()].map(o => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort())
  }
  note(10)
  let version = 10
  for (let step = 0; step < 120; step++) {
    version += 1 + random(3)
    const name = `n${random(100)}`
    const known = state.has(name)
    const isDeletion = known && random(3) === 0
    const object = node(name, { version })
    if (isDeletion) state.delete(name)
    else state.set(name, object)
    store.apply([event(isDeletion ? 'DELETED' : known ? 'MODIFIED' : 'ADDED', object)])
    note(version)
  }
  return { store, log }
}
