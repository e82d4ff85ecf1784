import { expect } from 'chai'
import { createLineMemory, cutMemory } from './line-memory.ts'

const step = 64 * 1024

describe('createLineMemory', () => {
  it('gives what was given back to the next who asks for no more, the smallest first', () => {
    const memory = createLineMemory(10 * step)
    const [large, small] = [memory.take(3 * step), memory.take(10)]
    expect([large.length, small.length]).to.deep.equal([3 * step, 10])
    memory.give(large)
    memory.give(small)
    const [again, more, last] = [memory.take(step), memory.take(step + 1), memory.take(step)]
    expect(again.buffer).to.equal(small.buffer)
    expect(more.buffer).to.equal(large.buffer)
    expect([small.buffer, large.buffer]).not.to.include(last.buffer)
  })

  it('shares no more than its limit, and lets go of what is beyond it', () => {
    const memory = createLineMemory(2 * step)
    const taken = [memory.take(step + 1), memory.take(1), memory.take(step)]
    expect(taken.map(({ buffer }) => buffer instanceof SharedArrayBuffer)).to.deep.equal([true, false, false])
    for (const bytes of taken) memory.give(bytes)
    expect(taken.map(({ length }) => length)).to.deep.equal([step + 1, 0, 0])
    expect(memory.take(2 * step).buffer).to.equal(taken[0]?.buffer)
  })
})

describe('cutMemory', () => {
  it('cuts parts that lie side by side', () => {
    const bytes = Buffer.from(new SharedArrayBuffer(64), 0, 61)
    const cut = cutMemory(bytes)
    const parts = [cut.float64(2), cut.uint32(3), cut.uint16(1), cut.bytes(31)]
    expect(parts.map(({ byteOffset, byteLength }) => [byteOffset, byteLength])).to.deep.equal([
      [0, 16],
      [16, 12],
      [28, 2],
      [30, 31],
    ])
    expect(() => cut.bytes(10)).to.throw(RangeError)
  })
})
