import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createBustle, createIsBusy, createTurns } from './bustle.ts'

describe('createBustle', () => {
  /** Until it is as expected; a busy machine takes its time. */
  const until = async (isBusy: () => boolean, expected: boolean): Promise<void> => {
    for (const deadline = performance.now() + 10_000; isBusy() !== expected; await sleep(10))
      if (performance.now() > deadline) expect(isBusy()).to.equal(expected)
  }

  it('tells much from little, for as long as anybody follows and a second more', async () => {
    let part = 0.5
    let begun = 0
    let nowMs = 0
    const bustle = createBustle({
      measure: () => {
        begun += 1
        return () => part
      },
      now: () => nowMs,
    })
    const isBusy = createIsBusy(bustle.memory)
    expect([isBusy(), begun]).to.deep.equal([false, 0])
    const [first, second] = [bustle.follow(), bustle.follow()]
    await until(isBusy, true)
    part = 0.004
    await until(isBusy, false)
    part = 0.005
    await until(isBusy, true)
    first()
    first()
    part = 0
    await until(isBusy, false)
    part = 1
    await until(isBusy, true)
    second()
    bustle.follow()()
    expect([isBusy(), begun]).to.deep.equal([true, 2])
    part = 0
    const third = bustle.follow()
    await until(isBusy, false)
    part = 1
    await until(isBusy, true)
    third()
    nowMs += 1001
    bustle.follow()()
    expect([isBusy(), begun]).to.deep.equal([false, 4])
  })

  it('measures the thread that made it', async () => {
    const bustle = createBustle()
    const isBusy = createIsBusy(bustle.memory)
    const leave = bustle.follow()
    const work = setInterval(() => {
      for (const end = performance.now() + 10; performance.now() < end; );
    }, 20)
    try {
      await until(isBusy, true)
    } finally {
      clearInterval(work)
      leave()
    }
  })

  describe('of requests to servers of the process', () => {
    const server = createServer((_, response) => void response.end())
    const ask = async (): Promise<string> => {
      const { port } = server.address() as AddressInfo
      return (await fetch(`http://127.0.0.1:${port}`)).text()
    }
    before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
    after(() => {
      server.close()
      server.closeAllConnections()
    })

    it('tells for as long as anybody follows, and a while more', async () => {
      const bustle = createBustle()
      const turns = createTurns(bustle.memory)
      await ask()
      expect(turns()).to.equal(0)
      const leave = bustle.follow()
      await ask()
      await until(() => turns() === 2, true)
      leave()
      bustle.follow()()
      await ask()
      await until(() => turns() === 4, true)
    })

    it('does not tell after that', async () => {
      const bustle = createBustle({ countedMs: 1 })
      const turns = createTurns(bustle.memory)
      const leave = bustle.follow()
      await ask()
      await until(() => turns() === 2, true)
      leave()
      await sleep(50)
      await ask()
      expect(turns()).to.equal(2)
      const leaveAgain = bustle.follow()
      await ask()
      await until(() => turns() === 4, true)
      leaveAgain()
    })
  })
})
