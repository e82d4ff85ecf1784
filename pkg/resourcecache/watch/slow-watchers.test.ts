import { Writable } from 'node:stream'
import { expect } from 'chai'
import { LagGuard } from './slow-watchers.ts'
import { Channel, deliver, type Member } from './watch-channel.ts'

/** A client that reads only when the test requests it. */
function createClient() {
  let read: (() => void) | undefined
  const out = new Writable({
    write(_chunk, _encoding, done) {
      read = done
    },
  })
  out.on('error', () => undefined)
  const member: Member = {
    ...{ out, end: () => undefined, waiting: undefined, waitingBytes: 0, opening: undefined },
    ...{ isOpened: true, writtenBytes: 0 },
  }
  const channel = new Channel({
    key: 'x',
    matches: () => true,
    encoder: { name: 'x', event: () => Buffer.alloc(0), bookmark: () => Buffer.alloc(0) },
  })
  channel.members.add(member)
  const send = (bytes: number) => deliver(member, Buffer.alloc(bytes), undefined)
  return { channel, member, send, read: () => read?.(), isCut: () => out.destroyed }
}

describe('LagGuard', () => {
  it('disconnects a client that reads nothing for too long, unless nothing is pending', () => {
    const guard = new LagGuard({ stallMs: () => 60_000, maxBytes: 1_000_000 })
    const [stuck, quiet, slow] = [createClient(), createClient(), createClient()]
    const channels = [stuck, quiet, slow].map(({ channel }) => channel)
    for (const client of [stuck, slow]) for (let i = 0; i < 9; i++) client.send(100)
    for (let second = 0; second < 59; second += 10) {
      guard.check(channels, second * 1_000)
      slow.read()
    }
    expect([stuck, quiet, slow].map(client => client.isCut())).to.deep.equal([false, false, false])
    guard.check(channels, 61_000)
    expect([stuck, quiet, slow].map(client => client.isCut())).to.deep.equal([true, false, false])
  })

  it('disconnects the clients with the most pending bytes when the total is too large', () => {
    const guard = new LagGuard({ stallMs: () => 60_000, maxBytes: 2_000_000 })
    const clients = [300_000, 1_500_000, 100_000, 900_000, 10].map(bytes => {
      const client = createClient()
      client.send(bytes)
      return client
    })
    guard.check(
      clients.map(({ channel }) => channel),
      0,
    )
    expect(clients.map(client => client.isCut())).to.deep.equal([false, true, false, false, false])
  })
})
