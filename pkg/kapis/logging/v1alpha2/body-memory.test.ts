import { expect } from 'chai'
import { createBodyMemory } from './body-memory.ts'

describe('createBodyMemory', () => {
  it('hands out what was given back, where it is large enough, and never to two at once', () => {
    const { take, give } = createBodyMemory()
    const first = take(1000)
    const second = take(1000)
    expect(first.length).to.be.at.least(1000)
    expect(second.buffer).not.to.equal(first.buffer)
    give(first.subarray(0, 7))
    // As when something is given back twice by mistake.
    give(first)
    expect(take(1000).buffer).to.equal(first.buffer)
    expect(take(1000).buffer).not.to.equal(first.buffer)
    give(second)
    expect(take(1_000_000).buffer).not.to.equal(second.buffer)
  })

  it('keeps no large ones, and takes them from what V8 counts', () => {
    const { take, give } = createBodyMemory()
    const large = take(32_000_000)
    expect(large.buffer).to.be.instanceOf(ArrayBuffer)
    give(large)
    expect(take(1).buffer).not.to.equal(large.buffer)
  })
})
