import { expect } from 'chai'
import { boundsOfQuotient } from './quotient.ts'

describe('boundsOfQuotient', () => {
  /** As random as is needed here, and the same each time. */
  const createRandom = (): (() => number) => {
    let state = 1
    return () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
  }
  const turnOf = (slowest: number): number[] => [...Array.from({ length: 99 }, () => 1), slowest]

  it('is one value where all turns are alike', () => {
    const [lower, upper] = [2, 5].map(slowest => Array.from({ length: 10 }, () => turnOf(slowest)))
    expect(boundsOfQuotient(upper ?? [], lower ?? [], createRandom())).to.deep.equal({ low: 2.5, high: 2.5 })
  })

  it('is the wider the more a few turns say', () => {
    const width = (slowTurns: number, turns: number): number => {
      const upper = Array.from({ length: turns }, (_, i) => (i < slowTurns ? [8, 8, 8] : [2, 2, 2]))
      const { low, high } = boundsOfQuotient(upper, [[2]], createRandom())
      expect(low).to.be.at.most(high)
      return high - low
    }
    expect([width(0, 20), width(1, 20), width(20, 20)]).to.deep.equal([0, 3, 0])
  })

  it('has no bounds without requests', () => {
    expect(boundsOfQuotient([[]], [[1]], createRandom())).to.deep.equal({ low: Number.NaN, high: Number.NaN })
  })
})
