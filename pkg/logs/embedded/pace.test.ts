import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createPace, type Pace } from './pace.ts'

describe('createPace', () => {
  let takenMs: number
  let pace: Pace
  const since = async (work: Promise<void> | undefined): Promise<number> => {
    const startedAt = performance.now()
    await work
    return performance.now() - startedAt
  }
  beforeEach(() => {
    takenMs = 5000
    pace = createPace({ takenMs: () => takenMs, processors: () => 2 })
    // From here on it counts.
    expect(pace()).to.equal(undefined)
  })

  /** All at once: what time passes meanwhile would make up for a part of it. */
  function restAfter(ms: number): Promise<void> | undefined {
    expect(pace()).to.equal(undefined)
    takenMs += ms
    return pace()
  }

  it('holds nobody who takes little', async () => {
    for (let i = 0; i < 20; i += 1) {
      takenMs += 1
      expect(pace()).to.equal(undefined)
      await sleep(1)
    }
  })

  it('holds who has taken more than its share, until that is made up', async () => {
    const resting = restAfter(40)
    expect(resting).not.to.equal(undefined)
    // Of two processors 1.44 ms a millisecond, 10 ms of it ahead.
    expect(await since(resting)).to.be.within(16, 1000)
    expect(pace()).to.equal(undefined)
  })

  it('is the same rest for all who come meanwhile', async () => {
    const resting = restAfter(40)
    expect(resting).not.to.equal(undefined)
    expect(pace()).to.equal(resting)
    await resting
  })

  it('holds nobody for long, whatever others take, and lets something through after each rest', async () => {
    // What a slow machine adds is not in each of them.
    const rests: number[] = []
    let wasFree = false
    while (rests.length < 20 && !(wasFree && rests.some(ms => ms < 40))) {
      takenMs += 100_000
      const resting = pace()
      if (resting !== undefined) rests.push(await since(resting))
      takenMs += 100_000
      if (pace() === undefined) wasFree = true
      await sleep(60)
    }
    expect(wasFree).to.equal(true)
    expect(Math.min(...rests)).to.be.within(24, 40)
  })

  it('forgets what was taken while nobody was held', async () => {
    takenMs += 100_000
    await sleep(1010)
    expect(pace()).to.equal(undefined)
  })
})
