import { expect } from 'chai'
import { createPauses, createRests } from './rests.ts'

describe('createRests', () => {
  let nowMs: number
  let restedMs: number
  let isWanted: boolean
  let turn: number
  const means = {
    now: () => nowMs,
    sleep(ms: number) {
      nowMs += ms
      restedMs += ms
    },
    processors: 2,
  }
  const signs = { isWanted: () => isWanted, turns: () => turn }
  /** A hundred milliseconds of work in pieces of a tenth. */
  const work = (rest: () => void, each: () => void = () => undefined): void => {
    for (let piece = 0; piece < 1000; piece += 1) {
      nowMs += 0.1
      each()
      rest()
    }
  }
  beforeEach(() => {
    nowMs = 1000
    restedMs = 0
    isWanted = true
    turn = 7
  })

  it('lets others in again and again', () => {
    work(createRests(signs, means))
    expect(restedMs).to.be.within(40, 80)
  })

  it('rests most of the time while others are answered all of it', () => {
    work(createRests(signs, means), () => {
      turn += 1
    })
    expect(restedMs).to.be.within(200, 240)
  })

  it('stops for a request at once, and until it is answered', () => {
    let answers = 0
    const rest = createRests(signs, {
      ...means,
      sleep(ms) {
        means.sleep(ms)
        if (answers === 0) turn += 1
        answers += 1
      },
    })
    turn += 1
    nowMs += 0.1
    rest()
    expect(restedMs).to.equal(1.4)
    nowMs += 0.1
    rest()
    expect(restedMs).to.equal(1.4)
  })

  it('goes on while one request follows the other', () => {
    const rest = createRests(signs, {
      ...means,
      sleep(ms) {
        means.sleep(ms)
        turn += 1
      },
    })
    turn += 1
    rest()
    expect(restedMs).to.be.within(2, 2.2)
    nowMs += 0.1
    rest()
    expect(restedMs).to.be.within(2, 2.2)
  })

  it('does not rest unless it is wanted', () => {
    const rest = createRests(signs, means)
    isWanted = false
    work(rest)
    expect(restedMs).to.equal(0)
    isWanted = true
    rest()
    expect(restedMs).to.be.above(0)
  })

  it('does not rest where there are processors enough', () => {
    work(createRests(signs, { ...means, processors: 3 }))
    expect(restedMs).to.equal(0)
  })

  it('stops the thread for a moment, and no more', () => {
    const rest = createRests(signs, { processors: 1 })
    const startedAt = performance.now()
    rest()
    expect(performance.now() - startedAt).to.be.within(0.1, 1000)
  })
})

describe('createPauses', () => {
  it('stops for a moment after each bit of work, while it is wanted and processors are few', () => {
    let nowMs = 1000
    let isWanted = true
    let stoppedMs: number[] = []
    const means = {
      now: () => nowMs,
      sleep(ms: number) {
        nowMs += ms
        stoppedMs.push(ms)
      },
    }
    const pausesOf = (pause: () => void): readonly number[] => {
      stoppedMs = []
      for (let piece = 0; piece < 10; piece += 1) {
        pause()
        nowMs += 0.2
      }
      return stoppedMs
    }
    expect(pausesOf(createPauses(() => isWanted, { ...means, processors: 2 }))).to.deep.equal([
      0.1, 0.1, 0.1, 0.1, 0.1,
    ])
    expect(pausesOf(createPauses(() => isWanted, { ...means, processors: 3 }))).to.deep.equal([])
    isWanted = false
    expect(pausesOf(createPauses(() => isWanted, { ...means, processors: 1 }))).to.deep.equal([])
  })
})
