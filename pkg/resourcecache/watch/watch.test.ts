import { expect } from 'chai'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { toEventStream } from '../../httpserver/response/event-stream.ts'
import { until } from '../../kubeclient/fixtures.ts'
import { changingVisibility, event, node, storeOf } from '../fixtures.ts'
import type { ObjectVisibility } from '../list/object-visibility.ts'
import type { ObjectStore } from '../store/store.ts'
import { serveWatch } from './watch.ts'
import { WatchBroadcaster } from './watch-broadcaster.ts'
import type { Encoder } from './watch-encoder.ts'

describe('serveWatch', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function start(
    visible?: ObjectVisibility,
    names: readonly string[] = [],
    { text = '', timeoutSeconds = 60 } = {},
  ) {
    const broadcaster = new WatchBroadcaster()
    const store = storeOf(names.map(name => node(name)))
    const encoded: string[] = []
    const encoder: Encoder = {
      name: 'test',
      event(type, { name }) {
        encoded.push(name)
        return Buffer.from(`${type} ${name}${text}\n`)
      },
      bookmark: version => Buffer.from(`BOOKMARK ${version}\n`),
    }
    loopback = await startLoopback((req, res) =>
      serveWatch(store, broadcaster, {
        options: {
          resourceVersion: new URL(req.url ?? '/', 'http://x').searchParams.get('from') ?? '',
          allowWatchBookmarks: false,
          sendInitialEvents: undefined,
          timeoutSeconds,
        },
        matches: () => true,
        encoder,
        channelKey: 'all',
        visible,
        stream: toEventStream({ req, res }, 'application/json'),
      }),
    )
    const { open } = loopback
    const watch = async (from: string, { readsAfterMs = 0 } = {}) => {
      const res = await open(`/?from=${from}`)
      const client = { text: '', isEnded: false }
      const read = () =>
        res.on('data', chunk => {
          client.text += chunk
        })
      if (readsAfterMs === 0) read()
      else setTimeout(read, readsAfterMs)
      res.on('end', () => {
        client.isEnded = true
      })
      return client
    }
    return { broadcaster, store, encoded, watch }
  }

  it('ends without an error when the kind is removed, also for clients that wait for a version', async () => {
    const { broadcaster, store, watch } = await start()
    const clients = [await watch('10'), await watch('99')]
    await until(() => broadcaster.size === 1)
    store.end()
    await until(() => clients.every(({ isEnded }) => isEnded))
    expect(clients.map(({ text }) => text)).to.deep.equal(['', ''])
  })

  it('of everything is shared with others, and ends when not everything is visible any more', async () => {
    const listeners = new Set<() => void>()
    const { broadcaster, store, encoded, watch } = await start({
      key: '',
      isAll: true,
      has: () => true,
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
    const clients = [await watch('10'), await watch('10')]
    await until(() => broadcaster.size === 2)
    store.apply([event('ADDED', node('a', { version: 11 }))])
    await until(() => clients.every(({ text }) => text === 'ADDED a\n'))
    expect(encoded).to.deep.equal(['a'])
    for (const listener of listeners) listener()
    await until(() => clients.every(({ isEnded }) => isEnded) && broadcaster.size === 0)
    expect(listeners.size).to.equal(0)
  })

  describe('that ends while its initial events are written in pieces', () => {
    type StartedWatch = { broadcaster: WatchBroadcaster; store: ObjectStore; hide: () => void }
    const ends: readonly (readonly [
      what: string,
      timeoutSeconds: number,
      (started: StartedWatch) => void,
    ])[] = [
      ['by its timeout', 1, () => undefined],
      ['with the server', 60, ({ broadcaster }) => broadcaster.close()],
      ['with its kind', 60, ({ store }) => store.end()],
      ['since not everything is visible any more', 60, ({ hide }) => hide()],
    ]
    for (const [what, timeoutSeconds, end] of ends) {
      it(`${what}, ends after an event`, async () => {
        let hide = (): void => undefined
        const onChange = (listener: () => void) => {
          hide = listener
          return () => undefined
        }
        const names = Array.from({ length: 200 }, (_, i) => `n${i + 100}`)
        const options = { text: 'x'.repeat(90_000), timeoutSeconds }
        const visible = { key: '', isAll: true, has: () => true, onChange } as const
        const { broadcaster, store, watch } = await start(visible, names, options)
        const client = await watch('0', { readsAfterMs: timeoutSeconds === 1 ? 1_200 : 100 })
        await until(() => broadcaster.size === 1)
        end({ broadcaster, store, hide })
        await until(() => client.isEnded)
        const events = client.text.split('\n')
        expect(events.pop()).to.equal('')
        expect(events.length).to.be.within(1, 199)
        expect([...new Set(events.map(({ length }) => length))]).to.deep.equal(['ADDED n100'.length + 90_000])
      })
    }
  })

  describe('of a narrowed list', () => {
    const changed = '"code":410'
    /** Visibility of one set of nodes, until the test changes it. */
    function narrowed(key: string, names: readonly string[]) {
      const listeners = new Set<() => void>()
      const shown = { version: undefined as number | undefined }
      const visible: ObjectVisibility = {
        key,
        has: ({ name }) => names.includes(name),
        onChange(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
        fixed: {
          versionShown: () => shown.version,
          show(version) {
            shown.version = version
          },
        },
      }
      const change = () => {
        for (const listener of [...listeners]) listener()
      }
      return { visible, shown, listeners, change }
    }

    it('sends only the permitted namespaces, shares its channel, and ends with 410 after a change of them', async () => {
      const { visible, listeners, change } = narrowed('a', ['a'])
      const { broadcaster, store, encoded, watch } = await start(visible)
      const clients = [await watch(''), await watch('')]
      await until(() => broadcaster.size === 2)
      store.apply([event('ADDED', node('b', { version: 11 }))])
      store.apply([event('ADDED', node('a', { version: 12 }))])
      await until(() => clients.every(({ text }) => text === 'ADDED a\n'))
      expect(encoded).to.deep.equal(['a'])
      change()
      await until(() => clients.every(({ isEnded }) => isEnded) && broadcaster.size === 0)
      for (const { text } of clients) {
        expect(text).to.contain(changed)
        expect(text).to.not.contain('b\n')
      }
      expect(listeners.size).to.equal(0)
    })

    it('resumes only at a version with the same visible namespaces', async () => {
      const { visible, shown } = narrowed('a', ['a'])
      const { broadcaster, store, watch } = await start(visible)
      store.apply([event('ADDED', node('a', { version: 11 }))])
      const unknown = await watch('10')
      await until(() => unknown.isEnded)
      expect(unknown.text).to.contain(changed)
      shown.version = 11
      const older = await watch('10')
      await until(() => older.isEnded)
      expect(older.text).to.contain(changed)
      shown.version = 10
      const client = await watch('10')
      await until(() => client.text === 'ADDED a\n')
      expect(broadcaster.size).to.equal(1)
      broadcaster.close()
    })

    it('stops its initial events after a change of permissions, and ends with 410', async () => {
      const names = Array.from({ length: 50 }, (_, i) => `n${i}`)
      const visibility = changingVisibility(...names)
      const { store, encoded, watch } = await start(visibility.visible, names)
      const { has } = visibility.visible
      // Changes in the middle of the initial events.
      Object.assign(visibility.visible, {
        has(entry: Parameters<typeof has>[0]) {
          if (encoded.length === 20) visibility.give('n0')
          return has(entry)
        },
      })
      const client = await watch('0')
      await until(() => client.isEnded)
      expect(encoded).to.have.length(20)
      expect(client.text).to.contain(changed)
      store.apply([event('MODIFIED', node('n49', { version: 11 }))])
      expect(client.text.trimEnd().split('\n')).to.have.length(21)
    })

    it('also ends with 410 if the permissions are restored before the end of its initial events', async () => {
      const names = Array.from({ length: 50 }, (_, i) => `n${i}`)
      const visibility = changingVisibility(...names)
      const { encoded, watch } = await start(visibility.visible, names)
      const { permissions } = visibility.visible
      let isTaken = false
      const isCurrent = () => {
        if (isTaken || encoded.length < 20) return true
        isTaken = true
        return false
      }
      Object.assign(visibility.visible, { permissions: { ...permissions, isCurrent } })
      const client = await watch('0')
      await until(() => client.text.includes('n19\n'))
      await until(() => client.isEnded)
      expect(client.text).to.contain(changed)
    })

    it('that waits for a version ends with 410 if the permissions have changed by then', async () => {
      const visibility = changingVisibility('a')
      const { store, watch } = await start(visibility.visible)
      const client = await watch('12')
      await new Promise(resolve => setTimeout(resolve, 30))
      visibility.give('b')
      store.apply([event('ADDED', node('a', { version: 12 }))])
      await until(() => client.isEnded)
      expect(client.text).to.contain(changed).and.not.contain('ADDED')
    })

    it('yields to other requests when it selects few of very many objects', async () => {
      const names = Array.from({ length: 3_000 }, (_, i) => `n${i}`)
      const visibility = changingVisibility('n2999')
      const { has } = visibility.visible
      Object.assign(visibility.visible, {
        has(entry: Parameters<typeof has>[0]) {
          const end = performance.now() + 0.02
          while (performance.now() < end);
          return has(entry)
        },
      })
      const { watch } = await start(visibility.visible, names)
      let turns = 0
      const count = () => {
        turns++
        if (!client.isEnded && client.text === '') setImmediate(count)
      }
      const client = await watch('0')
      count()
      await until(() => client.text === 'ADDED n2999\n')
      expect(turns).to.be.above(5)
    })

    it('that starts with the state stores its version', async () => {
      const { visible, shown } = narrowed('a', ['a'])
      const { broadcaster, watch } = await start(visible)
      await watch('0')
      await until(() => broadcaster.size === 1)
      expect(shown.version).to.equal(10)
      broadcaster.close()
    })
  })
})
