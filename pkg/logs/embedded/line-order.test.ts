import { expect } from 'chai'
import fc from 'fast-check'
import { sortLines } from './line-order.ts'
import { createLinesBuilder } from './lines.ts'

const stream = { namespace: 'ns', pod: 'pod', container: 'c', host: '', dockerId: '' }

describe('sortLines', () => {
  it('puts lines in the order of time, then of arrival, however they came', () => {
    // Few moments, so that many lines share one; runs of each length, and none.
    const arbitraryTimes = fc.array(fc.nat(20), { maxLength: 200 })
    fc.assert(
      fc.property(arbitraryTimes, fc.boolean(), (times, areReversed) => {
        const builder = createLinesBuilder(20_000)
        const sequences = times.map((_, i) => (areReversed ? times.length - i : i + 1))
        for (const [i, time] of times.entries())
          builder.add(time, sequences[i] ?? 0, stream, Buffer.alloc(0), 0, 0)
        const expected = times
          .map((_, i) => i)
          .sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || (sequences[a] ?? 0) - (sequences[b] ?? 0))
        expect([...sortLines(builder.finish())]).to.deep.equal(expected)
      }),
      { numRuns: 500, seed: 3 },
    )
  })
})
