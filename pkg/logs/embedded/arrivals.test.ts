import { expect } from 'chai'
import { type Arrivals, createArrivals } from './arrivals.ts'

describe('createArrivals', () => {
  let now = 0
  let arrivals: Arrivals
  beforeEach(() => {
    now = 0
    arrivals = createArrivals(100, () => now)
  })

  it('begins where what it is told of first begins', () => {
    expect([arrivals.reached(), arrivals.after(7).to]).to.deep.equal([0, 7])
    arrivals.note(50, true, 20)
    expect([arrivals.reached(), arrivals.reachedBefore(100)]).to.deep.equal([50, 20])
  })

  it('holds for old what came it does not know when', () => {
    arrivals.note(50, false, 0)
    expect(arrivals.reachedBefore(100)).to.equal(50)
    expect(arrivals.after(0)).to.deep.equal({ to: 50, at: Number.NEGATIVE_INFINITY })
  })

  it('tells how far it was before, and which parts came at once', () => {
    arrivals.note(10, false, 0)
    arrivals.note(20, true, 0)
    now = 19
    arrivals.note(30, true, 0)
    now = 101
    arrivals.note(40, true, 10)
    expect([arrivals.reached(), arrivals.reachedBefore(100)]).to.deep.equal([40, 30])
    const ends = [0, 10, 25, 30, 40].map(from => arrivals.after(from).to)
    expect(ends).to.deep.equal([10, 30, 30, 40, 40])
  })

  it('forgets what is done and long ago', () => {
    for (const to of [10, 20, 30]) {
      now += 101
      arrivals.note(to, true, to - 10)
    }
    expect([arrivals.after(0).to, arrivals.reachedBefore(100)]).to.deep.equal([20, 20])
    now += 101
    arrivals.note(40, true, 30)
    expect([arrivals.after(0).to, arrivals.reachedBefore(100)]).to.deep.equal([30, 30])
  })
})
