import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { createGiveWay, createPrecedence, type Precedence } from './precedence.ts'

const mostHeldMs = 50

function millisecondsOf(giveWay: () => void): number {
  const startedAt = performance.now()
  giveWay()
  return performance.now() - startedAt
}

describe('createPrecedence', () => {
  let precedence: Precedence
  let worker: Worker | undefined
  beforeEach(() => {
    precedence = createPrecedence(() => undefined)
  })
  afterEach(() => worker?.terminate())

  it('holds who gives way for as long as somebody asks, and for half of the time at most', () => {
    const heldAgainAfterMs: number[] = []
    // A thread that is away while it need not give way looks like one that does; but it is hardly away each time.
    while (heldAgainAfterMs.length < 5 && !heldAgainAfterMs.some(ms => ms >= 2 * mostHeldMs - 2)) {
      const giveWay = createGiveWay(precedence.memory)
      const end = precedence.goAhead()
      const startedAt = performance.now()
      expect(millisecondsOf(giveWay)).to.be.at.least(mostHeldMs - 1)
      let before = 0
      do before = performance.now()
      while (millisecondsOf(giveWay) < mostHeldMs - 1)
      // From the first hold on: between its end and whatever comes next this thread may have been away.
      heldAgainAfterMs.push(before - startedAt)
      end()
    }
    expect(Math.max(...heldAgainAfterMs)).to.be.at.least(2 * mostHeldMs - 2)
  })

  it('holds nobody when nobody asks, or no longer', () => {
    const giveWay = createGiveWay(precedence.memory)
    const ends = [precedence.goAhead(), precedence.goAhead()]
    for (const end of [...ends, ...ends]) end()
    const startedAt = performance.now()
    let calls = 0
    for (; calls < 1000 && performance.now() - startedAt < mostHeldMs; calls += 1) giveWay()
    expect(calls).to.be.greaterThan(1)
    expect(Atomics.load(new Int32Array(precedence.memory), 0)).to.equal(0)
  })

  it('lets others in for a second after a question, where processors are few', () => {
    let nowMs = 5000
    let pauses = 0
    const means = {
      now: () => nowMs,
      sleep() {
        pauses += 1
      },
    }
    /** How often each stops within so much work. */
    const pausesIn = (giveWay: () => void, ms: number): number => {
      pauses = 0
      for (const end = nowMs + ms; nowMs < end; nowMs += 0.25) giveWay()
      return pauses
    }
    const few = createGiveWay(precedence.memory, { ...means, processors: 2 })
    const many = createGiveWay(precedence.memory, { ...means, processors: 3 })
    expect(pausesIn(few, 100)).to.equal(0)
    precedence.goAhead()()
    expect(pausesIn(few, 100)).to.equal(200)
    expect(pausesIn(many, 100)).to.equal(0)
    expect(pausesIn(few, 800)).to.be.greaterThan(0)
    expect(pausesIn(few, 100)).to.equal(0)
    precedence.goAhead()()
    expect(pausesIn(few, 100)).to.equal(200)
  })

  it('forgets what lasts', async () => {
    const end = precedence.goAhead()
    const asked = new Int32Array(precedence.memory)
    while (Atomics.load(asked, 0) > 0) await sleep(5)
    end()
    expect(Atomics.load(asked, 0)).to.equal(0)
  })

  it('lets a thread that sleeps go on once all questions are answered', async () => {
    const script = new URL('./precedence-fixtures.ts', import.meta.url)
    worker = new Worker(script, { workerData: precedence.memory })
    worker.postMessage('without a question')
    await once(worker, 'message')
    const heldMs: number[] = []
    // On a slow machine it takes long to begin or to be woken, but hardly each time.
    while (heldMs.length < 20 && !heldMs.some(ms => ms > 2 && ms < mostHeldMs - 5)) {
      const [first, second] = [precedence.goAhead(), precedence.goAhead()]
      worker.postMessage('beside two')
      first()
      setTimeout(second, 15)
      heldMs.push((await once(worker, 'message'))[0])
      // It need not give way again for as long as it did.
      await sleep(2 * mostHeldMs)
    }
    expect(heldMs).to.satisfy((all: readonly number[]) => all.some(ms => ms > 2 && ms < mostHeldMs - 5))
    expect(Atomics.load(new Int32Array(precedence.memory), 0)).to.equal(0)
  })

  describe('untilAnswered', () => {
    const waitedMs = async (): Promise<number> => {
      const startedAt = performance.now()
      await precedence.untilAnswered()
      return performance.now() - startedAt
    }

    it('is nothing when nobody asks, or no longer', () => {
      expect(precedence.untilAnswered()).to.equal(undefined)
      precedence.goAhead()()
      expect(precedence.untilAnswered()).to.equal(undefined)
    })

    it('is the pace of ingest for a second after a question, and nothing before and later', async () => {
      const resting = Promise.resolve()
      precedence = createPrecedence(() => resting)
      expect(precedence.untilAnswered()).to.equal(undefined)
      precedence.goAhead()()
      expect(precedence.untilAnswered()).to.equal(resting)
      await sleep(1010)
      expect(precedence.untilAnswered()).to.equal(undefined)
    })

    it('lasts until the last of several questions is answered, for all who wait', async () => {
      const [first, second] = [precedence.goAhead(), precedence.goAhead()]
      let answered = 0
      const waiting = [1, 2].map(async () => {
        await precedence.untilAnswered()
        return answered
      })
      first()
      answered = 1
      await sleep(5)
      answered = 2
      second()
      expect(await Promise.all(waiting)).to.deep.equal([2, 2])
    })

    it('lasts half of the time at most when there is always another question', async () => {
      const questions = setInterval(() => precedence.goAhead(), 10)
      try {
        precedence.goAhead()
        expect(await waitedMs()).to.be.at.least(mostHeldMs - 1)
        const startedAt = performance.now()
        while (precedence.untilAnswered() === undefined) await sleep(1)
        expect(performance.now() - startedAt).to.be.at.least(mostHeldMs - 2)
      } finally {
        clearInterval(questions)
      }
    })
  })
})
