import { expect } from 'chai'
import { aborted, isSuccess, none, sum, toLine } from './totals.ts'

describe('toLine', () => {
  it('counts skipped tests only if there are any', () => {
    expect(toLine({ passed: 3, failed: 0, skipped: 0 })).to.equal('3 passed, 0 failed')
    expect(toLine({ passed: 3, failed: 1, skipped: 2 })).to.equal('3 passed, 1 failed, 2 skipped')
  })
})

describe('sum', () => {
  it('adds up each number, and concatenates the failures', () => {
    expect(sum([])).to.deep.equal(none)
    const one = { passed: 1, failed: 2, skipped: 3, failures: ['a', 'b'] }
    expect(sum([one, aborted('gone')])).to.deep.equal({
      passed: 1,
      failed: 3,
      skipped: 3,
      failures: ['a', 'b', 'gone'],
    })
  })
})

describe('aborted', () => {
  it('counts one more failure', () => {
    expect(aborted('gone', { passed: 4, failed: 1, skipped: 0, failures: ['a'] })).to.deep.equal({
      passed: 4,
      failed: 2,
      skipped: 0,
      failures: ['a', 'gone'],
    })
  })
})

describe('isSuccess', () => {
  it('requires at least one passed test and no failed one', () => {
    expect(isSuccess({ passed: 1, failed: 0, skipped: 9 })).to.equal(true)
    expect(isSuccess({ passed: 0, failed: 0, skipped: 9 })).to.equal(false)
    expect(isSuccess({ passed: 9, failed: 1, skipped: 0 })).to.equal(false)
  })
})
