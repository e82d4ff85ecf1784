import { expect } from 'chai'
import { createUsedAssertions } from './used-assertions.ts'

describe('createUsedAssertions', () => {
  const clock = { nowMs: 0 }
  const create = (max = 3) => createUsedAssertions({ max, now: () => clock.nowMs })
  beforeEach(() => {
    clock.nowMs = 1_000_000
  })

  it('separates the assertion IDs of clients', () => {
    const used = create()
    expect(used.use('a', 'x', 2_000_000)).to.equal('new')
    expect(used.use('b', 'x', 2_000_000)).to.equal('new')
    expect(used.use('a', 'x', 2_000_000)).to.equal('used')
    // Different pairs of client and ID have different keys, also with quotes and commas in them.
    expect(used.use('a","x', '', 2_000_000)).to.equal('new')
  })

  it('evicts no valid assertion: a client with too many must wait, and affects no other', () => {
    const used = create()
    for (const [i, id] of ['x', 'y', 'z'].entries())
      expect(used.use('a', id, 1_001_000 + i * 1_000)).to.equal('new')
    expect(used.use('a', 'more', 2_000_000)).to.equal('full')
    expect(used.use('a', 'x', 1_001_000)).to.equal('used')
    expect(used.use('b', 'x', 2_000_000)).to.equal('new')
    clock.nowMs = 1_001_000
    expect(used.use('a', 'more', 2_000_000)).to.equal('new')
    expect(used.use('a', 'another', 2_000_000)).to.equal('full')
  })

  it('expires by the system time, also after that is set back', () => {
    const used = create()
    expect(used.use('a', 'x', 1_060_000)).to.equal('new')
    clock.nowMs = 700_000
    expect(used.use('a', 'x', 1_060_000)).to.equal('used')
    clock.nowMs = 1_059_999
    expect(used.use('a', 'x', 1_060_000)).to.equal('used')
    clock.nowMs = 1_060_000
    expect(used.use('a', 'x', 1_120_000)).to.equal('new')
  })
})
