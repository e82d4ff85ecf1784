import { expect } from 'chai'
import { createRests } from './rests.ts'

describe('createRests', () => {
  let nowMs: number
  let restedMs: number
  let isWanted: boolean
  const means = {
    now: () => nowMs,
    sleep(ms: number) {
      nowMs += ms
      restedMs += ms
    },
    processors: 2,
  }
  /** A hundred milliseconds of work in pieces of a tenth. */
  const work = (rest: () => void): void => {
    for (let piece = 0; piece < 1000; piece += 1) {
      nowMs += 0.1
      rest()
    }
  }
  beforeEach(() => {
    nowMs = 1000
    restedMs = 0
    isWanted = true
  })

  it('rests most of the time', () => {
    work(createRests(() => isWanted, means))
    expect(restedMs).to.be.within(150, 300)
  })

  it('does not rest unless it is wanted', () => {
    const rest = createRests(() => isWanted, means)
    isWanted = false
    work(rest)
    expect(restedMs).to.equal(0)
    isWanted = true
    rest()
    expect(restedMs).to.be.above(0)
  })

  it('does not rest where there are processors enough', () => {
    work(createRests(() => isWanted, { ...means, processors: 3 }))
    expect(restedMs).to.equal(0)
  })

  it('stops the thread for a moment, and no more', () => {
    const rest = createRests(() => isWanted, { processors: 1 })
    const startedAt = performance.now()
    rest()
    expect(performance.now() - startedAt).to.be.within(0.1, 1000)
  })
})
