import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createTurns } from './turns.ts'

describe('createTurns', () => {
  it('lets one of all that wait go on in each turn of the event loop, in order', async () => {
    const turns = createTurns()
    const log: string[] = []
    const work = async (name: string): Promise<void> => {
      for (let slice = 0; slice < 3; slice += 1) {
        await turns.next()
        log.push(name)
      }
    }
    const working = Promise.all([work('a'), work('b')])
    const seen: number[] = []
    while (log.length < 6) {
      await nextTurn()
      seen.push(log.length)
    }
    await working
    expect(log).to.deep.equal(['a', 'b', 'a', 'b', 'a', 'b'])
    for (const [i, count] of seen.entries()) expect(count - (seen[i - 1] ?? 0)).to.be.at.most(1)
  })

  it('lets who goes ahead be done first, and goes on at once after that', async () => {
    const turns = createTurns()
    const end = turns.goAhead()
    let isOver = false
    const waiting = turns.next().then(() => isOver)
    setTimeout(() => {
      isOver = true
      end()
    }, 1)
    const startedAt = performance.now()
    const wasOver = await waiting
    // A machine that sleeps for longer than anybody is made to wait proves nothing.
    if (performance.now() - startedAt < 15) expect(wasOver).to.equal(true)
    await turns.next()
  })

  it('has shorter slices for a while after somebody went ahead', () => {
    const turns = createTurns()
    const before = turns.sliceMs()
    const startedAt = performance.now()
    turns.goAhead()()
    const after = turns.sliceMs()
    if (performance.now() - startedAt < 900) expect(after).to.be.below(before)
  })

  it('rests for a part of its time after somebody went ahead, and not without', async () => {
    const turns = createTurns()
    const share = async (): Promise<number> => {
      const startedAt = performance.now()
      let busyMs = 0
      while (performance.now() - startedAt < 300) {
        await turns.next()
        const since = performance.now()
        while (performance.now() - since < 1);
        busyMs += performance.now() - since
      }
      return busyMs / (performance.now() - startedAt)
    }
    const without = await share()
    const rested: number[] = []
    // On a busy machine others take a part of either.
    while (rested.length < 10 && !rested.some(one => one > 0.3 && one < 0.9 * without)) {
      turns.goAhead()()
      rested.push(await share())
    }
    expect(rested).to.satisfy((all: readonly number[]) => all.some(one => one > 0.3 && one < 0.9 * without))
  })

  it('goes on when who goes ahead takes long', async () => {
    const turns = createTurns()
    const end = turns.goAhead()
    await turns.next()
    await turns.next()
    end()
    end()
  })

  it('keeps most of its time, however many go ahead', async () => {
    const turns = createTurns()
    let isDone = false
    const crowding = (async () => {
      while (!isDone) {
        const end = turns.goAhead()
        await sleep(1)
        const next = turns.goAhead()
        end()
        await sleep(1)
        next()
      }
    })()
    let busyMs = 0
    const startedAt = performance.now()
    while (performance.now() - startedAt < 600) {
      const before = performance.now()
      await turns.next()
      const since = performance.now()
      // Less than anybody waits who is held.
      if (since - before < 1) busyMs += since - before
      while (performance.now() - since < 2);
      busyMs += performance.now() - since
    }
    const share = busyMs / (performance.now() - startedAt)
    isDone = true
    await crowding
    expect(share).to.be.above(0.3)
  })
})
