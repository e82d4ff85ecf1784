import { expect } from 'chai'
import { SlidingWindow } from './sliding-window.ts'

describe('SlidingWindow', () => {
  const rule = { maxTries: 3, durationSeconds: 10 }
  const make = (...failures: readonly number[]) => {
    const window = new SlidingWindow(rule)
    for (const at of failures) window.add(at)
    return window
  }

  it('locks for the duration when a failure reaches the limit', () => {
    const window = new SlidingWindow(rule)
    expect([window.add(1_000), window.add(2_000), window.left(2_000), window.add(3_000)]).to.deep.equal([
      false,
      false,
      1,
      true,
    ])
    expect([window.left(12_999), window.lockedUntilMs(12_999)]).to.deep.equal([0, 13_000])
    expect([window.left(13_000), window.lockedUntilMs(13_000)]).to.deep.equal([3, undefined])
  })

  it('ignores failures that are older than the duration', () => {
    const window = make(0, 5_000)
    expect([window.left(9_999), window.left(10_000), window.left(15_000)]).to.deep.equal([1, 2, 3])
    expect(make(5_000).isEmpty(14_999)).to.equal(false)
    expect(make(5_000).isEmpty(15_000)).to.equal(true)
  })

  it('is not locked longer by failures while it is locked', () => {
    const window = make(0, 0, 0)
    expect(window.add(9_000)).to.equal(false)
    expect(window.left(10_000)).to.equal(3)
  })

  it('resets failures up to a time, and no later ones', () => {
    const locked = make(0, 1_000, 2_000)
    locked.forgive(1_999)
    expect(locked.left(3_000)).to.equal(0)
    locked.forgive(2_000)
    expect(locked.left(3_000)).to.equal(3)
    const open = make(0, 1_000)
    open.forgive(0)
    expect(open.left(1_000)).to.equal(2)
  })
})
