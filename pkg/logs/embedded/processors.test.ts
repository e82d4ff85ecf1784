import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { createProcessors, parseTimes, stolenBetween } from './processors.ts'

describe('parseTimes', () => {
  const valid: Record<string, { stat: string; times: { all: number; stolen: number } }> = {
    'all processors, and each': {
      stat: 'cpu  100 2 30 400 5 6 7 80 9 10\ncpu0 50 1 15 200 2 3 3 40 4 5\n',
      times: { all: 630, stolen: 80 },
    },
    'of a kernel that knows of no guests': { stat: 'cpu  1 2 3 4 5 6 7 8\n', times: { all: 36, stolen: 8 } },
  }
  for (const [name, { stat, times }] of Object.entries(valid))
    it(name, () => {
      expect(parseTimes(stat)).to.deep.equal(times)
    })

  const invalid = {
    'no file': '',
    'fewer times': 'cpu  1 2 3 4\n',
    'one processor': 'cpu0 1 2 3 4 5 6 7 8\n',
  }
  for (const [name, stat] of Object.entries(invalid))
    it(`nothing of ${name}`, () => {
      expect(parseTimes(stat)).to.equal(undefined)
    })
})

describe('stolenBetween', () => {
  it('is the part of the time', () => {
    expect(stolenBetween({ all: 1000, stolen: 100 }, { all: 1200, stolen: 150 })).to.equal(0.25)
  })

  it('is nothing where no time has passed, or it went backwards', () => {
    expect(stolenBetween({ all: 1000, stolen: 100 }, { all: 1000, stolen: 100 })).to.equal(0)
    expect(stolenBetween({ all: 1000, stolen: 100 }, { all: 1100, stolen: 90 })).to.equal(0)
  })
})

describe('createProcessors', () => {
  it('are at first as many as the process may use', () => {
    expect(createProcessors()()).to.equal(availableParallelism())
  })
})
