import { expect } from 'chai'
import { findExpired } from './retention.ts'

describe('findExpired', () => {
  const prefix = 'events.fluentbit'
  const nowMs = Date.parse('2026-03-02T00:00:00Z')
  const cases: readonly [name: string, days: number, is: boolean][] = [
    ['events.fluentbit-2026.03.02', 1, false],
    ['events.fluentbit-2026.03.01', 1, true],
    ['events.fluentbit-2026.03.01', 2, false],
    ['events.fluentbit-2026.02.28', 2, true],
    ['events.fluentbit-2026.03.03', 1, false],
    ['events.fluentbit-1999.12.31', 3650, true],
    ['events.fluentbit-2026.02.31', 1, false],
    ['events.fluentbit-2026.2.1', 1, false],
    ['events.fluentbit-2020.01.01-reindexed', 1, false],
    ['events.fluentbit-archive-2020.01.01', 1, false],
    ['events.fluentbit-000001', 1, false],
    ['events.fluentbit', 1, false],
    ['events.fluentbit2-2020.01.01', 1, false],
    ['fluentbit-2020.01.01', 1, false],
    ['auditing.fluentbit-2020.01.01', 1, false],
  ]
  for (const [name, days, is] of cases) {
    it(`${is ? 'deletes' : 'retains'} ${name} with a retention of ${days} days`, () => {
      expect(findExpired([name], prefix, { days, nowMs })).to.deep.equal(is ? [name] : [])
    })
  }
})
