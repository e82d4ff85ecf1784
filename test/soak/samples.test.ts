import { expect } from 'chai'
import { growthOf, laterHalf, metric, type Sample } from './samples.ts'

const at = (seconds: number, megabytes: number): Sample => ({
  ...{ seconds, megabytes, heapMegabytes: 0, externalMegabytes: 0 },
  ...{ handles: 0, resources: 0, timers: 0, inFlight: 0 },
})
const read = ({ megabytes }: Sample) => megabytes

describe('growthOf', () => {
  it('returns the slope per hour', () => {
    expect(growthOf([at(0, 100), at(1_800, 150), at(3_600, 200)], read)).to.deep.equal({
      perHour: 100,
      from: 100,
      to: 200,
    })
  })

  it('does not report noise as growth', () => {
    const noisy = [100, 130, 100, 130, 100, 130, 100].map((megabytes, i) => at(i * 60, megabytes))
    expect(Math.abs(growthOf(noisy, read).perHour)).to.be.below(1)
  })

  it('requires more than one sample', () => {
    expect(() => growthOf([at(1, 2)], read)).to.throw('too few samples')
  })
})

describe('laterHalf', () => {
  it('divides by time, not by count', () => {
    const samples = [at(0, 1), at(60, 2), at(120, 3), at(1_000, 4), at(2_000, 5)]
    expect(laterHalf(samples).map(read)).to.deep.equal([4, 5])
  })
})

describe('metric', () => {
  it('sums up all labels, and throws for a missing metric', () => {
    const text = '# HELP a b\na{x="1"} 2\na{x="2"} 3.5e1\nab 7\n'
    expect([metric(text, 'a'), metric(text, 'ab')]).to.deep.equal([37, 7])
    expect(metric(text, 'a', 'x="2"')).to.equal(35)
    expect(() => metric(text, 'c')).to.throw('metric c')
  })
})
