import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Status, tooManyRequests } from '../../apierrors/status.ts'
import { createFairQueue, type Seat } from './fair-queue.ts'

const neverGone = new EventEmitter()

function start(most: number, waitMs = 1_000) {
  const limit = { most }
  const places = createFairQueue({
    seats: () => limit.most,
    waitMs: () => waitMs,
    rejection: () => tooManyRequests('too many', 1),
  })
  const taken: string[] = []
  /**
   * Acquires a seat, possibly after waiting. `taken` lists the users in the order in which they
   * acquired theirs.
   */
  const take = async (user: string, gone = neverGone): Promise<Seat> => {
    const found = places.take(user, gone)
    const place = found instanceof Promise ? await found : found
    taken.push(user)
    return place
  }
  return { ...places, take, taken, limit }
}

const turn = () => sleep(0)

describe('createFairQueue', () => {
  it('limits one user to a quarter of the seats, and keeps the rest for others', async () => {
    const { take, taken, waiting } = start(8)
    for (let i = 0; i < 5; i++) void take('greedy')
    for (const user of ['a', 'b', 'c', 'd', 'e', 'f']) void take(user)
    await turn()
    expect(taken).to.deep.equal(['greedy', 'greedy', 'a', 'b', 'c', 'd', 'e', 'f'])
    expect(waiting()).to.equal(3)
  })

  it('gives free seats to waiting users in turn, and to each user in the order of the requests', async () => {
    const { take, taken } = start(4)
    const places = await Promise.all(['a', 'b', 'c', 'd'].map(user => take(user)))
    for (const user of ['a', 'a', 'a', 'x', 'y', 'x']) void take(user)
    for (const place of places) place.leave()
    await turn()
    expect(taken.slice(4)).to.deep.equal(['x', 'y', 'a'])
  })

  it('gives a user who releases a seat another one, up to the share', async () => {
    const { take, taken } = start(8)
    const first = await take('a')
    await take('a')
    void take('a')
    await turn()
    expect(taken).to.have.length(2)
    first.leave()
    first.leave()
    await turn()
    expect(taken).to.have.length(3)
    void take('a')
    await turn()
    expect(taken).to.have.length(3)
  })

  it('rejects a request that has waited too long', async () => {
    const { take, waiting } = start(4, 20)
    await take('a')
    const failure = await take('a').catch(error => error)
    expect(failure).to.be.instanceOf(Status)
    expect(failure).to.include({ code: 429 })
    expect(waiting()).to.equal(0)
  })

  it('keeps no seat for a client that disconnected while waiting', async () => {
    const { take, taken, waiting } = start(4)
    const first = await take('a')
    const gone = new EventEmitter()
    const left = take('a', gone)
    void take('a')
    gone.emit('close')
    ;(await left).leave()
    expect(waiting()).to.equal(1)
    first.leave()
    await turn()
    expect(taken).to.have.length(3)
    expect(gone.listenerCount('close')).to.equal(0)
  })

  it("counts requests that wait for their client only against their user's share", async () => {
    const { take, taken } = start(4)
    const held = await Promise.all(['a', 'b', 'c', 'd'].map(user => take(user)))
    void take('e')
    void take('a')
    await turn()
    expect(taken).to.have.length(4)
    held[0]?.idle(true)
    held[0]?.idle(true)
    await turn()
    // e has got the seat of a; the second request of a still waits.
    expect(taken).to.deep.equal(['a', 'b', 'c', 'd', 'e'])
    // A request that is no longer idle does not wait for a seat, so the limit is exceeded for a
    // moment.
    held[0]?.idle(false)
    held[1]?.leave()
    await turn()
    expect(taken).to.have.length(5)
    held[0]?.leave()
    await turn()
    expect(taken).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'a'])
  })

  it('counts requests that wait for their client as seats once there are half as many as seats', async () => {
    const { take, taken } = start(4)
    const held = await Promise.all(['a', 'b', 'c', 'd'].map(user => take(user)))
    for (const place of held) place.idle(true)
    for (const user of ['e', 'f', 'g']) void take(user)
    await turn()
    expect(taken.slice(4)).to.deep.equal(['e', 'f'])
    held[0]?.leave()
    held[2]?.idle(true)
    await turn()
    expect(taken.slice(4)).to.deep.equal(['e', 'f', 'g'])
  })

  it('rejects excess requests immediately if waiting is disabled', async () => {
    const { takeNow } = start(4)
    const place = takeNow('a')
    expect(() => takeNow('a')).to.throw(Status)
    takeNow('b')
    place.leave()
    takeNow('a')
  })

  it('treats 0 as no limit, also after a change while requests wait', async () => {
    const { take, taken, limit } = start(4)
    const first = await take('a')
    void take('a')
    void take('a')
    limit.most = 0
    first.leave()
    await turn()
    expect(taken).to.have.length(3)
    for (let i = 0; i < 1_000; i++) await take('a')
  })

  it('queues ten thousand requests of one user without delaying the next user', async () => {
    const { take, taken, waiting } = start(400, 60_000)
    const all = Array.from({ length: 10_000 }, async () => {
      const place = await take('many')
      await turn()
      place.leave()
    })
    const other = take('other')
    await other
    expect(waiting()).to.be.above(9_000)
    await Promise.all(all)
    expect(taken).to.have.length(10_001)
  })
})
