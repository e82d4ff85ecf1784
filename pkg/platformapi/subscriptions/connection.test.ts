import { Writable } from 'node:stream'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { createConnection, type StartWatch } from './connection.ts'

/** A client that reads only when it is told to. */
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
const frame = (event: Buffer) => event
const stallMs = () => 60_000

describe('createConnection', () => {
  function connect(start: StartWatch, options: { stallMs?: () => number } = {}) {
    const reader = createReader()
    const { receive } = createConnection({ frame }, { out: reader.out, start, stallMs, ...options })
    return { ...reader, receive }
  }

  it('gives each event its id, whole lines at a time', async () => {
    const { receive, readAll, read } = connect(async (_path, open) => {
      const stream = open({ warning: 'x' })
      stream.write('{"type":"ADD')
      stream.write('ED","object":{}}\n{"type":"MODIFIED"}\n')
      stream.end('{"type":"DELETED"}\n')
    })
    receive(subscribe('a'))
    await readAll()
    expect(read).to.deep.equal([
      '{"id":"a","type":"SUBSCRIBED","headers":{"warning":"x"}}',
      '{"id":"a","type":"ADDED","object":{}}',
      '{"id":"a","type":"MODIFIED"}',
      '{"id":"a","type":"DELETED"}',
      '{"id":"a","type":"ENDED"}',
    ])
  })

  it('lets each subscription wait while the client does not read, and have its turn', async () => {
    const streams: Writable[] = []
    const { receive, readAll, read } = connect(async (_path, open) => {
      streams.push(open({}))
    })
    receive(subscribe('a'))
    receive(subscribe('b'))
    await readAll()
    let written = 0
    for (const stream of streams)
      for (let i = 0; i < 10; i++) stream.write(`{"n":${i},"pad":"${'x'.repeat(64)}"}\n`, () => written++)
    await delay(20)
    // One event of each may be on its way; the others wait in their own streams.
    expect(written).to.be.at.most(4)
    await readAll()
    expect(written).to.equal(20)
    const order = read.slice(2).map(line => JSON.parse(line).id)
    expect(order.slice(0, 6).sort()).to.deep.equal(['a', 'a', 'a', 'b', 'b', 'b'])
  })

  it('answers an error with its id, and frees the id', async () => {
    let attempts = 0
    const { receive, readAll, read } = connect(async (_path, open) => {
      if (attempts++ === 0) throw new Error('kaput')
      open({})
    })
    receive(subscribe('a'))
    await readAll()
    receive(subscribe('a'))
    await readAll()
    const types = read.map(line => JSON.parse(line)).map(({ id, type }) => `${id} ${type}`)
    expect(types).to.deep.equal(['a ERROR', 'a ENDED', 'a SUBSCRIBED'])
    expect(read.join()).to.not.contain('kaput')
  })

  it('ends a watch that is unsubscribed before it has started', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const streams: Writable[] = []
    const { receive, readAll, read } = connect(async (_path, open) => {
      await promise
      streams.push(open({}))
    })
    receive(subscribe('a'))
    await readAll()
    receive(() => ({ type: 'UNSUBSCRIBE', id: 'a' }))
    await readAll()
    resolve()
    await readAll()
    expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true])
    expect(read).to.deep.equal(['{"id":"a","type":"ENDED"}'])
  })

  it('ends all watches when the client is gone', async () => {
    const streams: Writable[] = []
    const { receive, readAll, out } = connect(async (_path, open) => {
      streams.push(open({}))
    })
    receive(subscribe('a'))
    receive(subscribe('b'))
    await readAll()
    out.destroy()
    await turn()
    expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true, true])
  })

  it('disconnects a client that sends and does not read', async () => {
    const { receive, out } = connect(async (_path, open) => {
      open({})
    })
    for (let i = 0; i < 200; i++) receive(subscribe(`a${i}`))
    await turn()
    expect(out.destroyed).to.equal(true)
  })

  it('disconnects a client that reads nothing for too long', async () => {
    const { receive, out } = connect(
      async (_path, open) => {
        open({}).write(`{"pad":"${'x'.repeat(200)}"}\n{"type":"ADDED"}\n`)
      },
      { stallMs: () => 50 },
    )
    receive(subscribe('a'))
    await delay(200)
    expect(out.destroyed).to.equal(true)
  })
})
