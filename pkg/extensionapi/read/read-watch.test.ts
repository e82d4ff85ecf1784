import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { parseLine } from '../../apirequest/request-line.ts'
import { toEventStream } from '../../httpserver/response/event-stream.ts'
import { bookmark, event, node, replaceAll, servedNodes, storeOf } from '../../resourcecache/fixtures.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { serveWatch } from '../../resourcecache/watch/watch.ts'
import { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { Encoder } from '../../resourcecache/watch/watch-encoder.ts'
import { matchesOptions, parseListOptions, toSelectorKey } from './list-options.ts'
import { createEncoder } from './table-watch-encoder.ts'

type WatchedEvent = {
  readonly type: string
  readonly object: {
    readonly kind?: string
    readonly code?: number
    readonly reason?: string
    readonly message?: string
    readonly metadata: {
      readonly name?: string
      readonly resourceVersion?: string
      readonly annotations?: Readonly<Record<string, string>>
    }
  }
}

/** A real HTTP client that collects events as they arrive. */
class Client {
  readonly res: IncomingMessage
  readonly writes: string[] = []
  state: 'open' | 'ended' | 'cut' = 'open'

  constructor(res: IncomingMessage) {
    this.res = res
    res.on('data', chunk => this.writes.push(chunk.toString()))
    res.on('end', () => {
      this.state = 'ended'
    })
    res.on('error', () => {
      this.state = 'cut'
    })
  }

  get events(): WatchedEvent[] {
    const lines = this.writes.join('').split('\n')
    expect(lines.pop()).to.equal('')
    return lines.map(line => JSON.parse(line))
  }

  /**
   * The events as `ADDED a@1`, followed by `+` if the bookmark that ends the initial events has
   * arrived.
   */
  get received(): string[] {
    return this.events.map(({ type, object: { metadata } }) => {
      const end = metadata.annotations?.['k8s.io/initial-events-end'] === 'true' ? '+' : ''
      return `${type} ${metadata.name ?? ''}@${metadata.resourceVersion}${end}`
    })
  }

  async receives(...expected: readonly string[]): Promise<void> {
    await until(() => this.writes.join('').split('\n').length > expected.length)
    expect(this.received).to.deep.equal(expected)
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen')
    await sleep(2)
  }
}

const three = () =>
  storeOf(
    ['a', 'b', 'c'].map((name, i) => node(name, { version: 1 + i, labels: { zone: i === 1 ? 'b' : 'a' } })),
    { version: 10 },
  )
const modified = (name: string, version: number, zone = 'a') =>
  event('MODIFIED', node(name, { version, labels: { zone } }))
const added = (name: string, version: number, zone = 'a') =>
  event('ADDED', node(name, { version, labels: { zone } }))
const deleted = (name: string, version: number, zone = 'a') =>
  event('DELETED', node(name, { version, labels: { zone } }))

describe('serveWatch', () => {
  const loopbacks: Loopback[] = []
  afterEach(async () => {
    for (const loopback of loopbacks.splice(0)) await loopback.close()
  })

  async function start(
    store: ObjectStore = three(),
    encoder: Encoder = createEncoder(servedNodes, { as: 'object' }),
  ) {
    const broadcaster = new WatchBroadcaster()
    const responses: ServerResponse[] = []
    const loopback = await startLoopback(async (req, res) => {
      responses.push(res)
      const { query, info } = parseLine('GET', req.url ?? '/')
      try {
        const options = parseListOptions(query, 'watch', info)
        const channelKey = toSelectorKey(query, info)
        await serveWatch(store, broadcaster, {
          options,
          matches: matchesOptions(options),
          encoder,
          channelKey,
          stream: toEventStream({ req, res }, 'application/json'),
        })
      } catch (error) {
        renderKube(res, error)
      }
    })
    loopbacks.push(loopback)
    const watch = async (query = '') => new Client(await loopback.open(`/?${query}`))
    return { store, broadcaster, loopback, responses, watch }
  }

  describe('response headers', () => {
    it('is sent immediately, before any event, and without a length', async () => {
      const { watch } = await start(storeOf([]))
      const { res } = await watch('resourceVersion=10')
      expect(res.statusCode).to.equal(200)
      expect(res.headers).to.include({
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
        'cache-control': 'no-cache, private',
      })
      expect(res.headers).to.not.have.any.keys('content-length', 'content-encoding')
    })
  })

  describe('start', () => {
    for (const query of ['', 'resourceVersion=', 'resourceVersion=0']) {
      it(`with ?${query} sends the current state first`, async () => {
        const { store, watch } = await start()
        const client = await watch(query)
        await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3')
        store.apply([modified('a', 11)])
        await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3', 'MODIFIED a@11')
      })
    }

    it('at a version sends the changes after it, then live events', async () => {
      const { store, watch } = await start()
      store.apply([modified('a', 11), deleted('b', 12, 'b')])
      store.apply([added('d', 13)])
      const client = await watch('resourceVersion=11')
      await client.receives('DELETED b@12', 'ADDED d@13')
      store.apply([modified('c', 14)])
      await client.receives('DELETED b@12', 'ADDED d@13', 'MODIFIED c@14')
    })

    it('at the current version sends no past events', async () => {
      const { store, broadcaster, watch } = await start()
      const client = await watch('resourceVersion=10')
      await until(() => broadcaster.size === 1)
      store.apply([modified('a', 11)])
      await client.receives('MODIFIED a@11')
    })

    it('at an expired version sends one ERROR event with 410, and ends', async () => {
      const { broadcaster, watch } = await start()
      const client = await watch('resourceVersion=9')
      await until(() => client.state === 'ended')
      expect(client.res.statusCode).to.equal(200)
      expect(client.events).to.deep.equal([
        {
          type: 'ERROR',
          object: {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Failure',
            message: 'too old resource version: 9 (10)',
            reason: 'Expired',
            code: 410,
          },
        },
      ])
      expect(broadcaster.size).to.equal(0)
    })

    it('at a future version sends only later events', async () => {
      const { store, broadcaster, watch } = await start()
      const client = await watch('resourceVersion=12')
      store.apply([modified('a', 11), modified('a', 12)])
      await until(() => broadcaster.size === 1)
      store.apply([modified('a', 13)])
      await client.receives('MODIFIED a@13')
    })

    it('at a version that never arrives ends at its timeout', async () => {
      const { watch } = await start()
      const startedAt = Date.now()
      const client = await watch('resourceVersion=9999&timeoutSeconds=1')
      while (client.state === 'open' && Date.now() - startedAt < 3_000) await sleep(10)
      expect(client.state).to.equal('ended')
      expect(Date.now() - startedAt).to.be.within(900, 1_600)
    }).timeout(5_000)

    it('at a future version leaves no listener when the client disconnects first', async () => {
      const { store, broadcaster, responses, watch } = await start()
      const client = await watch('resourceVersion=12&timeoutSeconds=2')
      client.res.destroy()
      await until(() => responses[0]?.destroyed === true)
      store.apply([bookmark(12)])
      await sleep(30)
      expect(broadcaster.size).to.equal(0)
    })
  })

  describe('sendInitialEvents', () => {
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

    it('sends the state, then the bookmark that ends it, then live events', async () => {
      const { store, watch } = await start()
      const client = await watch(initial)
      await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3', 'BOOKMARK @10+')
      store.apply([deleted('a', 11)])
      await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3', 'BOOKMARK @10+', 'DELETED a@11')
      expect(client.events[3]?.object).to.deep.include({
        kind: 'Node',
        apiVersion: 'resources.kapis.io/v1alpha3',
      })
    })

    it('sends the bookmark for an empty state, too', async () => {
      const { watch } = await start(storeOf([]))
      await (await watch(initial)).receives('BOOKMARK @10+')
    })

    it('waits for the requested version of the state', async () => {
      const { store, watch } = await start()
      const watching = watch(`${initial}&resourceVersion=11`)
      await sleep(20)
      store.apply([modified('a', 11)])
      await (await watching).receives('ADDED a@11', 'ADDED b@2', 'ADDED c@3', 'BOOKMARK @11+')
    })

    it('sends the current state for a past version', async () => {
      const { watch } = await start()
      await (await watch(`${initial}&resourceVersion=3`)).receives(
        'ADDED a@1',
        'ADDED b@2',
        'ADDED c@3',
        'BOOKMARK @10+',
      )
    })

    it('sends only the state to clients without bookmarks', async () => {
      const { store, watch } = await start()
      const client = await watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
      await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3')
      store.apply([modified('a', 11)])
      await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3', 'MODIFIED a@11')
    })

    it('set to false starts at the current version', async () => {
      const { store, broadcaster, watch } = await start()
      const client = await watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan')
      await until(() => broadcaster.size === 1)
      store.apply([modified('a', 11)])
      await client.receives('MODIFIED a@11')
    })

    it('returns 504 instead of 200 to a version that does not arrive', async () => {
      const { watch } = await start()
      const { res } = await watch(`${initial}&resourceVersion=99`)
      expect(res.statusCode).to.equal(504)
    }).timeout(5_000)
  })

  describe('selectors', () => {
    it('send ADDED for an object that begins to match, and DELETED with its last matching state when it stops', async () => {
      const { store, watch } = await start()
      const client = await watch('labelSelector=zone%3Da')
      await client.receives('ADDED a@1', 'ADDED c@3')
      store.apply([
        modified('b', 11, 'b'),
        modified('b', 12, 'a'),
        modified('a', 13, 'b'),
        modified('a', 14, 'b'),
      ])
      store.apply([deleted('a', 15, 'b'), deleted('b', 16, 'a')])
      await client.receives('ADDED a@1', 'ADDED c@3', 'ADDED b@12', 'DELETED a@13', 'DELETED b@16')
      expect(client.events[3]?.object.metadata).to.deep.include({ labels: { zone: 'a' } })
    })

    it('also apply to resumed watches', async () => {
      const { store, watch } = await start()
      store.apply([modified('a', 11, 'b'), modified('b', 12, 'b'), added('d', 13)])
      const client = await watch('labelSelector=zone%3Da&resourceVersion=10')
      await client.receives('DELETED a@11', 'ADDED d@13')
    })

    it('restrict a watch to one name', async () => {
      const { store, watch } = await start()
      const client = await watch('fieldSelector=metadata.name%3Db')
      store.apply([modified('a', 11), modified('b', 12), deleted('b', 13), added('b', 14)])
      await client.receives('ADDED b@2', 'MODIFIED b@12', 'DELETED b@13', 'ADDED b@14')
    })
  })

  describe('end', () => {
    it('comes after timeoutSeconds, without an error', async () => {
      const { broadcaster, watch } = await start()
      const startedAt = Date.now()
      const client = await watch('timeoutSeconds=1&resourceVersion=10')
      await until(() => client.state !== 'open')
      expect(client.state).to.equal('ended')
      expect(Date.now() - startedAt).to.be.within(900, 1_400)
      await until(() => broadcaster.size === 0)
    })

    it('is announced by a bookmark two seconds before, if the client allows bookmarks', async () => {
      const { store, watch } = await start()
      const startedAt = Date.now()
      const [taking, other] = [
        await watch('timeoutSeconds=3&resourceVersion=10&allowWatchBookmarks=true'),
        await watch('timeoutSeconds=3&resourceVersion=10'),
      ]
      store.apply([bookmark(77)])
      await taking.receives('BOOKMARK @77')
      expect(Date.now() - startedAt).to.be.within(900, 1_400)
      expect(other.received).to.deep.equal([])
    })

    it('leaves no listener when the client disconnects', async () => {
      const { store, broadcaster, watch } = await start()
      const clients = await Promise.all(Array.from({ length: 20 }, () => watch()))
      await until(() => broadcaster.size === 20)
      for (const { res } of clients) res.destroy()
      await until(() => broadcaster.size === 0)
      store.apply([modified('a', 11)])
    })

    it('comes without an error for all watches when the server shuts down', async () => {
      const { broadcaster, watch } = await start()
      const clients = await Promise.all([
        watch(),
        watch('labelSelector=zone%3Da'),
        watch('resourceVersion=10'),
      ])
      await until(() => broadcaster.size === 3)
      broadcaster.close()
      await until(() => clients.every(client => client.state === 'ended'))
      await until(() => broadcaster.size === 0)
    })

    it('comes without an error when events were missed', async () => {
      const { store, broadcaster, watch } = await start()
      const client = await watch()
      await client.receives('ADDED a@1', 'ADDED b@2', 'ADDED c@3')
      replaceAll(store, [], '40')
      await until(() => client.state === 'ended')
      expect(client.received).to.have.length(3)
      await until(() => broadcaster.size === 0)
    })
  })

  describe('order', () => {
    it('is the same for all watches, and complete, with an initial state of any size', async () => {
      const big = 'x'.repeat(5_000)
      const items = Array.from({ length: 800 }, (_, i) => node(`n${1000 + i}`, { version: 1, spec: { big } }))
      const { store, watch } = await start(storeOf(items))
      const clients = [await watch('allowWatchBookmarks=true'), await watch('allowWatchBookmarks=true')]
      for (const { res } of clients) res.pause()
      for (let version = 11; version <= 60; version++) {
        store.apply([modified(`n${1000 + version}`, version)])
        if (version % 10 === 0) await sleep(1)
      }
      for (const { res } of clients) res.resume()
      for (const client of clients) {
        await until(() => client.writes.join('').includes('"resourceVersion":"60"'))
        const received = client.received
        const end = received.findIndex(text => text.endsWith('+'))
        expect(end).to.equal(800)
        const from = Number(received[end]?.slice('BOOKMARK @'.length, -1))
        expect(received.slice(end + 1)).to.deep.equal(
          Array.from({ length: 60 - from }, (_, i) => `MODIFIED n${1001 + from + i}@${from + 1 + i}`),
        )
      }
    }).timeout(8_000)
  })
})
