import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { event, node, storeOf } from '../fixtures.ts'
import { type ChannelOptions, WatchBroadcaster, type Watcher } from './watch-broadcaster.ts'
import type { Encoder } from './watch-encoder.ts'

function createCountingEncoder(size = 0, name = 'x'): { encoder: Encoder; readonly calls: string[] } {
  const calls: string[] = []
  const text = (type: string, name: string) => Buffer.from(`${type} ${name}${'x'.repeat(size)}\n`)
  return {
    calls,
    encoder: {
      name,
      event(type, entry) {
        calls.push(entry.name)
        return text(type, entry.name)
      },
      bookmark: version => text('BOOKMARK', String(version)),
    },
  }
}

/** Resolves when all channels of a test have been processed, also on a busy machine. */
async function encoded(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

describe('WatchBroadcaster', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function start() {
    const broadcaster = new WatchBroadcaster()
    const store = storeOf([])
    const server = await startLoopback((_req, res) => arrivals.shift()?.(res))
    loopback = server
    const arrivals: ((res: ServerResponse) => void)[] = []
    let version = 10
    const change = (...names: readonly string[]) =>
      store.apply(names.map(name => event('ADDED', node(name, { version: ++version }))))

    async function join(options: ChannelOptions, begins = true) {
      const arrived = Promise.withResolvers<ServerResponse>()
      arrivals.push(arrived.resolve)
      const opening = server.open('/')
      const response = await arrived.promise
      response.flushHeaders()
      const writes: Buffer[] = []
      const write = response.write.bind(response)
      response.write = (chunk: unknown) => {
        if (Buffer.isBuffer(chunk)) writes.push(chunk)
        return write(chunk)
      }
      const watcher = broadcaster.join(store, options, response, () => response.end())
      if (begins) await watcher.begin([])
      const res: IncomingMessage = await opening
      return { watcher, response, res, written: () => writes.map(String) }
    }
    return { broadcaster, change, join }
  }

  const all = (key: string, encoder: Encoder): ChannelOptions => ({ key, matches: () => true, encoder })
  const leave = (...watchers: readonly { readonly watcher: Watcher }[]) => {
    for (const { watcher } of watchers) watcher.leave()
  }

  it('encodes a change once for all watchers of a channel', async () => {
    const { change, join } = await start()
    const [one, two] = [createCountingEncoder(), createCountingEncoder(0, 'another')]
    const watchers = [
      await join(all('x', one.encoder)),
      await join(all('x', one.encoder)),
      await join(all('x', one.encoder)),
      await join(all('y', two.encoder)),
    ]
    change('a')
    await encoded()
    expect([one.calls, two.calls]).to.deep.equal([['a'], ['a']])
    for (const { written } of watchers) expect(written()).to.deep.equal(['ADDED a\n'])
  })

  it('encodes a change once for all channels with the same encoding, with any selectors', async () => {
    const { change, join } = await start()
    const { encoder, calls } = createCountingEncoder()
    const watchers = []
    for (let i = 0; i < 5; i++) watchers.push(await join({ key: `x${i}`, matches: () => i < 4, encoder }))
    change('a')
    await encoded()
    expect(calls).to.deep.equal(['a'])
    expect(watchers.map(({ written }) => written().join(''))).to.deep.equal([
      ...Array.from({ length: 4 }, () => 'ADDED a\n'),
      '',
    ])
  })

  it('yields to other requests when there are many channels', async () => {
    const { change, join } = await start()
    const slow = (name: string): Encoder => ({
      ...createCountingEncoder(0, name).encoder,
      event(type, entry) {
        const until = performance.now() + 3
        while (performance.now() < until);
        return Buffer.from(`${type} ${entry.name}\n`)
      },
    })
    const names = Array.from({ length: 40 }, (_, i) => `x${i}`)
    const watchers = await Promise.all(names.map(name => join(all(name, slow(name)))))
    change('a')
    change('b')
    const received = () =>
      watchers.filter(({ written }) => written().join('') === 'ADDED a\nADDED b\n').length
    expect(received()).to.be.below(40)
    // A watcher that joins in the meantime must not receive any event twice.
    const late = await join(all('x39', slow('x39')))
    const deadline = Date.now() + 10_000
    while (received() < 40 && Date.now() < deadline) await sleep(5)
    expect(received()).to.equal(40)
    expect(late.written()).to.deep.equal([])
  })

  it('writes concurrent events together', async () => {
    const { change, join } = await start()
    const { written } = await join(all('x', createCountingEncoder().encoder))
    change('a', 'b', 'c')
    change('d')
    expect(written()).to.deep.equal(['ADDED a\nADDED b\nADDED c\n', 'ADDED d\n'])
  })

  describe('many watchers of one channel', () => {
    async function crowd({ members = 64, size = 0 } = {}) {
      const started = await start()
      const { encoder } = createCountingEncoder(size)
      const watchers = []
      for (let i = 0; i < members; i++) watchers.push(await started.join(all('x', encoder)))
      // Waits longer than events are batched.
      await sleep(50)
      return { ...started, encoder, watchers }
    }

    it('receive the first event immediately, and close successors together', async () => {
      const { change, watchers } = await crowd()
      change('a')
      change('b')
      change('c', 'd')
      for (const { written } of watchers) expect(written()[0]).to.equal('ADDED a\n')
      const all = 'ADDED a\nADDED b\nADDED c\nADDED d\n'
      const hasReceived = ({ written }: (typeof watchers)[number]) => written().join('').length >= all.length
      const deadline = Date.now() + 20_000
      while (!watchers.every(hasReceived) && Date.now() < deadline) await sleep(5)
      for (const { written } of watchers) expect(written().join('')).to.equal(all)
    })

    it('receive events in batches, for 0.06 ms per watcher', async () => {
      const { change, watchers } = await crowd({ members: 200 })
      const received = () => watchers.reduce((writes, { written }) => writes + written().length, 0)
      let isSeen = false
      for (let tries = 0; !isSeen && tries < 20; tries++) {
        const before = received()
        await sleep(50)
        // Events of the previous attempt arrived only now, so this attempt is repeated.
        if (received() !== before) continue
        const startedAt = performance.now()
        change('a')
        change('b')
        change('c')
        const writes = received() - before
        // The measurement is invalid if the thread was suspended in the meantime.
        if (performance.now() - startedAt >= 12) continue
        expect(writes).to.equal(watchers.length)
        isSeen = true
      }
      expect(isSeen).to.equal(true)
    })

    it('receive events without a delay once many are pending', async () => {
      const { change, watchers } = await crowd({ size: 100 * 1024 })
      change('a')
      change('b', 'c', 'd', 'e', 'f', 'g', 'h')
      const name = (text: string) => text.replaceAll('x', '')
      for (const { written } of watchers) {
        expect(written().slice(0, 3).map(name)).to.deep.equal([
          'ADDED a\n',
          'ADDED b\nADDED c\nADDED d\n',
          'ADDED e\nADDED f\nADDED g\n',
        ])
      }
    })

    it('receive events before a later bookmark, and a late watcher receives no duplicates', async () => {
      const { change, encoder, join, watchers } = await crowd()
      change('a')
      change('b')
      watchers[0]?.watcher.write(Buffer.from('BOOKMARK\n'))
      expect(watchers[0]?.written().join('')).to.equal('ADDED a\nADDED b\nBOOKMARK\n')
      change('c')
      const late = await join(all('x', encoder))
      expect(watchers[1]?.written().join('')).to.equal('ADDED a\nADDED b\nADDED c\n')
      change('d')
      const deadline = Date.now() + 20_000
      while (late.written().length === 0 && Date.now() < deadline) await sleep(5)
      expect(late.written().join('')).to.equal('ADDED d\n')
    })
  })

  describe('with an encoder for the first event', () => {
    const plain = createCountingEncoder().encoder
    const opening: Encoder = {
      ...plain,
      event: (type, entry) => Buffer.from(`FIRST ${plain.event(type, entry)}`),
    }
    const channel = all('x', { ...plain, opening })

    it('encodes only the first event of each watcher with it', async () => {
      const { change, join } = await start()
      const early = await join(channel)
      change('a', 'b')
      change('c')
      const late = await join(channel)
      change('d', 'e')
      const alone = await join(channel)
      alone.watcher.write(Buffer.from('BOOKMARK\n'), () => Buffer.from('FIRST BOOKMARK\n'))
      change('f')
      const last = 'ADDED f\n'
      expect(early.written().join('')).to.equal(`FIRST ADDED a\nADDED b\nADDED c\nADDED d\nADDED e\n${last}`)
      expect(late.written().join('')).to.equal(`FIRST ADDED d\nADDED e\n${last}`)
      expect(alone.written().join('')).to.equal(`FIRST BOOKMARK\n${last}`)
    })

    it('encodes pending events after an empty initial state with it, and none after a non-empty one', async () => {
      const { change, join } = await start()
      const [empty, full] = [await join(channel, false), await join(channel, false)]
      change('a', 'b')
      change('c')
      await empty.watcher.begin([])
      await full.watcher.begin([Buffer.from('state\n')])
      change('d')
      expect(empty.written().join('')).to.equal('FIRST ADDED a\nADDED b\nADDED c\nADDED d\n')
      expect(full.written().join('')).to.equal('state\nADDED a\nADDED b\nADDED c\nADDED d\n')
    })
  })

  it('writes only the events that a channel selects', async () => {
    const { change, join } = await start()
    const { encoder } = createCountingEncoder()
    const { written } = await join({ key: 'x', encoder, matches: e => e.name === 'b' })
    change('a')
    change('a', 'b', 'c')
    expect(written()).to.deep.equal(['ADDED b\n'])
  })

  it('queues live events behind the initial state', async () => {
    const { change, join } = await start()
    const { watcher, written } = await join(all('x', createCountingEncoder().encoder), false)
    change('a')
    watcher.write(Buffer.from('BOOKMARK\n'))
    change('b')
    expect(written()).to.deep.equal([])
    await watcher.begin([Buffer.from('first\n'), Buffer.from('second\n')])
    expect(written()).to.deep.equal(['first\n', 'second\n', 'ADDED a\nBOOKMARK\nADDED b\n'])
    change('c')
    expect(written().at(-1)).to.equal('ADDED c\n')
  })

  it('counts its watchers, and counts a watcher that leaves twice only once', async () => {
    const { broadcaster, change, join } = await start()
    const { encoder, calls } = createCountingEncoder()
    const [a, b] = [await join(all('x', encoder)), await join(all('x', encoder))]
    expect(broadcaster.size).to.equal(2)
    leave(a, a)
    expect(broadcaster.size).to.equal(1)
    change('n1')
    expect([a.written(), b.written()]).to.deep.equal([[], ['ADDED n1\n']])
    leave(b)
    expect(broadcaster.size).to.equal(0)
    change('n2')
    expect(calls).to.deep.equal(['n1'])
  })

  it('reopens a channel after its last watcher has left', async () => {
    const { change, join } = await start()
    const first = await join(all('x', createCountingEncoder().encoder))
    leave(first)
    const second = await join(all('x', createCountingEncoder().encoder))
    leave(first)
    change('a')
    expect(second.written()).to.deep.equal(['ADDED a\n'])
  })

  it('disconnects a client that does not read, and no other', async () => {
    const { change, join } = await start()
    const { encoder } = createCountingEncoder(1024 * 1024)
    const slow = await join(all('x', encoder))
    const quick = await join(all('x', encoder))
    slow.res.on('error', () => undefined).pause()
    quick.res.resume()
    for (let i = 0; i < 40 && !slow.response.destroyed; i++) {
      change(`n${i}`)
      await sleep(5)
    }
    expect(slow.response.destroyed).to.equal(true)
    expect(quick.response.destroyed).to.equal(false)
    const before = quick.written().length
    change('last')
    expect(quick.written()).to.have.length(before + 1)
  }).timeout(5_000)

  it('disconnects a client that does not read its initial state when events accumulate', async () => {
    const { change, join } = await start()
    const { encoder } = createCountingEncoder(1024 * 1024)
    const { response, res } = await join(all('x', encoder), false)
    res.on('error', () => undefined)
    for (let i = 0; i < 17; i++) change(`n${i}`)
    expect(response.destroyed).to.equal(true)
  })

  it('stops writing the initial state to a disconnected client', async () => {
    const { join } = await start()
    const { watcher, response, res } = await join(all('x', createCountingEncoder().encoder), false)
    let made = 0
    function* state() {
      for (; made < 1000; made++) yield Buffer.alloc(256 * 1024)
    }
    res.on('error', () => undefined).pause()
    const beginning = watcher.begin(state())
    await sleep(20)
    res.destroy()
    await beginning
    expect(made).to.be.below(1000)
    expect(response.destroyed).to.equal(true)
  })

  it('leaves no listeners on a client that reads the initial state slowly', async () => {
    const { join } = await start()
    const { watcher, response, res } = await join(all('x', createCountingEncoder().encoder), false)
    const before = response.listenerCount('close')
    res.resume()
    await watcher.begin(Array.from({ length: 100 }, () => Buffer.alloc(256 * 1024)))
    expect(response.listenerCount('close') - before).to.be.below(3)
  })

  it('ends every watch when it closes, and then writes nothing', async () => {
    const { broadcaster, change, join } = await start()
    const { response, written } = await join(all('x', createCountingEncoder().encoder))
    broadcaster.close()
    expect(response.writableEnded).to.equal(true)
    change('a')
    expect(written()).to.deep.equal([])
  })
})
