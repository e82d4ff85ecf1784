import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { event, node, storeOf } from '../../resourcecache/fixtures.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { createUserTimeSlices } from '../../scheduling/time-slices.ts'
import { unusedOwners } from '../subrequests/fixtures.ts'
import { readCollection } from './read-collection.ts'

const g = '/kapis/resources.kapis.io/v1alpha3/nodes'
const nodes = ['a', 'b', 'c', 'd'].map((name, i) => node(name, { version: 1 + i }))
const twoByName = 'watch=true&limit=2&sortBy=name&fields=metadata.name'
const item = (name: string) => ({ metadata: { name } })

type Event = { readonly type: string; readonly object: Readonly<Record<string, unknown>> }

describe('watchPage', () => {
  let loopback: Loopback | undefined
  let res: IncomingMessage | undefined
  afterEach(() => {
    res?.destroy()
    return loopback?.close()
  })

  async function start(store: ObjectStore, visible?: ObjectVisibility) {
    const tools = {
      groupDomain: 'kapis.io',
      pages: new PageCache(),
      broadcaster: new WatchBroadcaster(),
      timeSlices: createUserTimeSlices(),
      isConsistent: () => false,
      owners: unusedOwners,
      printerColumns: async () => undefined,
      narrowed: () => visible,
    }
    const started = await startLoopback(async (req, response) => {
      try {
        await readCollection(store, tools, toExchange(req, response), { list: 'items' })
      } catch (error) {
        renderKube(response, error)
      }
    })
    loopback = started
    return { ...started, shutDown: () => tools.broadcaster.close() }
  }

  async function open(
    store: ObjectStore,
    query: string,
    options: { visible?: ObjectVisibility; accept?: string } = {},
  ) {
    const { visible, accept = 'application/json' } = options
    const opened = await (await start(store, visible)).open(`${g}?${query}`, { headers: { accept } })
    res = opened
    const lines = createInterface({ input: opened })[Symbol.asyncIterator]()
    const line = async () => (await lines.next()).value ?? ''
    return { res: opened, line, next: async (): Promise<Event> => JSON.parse(await line()) }
  }

  it('starts with the page', async () => {
    const { res: opened, next } = await open(storeOf(nodes), `${twoByName}&ascending=true&page=2`)
    expect(opened.headers['content-type']).to.equal('application/json')
    expect(await next()).to.deep.equal({
      type: 'PAGE',
      object: {
        resourceVersion: '10',
        totalItems: 4,
        keys: ['uid-c', 'uid-d'],
        items: [item('c'), item('d')],
      },
    })
  })

  it('sends objects that enter, leave and change on a page, and the total', async () => {
    const store = storeOf(nodes)
    const { next } = await open(store, `${twoByName}&ascending=true`)
    expect((await next()).object).to.have.deep.property('keys', ['uid-a', 'uid-b'])
    store.apply([event('DELETED', node('a', { version: 11 }))])
    expect(await next()).to.deep.equal({
      type: 'CHANGED',
      object: {
        resourceVersion: '11',
        totalItems: 3,
        keys: ['uid-b', 'uid-c'],
        changed: { 'uid-c': item('c') },
      },
    })
    store.apply([event('MODIFIED', node('b', { version: 12, labels: { new: 'yes' } }))])
    expect((await next()).object).to.deep.include({
      keys: ['uid-b', 'uid-c'],
      changed: { 'uid-b': item('b') },
    })
    store.apply([event('ADDED', node('z', { version: 13 }))])
    expect((await next()).object).to.deep.include({ totalItems: 4, keys: ['uid-b', 'uid-c'], changed: {} })
  })

  it('sends nothing about changes outside of the page', async () => {
    const store = storeOf(nodes)
    const { next } = await open(store, `${twoByName}&ascending=true`)
    await next()
    store.apply([event('MODIFIED', node('d', { version: 11, labels: { new: 'yes' } }))])
    await new Promise(resolve => setTimeout(resolve, 700))
    store.apply([event('MODIFIED', node('a', { version: 12, labels: { new: 'yes' } }))])
    expect((await next()).object).to.deep.include({ resourceVersion: '12', changed: { 'uid-a': item('a') } })
  })

  it('sends concurrent changes as one event', async () => {
    const store = storeOf(nodes)
    const { next } = await open(store, `${twoByName}&ascending=true`)
    await next()
    for (let version = 11; version < 60; version++)
      store.apply([event('MODIFIED', node('a', { version, labels: { step: String(version) } }))])
    expect((await next()).object).to.deep.include({ resourceVersion: '59', changed: { 'uid-a': item('a') } })
  })

  it('sends changes of computed annotations', async () => {
    let value = '1'
    const store = storeOf(nodes, { decorate: () => ({ annotations: { used: value }, cells: [] }) })
    const { next } = await open(
      store,
      'watch=true&limit=1&sortBy=name&ascending=true&fields=metadata.annotations',
    )
    await next()
    value = '2'
    store.redecorate(['a'])
    store.advance(11)
    expect((await next()).object).to.deep.include({
      changed: { 'uid-a': { metadata: { annotations: { used: '2' } } } },
    })
  }).timeout(15_000)

  it('sends server-sent events if requested', async () => {
    const { res: opened, line } = await open(storeOf(nodes), twoByName, { accept: 'text/event-stream' })
    expect(opened.headers['content-type']).to.equal('text/event-stream')
    const first = await line()
    expect(first.startsWith('data: {"type":"PAGE",')).to.equal(true)
    expect(JSON.parse(first.slice('data: '.length))).to.have.property('type', 'PAGE')
    expect(await line()).to.equal('')
  })

  it('ends at its timeout', async () => {
    const { line } = await open(storeOf(nodes), `${twoByName}&timeoutSeconds=1`)
    await line()
    expect(await line()).to.equal('')
  })

  it('ends with 410 when the visible objects of the caller change', async () => {
    const listeners = new Set<() => void>()
    const visible: ObjectVisibility = {
      key: 'a and b',
      has: ({ name }) => name < 'c',
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    const { next, line } = await open(storeOf(nodes), `${twoByName}&ascending=true`, { visible })
    expect((await next()).object).to.deep.include({ totalItems: 2, keys: ['uid-a', 'uid-b'] })
    for (const listener of listeners) listener()
    const { type, object } = await next()
    expect([type, object.code, object.message]).to.deep.equal([
      'ERROR',
      410,
      'the namespaces you may see have changed',
    ])
    expect(await line()).to.equal('')
    expect([...listeners]).to.deep.equal([])
  })

  it('sends only the total with a limit of 0', async () => {
    const store = storeOf(nodes)
    const { next } = await open(store, 'watch=true&limit=0')
    expect((await next()).object).to.deep.equal({ resourceVersion: '10', totalItems: 4, keys: [], items: [] })
    store.apply([event('MODIFIED', node('a', { version: 11, labels: { new: 'yes' } }))])
    store.apply([event('DELETED', node('b', { version: 12 }))])
    expect((await next()).object).to.deep.equal({
      resourceVersion: '12',
      totalItems: 3,
      keys: [],
      changed: {},
    })
  })

  it('ends after the event that is being sent when the server ends', async () => {
    const large = Array.from({ length: 40 }, (_, i) =>
      node(`n${i}`, { spec: { text: 'x'.repeat(1_000_000) } }),
    )
    const { open: get, shutDown } = await start(storeOf(large))
    const opened = await get(`${g}?watch=true&limit=40`)
    res = opened
    await new Promise(resolve => opened.once('data', resolve))
    shutDown()
    let length = 0
    for await (const chunk of opened) length += chunk.length
    expect(length).to.be.above(39_000_000)
  })

  it('aborts an event that is being sent when the visible objects of the caller change', async () => {
    const listeners = new Set<() => void>()
    const visible: ObjectVisibility = {
      key: 'all',
      has: () => true,
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    const large = Array.from({ length: 40 }, (_, i) =>
      node(`n${i}`, { spec: { text: 'x'.repeat(1_000_000) } }),
    )
    const started = await start(storeOf(large), visible)
    const opened = await started.open(`${g}?watch=true&limit=40`)
    res = opened
    const failed = new Promise(resolve => opened.on('error', resolve))
    await new Promise(resolve => opened.once('data', resolve))
    opened.pause()
    for (const listener of listeners) listener()
    let text = ''
    opened.on('data', chunk => {
      text += chunk
    })
    opened.resume()
    expect(await failed).to.have.property('code', 'ECONNRESET')
    expect(text.length).to.be.below(39_000_000)
    expect([...listeners]).to.deep.equal([])
  })

  for (const limit of ['501', '-1'])
    it(`rejects a limit of ${limit}`, async () => {
      const { get } = await start(storeOf(nodes))
      const { code, text } = await get(`${g}?watch=true&limit=${limit}`)
      expect(code).to.equal(400)
      expect(text).to.contain('a watch of a page needs a limit from 0 to 500')
    })
})
