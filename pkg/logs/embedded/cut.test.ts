import { expect } from 'chai'
import { cutMemory } from './cut.ts'

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
