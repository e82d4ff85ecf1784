import { expect } from 'chai'
import { inOwnMemory, release, releaseOwn, releaseWhole } from './own-memory.ts'

describe('memory of its own', () => {
  const large = (size: number): Buffer => Buffer.allocUnsafeSlow(size)
  const gone = 0

  it('is let go of at once, and a second time nothing happens', () => {
    const bytes = large(100_000)
    release(bytes)
    release(bytes)
    expect(bytes.byteLength).to.equal(gone)
  })

  it('is let go of as a whole, and not while it is a part of other memory', () => {
    const whole = large(1000)
    const part = large(1000).subarray(0, 999)
    releaseWhole(whole)
    releaseWhole(part)
    expect([whole.byteLength, part.byteLength]).to.deep.equal([gone, 999])
  })

  it('is let go of where it is not filled, and never where it may be the pool', () => {
    const filled = large(100_000).subarray(5000)
    const pooled = Buffer.allocUnsafe((Buffer.poolSize >>> 1) - 1)
    const other = Buffer.allocUnsafe(10).fill(7)
    releaseOwn(filled)
    releaseOwn(pooled)
    expect([filled.byteLength, pooled.byteLength]).to.deep.equal([gone, (Buffer.poolSize >>> 1) - 1])
    expect([...other]).to.deep.equal(Array.from({ length: 10 }, () => 7))
  })

  it('is not what threads share', () => {
    const shared = Buffer.from(new SharedArrayBuffer(100))
    for (const letGo of [release, releaseOwn, releaseWhole]) letGo(shared)
    expect(shared.byteLength).to.equal(100)
  })

  it('is made by a copy where need be', () => {
    const part = large(1000).fill(3).subarray(10, 20)
    expect(inOwnMemory(part).buffer.byteLength).to.equal(10)
    const whole = large(1000)
    expect(inOwnMemory(whole).buffer).to.equal(whole.buffer)
  })
})
