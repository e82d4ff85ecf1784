import { expect } from 'chai'
import { createSharedMemory } from './shared-memory.ts'

const stepBytes = 64 * 1024
const create = (steps: number) => createSharedMemory({ limitBytes: steps * stepBytes, stepBytes })

describe('createSharedMemory', () => {
  it('gives what was given back to the next who asks for no more, the smallest first', () => {
    const memory = create(80)
    const [large, small] = [memory.take(3 * stepBytes), memory.take(10)]
    expect([large.length, small.length]).to.deep.equal([3 * stepBytes, 10])
    memory.give(large)
    memory.give(small.subarray(3, 4))
    const [again, more, last] = [memory.take(stepBytes), memory.take(stepBytes + 1), memory.take(stepBytes)]
    expect(again.buffer).to.equal(small.buffer)
    expect(more.buffer).to.equal(large.buffer)
    expect([small.buffer, large.buffer]).not.to.include(last.buffer)
  })

  it('never gives it to two at once, though it was given back twice', () => {
    const memory = create(16)
    const first = memory.take(1)
    memory.give(first)
    memory.give(first)
    expect(memory.take(1).buffer).to.equal(first.buffer)
    expect(memory.take(1).buffer).not.to.equal(first.buffer)
  })

  it('shares no more than its limit, and lets go of what is beyond it', () => {
    const memory = create(8)
    const taken = Array.from({ length: 10 }, () => memory.take(stepBytes))
    const shared = taken.map(({ buffer }) => buffer instanceof SharedArrayBuffer)
    expect(shared).to.deep.equal([...Array(8).fill(true), false, false])
    for (const bytes of taken) memory.give(bytes)
    expect(taken.slice(7).map(({ length }) => length)).to.deep.equal([stepBytes, 0, 0])
  })

  it('shares no piece of more than an eighth of it', () => {
    const memory = create(8)
    const [most, more] = [memory.take(stepBytes), memory.take(stepBytes + 1)]
    expect([most.buffer, more.buffer].map(buffer => buffer instanceof SharedArrayBuffer)).to.deep.equal([
      true,
      false,
    ])
    memory.give(more)
    expect(more.length).to.equal(0)
  })

  it('lets go of small ones that nobody has for a larger one that there is no room for', () => {
    const memory = create(16)
    const small = Array.from({ length: 16 }, () => memory.take(1))
    expect(memory.take(2 * stepBytes).buffer).to.be.instanceOf(ArrayBuffer)
    memory.give(small[0] ?? Buffer.alloc(0))
    expect(memory.take(2 * stepBytes).buffer).to.be.instanceOf(ArrayBuffer)
    // It would not have been enough.
    expect(memory.take(1).buffer).to.equal(small[0]?.buffer)
    for (const bytes of small.slice(0, 3)) memory.give(bytes)
    const large = memory.take(2 * stepBytes)
    expect(large.buffer).to.be.instanceOf(SharedArrayBuffer)
    expect(memory.take(1).buffer).to.equal(small[0]?.buffer)
    expect(memory.take(1).buffer).to.be.instanceOf(ArrayBuffer)
    // What is large is good for who wants little.
    memory.give(large)
    expect(memory.take(1).buffer).to.equal(large.buffer)
  })
})
