import { expect } from 'chai'
import { isSuccess, isTotals, none, oneFailed, sum, toLine } from './totals.ts'

describe('toLine', () => {
  it('names skipped tests only when there are some', () => {
    expect(toLine({ passed: 3, failed: 0, skipped: 0 })).to.equal('3 passed, 0 failed')
    expect(toLine({ passed: 3, failed: 1, skipped: 2 })).to.equal('3 passed, 1 failed, 2 skipped')
  })
})

describe('sum', () => {
  it('adds up each figure', () => {
    expect(sum([])).to.deep.equal(none)
    expect(sum([{ passed: 1, failed: 2, skipped: 3 }, oneFailed])).to.deep.equal({
      passed: 1,
      failed: 3,
      skipped: 3,
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

describe('isTotals', () => {
  it('tells totals from other messages', () => {
    expect(isTotals({ passed: 0, failed: 0, skipped: 0 })).to.equal(true)
    for (const other of [undefined, null, 'passed', {}, { passed: '1', failed: 0, skipped: 0 }]) {
      expect(isTotals(other), JSON.stringify(other)).to.equal(false)
    }
  })
})
