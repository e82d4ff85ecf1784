import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createBustle, createIsBusy } from './bustle.ts'

describe('createBustle', () => {
  const bustle = createBustle()
  const isBusy = createIsBusy(bustle.memory)
  /** Until it is as expected, with some work in between or none. */
  const until = async (expected: boolean, workMs: number): Promise<void> => {
    for (const deadline = performance.now() + 10_000; isBusy() !== expected; await sleep(20)) {
      if (performance.now() > deadline) expect(isBusy()).to.equal(expected)
      for (const end = performance.now() + workMs; performance.now() < end; );
    }
  }

  it('says nothing while nobody follows', async () => {
    for (const end = performance.now() + 200; performance.now() < end; );
    await sleep(5)
    expect(isBusy()).to.equal(false)
  })

  it('tells a thread that works from one that does not, until nobody follows any more', async () => {
    const ends = [bustle.follow(), bustle.follow()]
    await until(true, 10)
    await until(false, 0)
    await until(true, 10)
    ends[0]?.()
    ends[0]?.()
    await until(false, 0)
    await until(true, 10)
    ends[1]?.()
    expect(isBusy()).to.equal(false)
  })
})
