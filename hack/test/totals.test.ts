import { expect } from 'chai'
import { brokeOff, isSuccess, none, sum, toLine } from './totals.ts'

describe('toLine', () => {
  it('names skipped tests only when there are some', () => {
    expect(toLine({ passed: 3, failed: 0, skipped: 0 })).to.equal('3 passed, 0 failed')
    expect(toLine({ passed: 3, failed: 1, skipped: 2 })).to.equal('3 passed, 1 failed, 2 skipped')
  })
})

describe('sum', () => {
  it('adds up each figure, and keeps what failed', () => {
    expect(sum([])).to.deep.equal(none)
    const one = { passed: 1, failed: 2, skipped: 3, failures: ['a', 'b'] }
    expect(sum([one, brokeOff('gone')])).to.deep.equal({
      passed: 1,
      failed: 3,
      skipped: 3,
      failures: ['a', 'b', 'gone'],
    })
  })
})

describe('brokeOff', () => {
  it('is one failure more than there were', () => {
    expect(brokeOff('gone', { passed: 4, failed: 1, skipped: 0, failures: ['a'] })).to.deep.equal({
      passed: 4,
      failed: 2,
      skipped: 0,
      failures: ['a', 'gone'],
    })
  })
})

describe('isSuccess', () => {
  it('needs a test that passed and none that failed', () => {
    expect(isSuccess({ passed: 1, failed: 0, skipped: 9 })).to.equal(true)
    expect(isSuccess({ passed: 0, failed: 0, skipped: 9 })).to.equal(false)
    expect(isSuccess({ passed: 9, failed: 1, skipped: 0 })).to.equal(false)
  })
})
