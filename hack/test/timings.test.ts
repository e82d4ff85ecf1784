import { expect } from 'chai'
import { toTable } from './timings.ts'

describe('toTable', () => {
  it('prints the slowest first, with CPU time if known', () => {
    const timings = [
      { name: 'fast', seconds: 0.04 },
      { name: 'slow', seconds: 61.25, cpuSeconds: 9.5 },
      { name: 'fair', seconds: 2 },
    ]
    expect(toTable(timings, 2)).to.deep.equal(['    61.3 s     9.5 s CPU  slow', '     2.0 s  fair'])
  })
})
