import { Writable } from 'node:stream'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { createConnection, type StartWatch } from './connection.ts'

/** A client that reads one message per call of `readNext`. */
function createReader() {
  const read: string[] = []
  let pending: (() => void) | undefined
  const out = new Writable({
    highWaterMark: 64,
    write(chunk: Buffer, _encoding, done) {
      read.push(...chunk.toString().split('\n').filter(Boolean))
      pending = done
    },
  })
  const readNext = async () => {
    const done = pending
    pending = undefined
    done?.()
    await turn()
  }
  return {
    out,
    read,
    readNext,
    async readAll() {
      for (let i = 0; i < 200; i++) await readNext()
    },
  }
}

const subscribe = (id: string) => () => ({ type: 'SUBSCRIBE' as const, id, path: `/${id}?watch=true` })
/** Joins the parts of an event into one piece. */
const pieces = (event: Iterable<Buffer>) => [Buffer.concat([...event])]
const startMs = () => 60_000
const stallMs = () => 60_000

describe('createConnection', () => {
  function connect(start: StartWatch, options: { stallMs?: () => number; startMs?: () => number } = {}) {
    const reader = createReader()
    const { receive, end } = createConnection(
      { pieces },
      { out: reader.out, start, startMs, stallMs, ...options },
    )
    return { ...reader, receive, end }
  }

  it('sends each event with the subscription ID, whole lines at a time', async () => {
    const { receive, readAll, read } = connect(async (_path, open) => {
      const stream = open({ warning: 'x' })
      stream.write('{"type":"ADD')
      stream.write('ED","object":{}}\n{"type":"MODIFIED"}\n')
      stream.end('{"type":"DELETED"}\n')
    })
    await receive(subscribe('a'))
    await readAll()
    expect(read).to.deep.equal([
      '{"id":"a","type":"SUBSCRIBED","headers":{"warning":"x"}}',
      '{"id":"a","type":"ADDED","object":{}}',
      '{"id":"a","type":"MODIFIED"}',
      '{"id":"a","type":"DELETED"}',
      '{"id":"a","type":"ENDED"}',
    ])
  })

  it('pauses each subscription while the client does not read, and serves all in turn', async () => {
    const streams: Writable[] = []
    const { receive, readAll, read } = connect(async (_path, open) => {
      streams.push(open({}))
    })
    await receive(subscribe('a'))
    await receive(subscribe('b'))
    await readAll()
    let written = 0
    for (const stream of streams)
      for (let i = 0; i < 10; i++) stream.write(`{"n":${i},"pad":"${'x'.repeat(64)}"}\n`, () => written++)
    await delay(20)
    // At most one event per subscription is in transit; all others wait in their streams.
    expect(written).to.be.at.most(4)
    await readAll()
    expect(written).to.equal(20)
    const order = read.slice(2).map(line => JSON.parse(line).id)
    expect(order.slice(0, 6).sort()).to.deep.equal(['a', 'a', 'a', 'b', 'b', 'b'])
  })

  it('sends an error with the subscription ID, and frees the ID', async () => {
    let attempts = 0
    const { receive, readAll, read } = connect(async (_path, open) => {
      if (attempts++ === 0) throw new Error('kaput')
      open({})
    })
    await receive(subscribe('a'))
    await readAll()
    await receive(subscribe('a'))
    await readAll()
    const types = read.map(line => JSON.parse(line)).map(({ id, type }) => `${id} ${type}`)
    expect(types).to.deep.equal(['a ERROR', 'a ENDED', 'a SUBSCRIBED'])
    expect(read.join()).to.not.contain('kaput')
  })

  it('ends a watch that is cancelled before it has started', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const streams: Writable[] = []
    const { receive, readAll, read } = connect(async (_path, open) => {
      await promise
      streams.push(open({}))
    })
    await receive(subscribe('a'))
    await readAll()
    await receive(() => ({ type: 'UNSUBSCRIBE', id: 'a' }))
    await readAll()
    resolve()
    await readAll()
    expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true])
    expect(read).to.deep.equal(['{"id":"a","type":"ENDED"}'])
  })

  it('ends all watches when the client disconnects', async () => {
    const streams: Writable[] = []
    const { receive, readAll, out } = connect(async (_path, open) => {
      streams.push(open({}))
    })
    await receive(subscribe('a'))
    await receive(subscribe('b'))
    await readAll()
    out.destroy()
    await turn()
    expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true, true])
  })

  it('handles no message while the client does not read responses', async () => {
    let started = 0
    const { receive, readAll } = connect(async (_path, open) => {
      started += 1
      open({})
    })
    const handleAll = async () => {
      for (let i = 0; i < 50; i++) await receive(subscribe(`a${i}`))
    }
    const handled = handleAll()
    await delay(20)
    expect(started).to.be.below(5)
    await readAll()
    await handled
    expect(started).to.equal(50)
  })

  it('ends a watch that does not start in time, and what it opens later', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const streams: Writable[] = []
    const { receive, readAll, read } = connect(
      async (_path, open) => {
        await promise
        streams.push(open({}))
      },
      { startMs: () => 20 },
    )
    await receive(subscribe('a'))
    await delay(50)
    await readAll()
    const events = read.map(line => JSON.parse(line))
    expect(events.map(({ type, object }) => [type, object?.code])).to.deep.equal([
      ['ERROR', 504],
      ['ENDED', undefined],
    ])
    resolve()
    await turn()
    expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true])
  })

  it('sends a large event in fragments without copies', async () => {
    const large = Buffer.alloc(300_000, 'x')
    const sent: Buffer[] = []
    const out = new Writable({
      write(chunk: Buffer, _encoding, done) {
        sent.push(chunk)
        setImmediate(done)
      },
    })
    const { receive, end } = createConnection(
      { pieces: event => event },
      {
        ...{ out, startMs, stallMs },
        async start(path, open) {
          const stream = open({})
          if (path.startsWith('/b')) return void stream.write('{"type":"SMALL"}\n')
          for (const part of [Buffer.from('{"pad":"'), large, Buffer.from('"}\n')]) stream.write(part)
        },
      },
    )
    await receive(subscribe('a'))
    await receive(subscribe('b'))
    // Also when the server ends the connection in the meantime.
    end()
    await delay(50)
    expect(out.writableFinished).to.equal(true)
    expect(sent.some(chunk => chunk.buffer === large.buffer && chunk.length === large.length)).to.equal(true)
    const ids = Buffer.concat(sent)
      .toString()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).id)
    expect(ids.sort()).to.deep.equal(['a', 'a', 'b', 'b'])
  })

  it('disconnects a client that reads nothing for too long', async () => {
    const { receive, out } = connect(
      async (_path, open) => {
        open({}).write(`{"pad":"${'x'.repeat(200)}"}\n{"type":"ADDED"}\n`)
      },
      { stallMs: () => 50 },
    )
    await receive(subscribe('a'))
    await delay(200)
    expect(out.destroyed).to.equal(true)
  })
})
