import { expect } from 'chai'
import { createPollRateLimit } from './poll-rate-limit.ts'

describe('createPollRateLimit', () => {
  it('returns five seconds, and five more after each early poll', () => {
    let nowMs = 0
    const isInTime = createPollRateLimit(() => nowMs)
    const table: readonly [number, boolean][] = [
      [0, true],
      [4_600, true],
      [9_000, false],
      [14_000, false],
      [29_000, true],
      [44_000, true],
    ]
    for (const [atMs, expected] of table) {
      nowMs = atMs
      expect(isInTime('a'), `at ${atMs}`).to.equal(expected)
    }
    expect(isInTime('b')).to.equal(true)
  })
})
