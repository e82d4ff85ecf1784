import { expect } from 'chai'
import { indexOf, indicesOf } from './indices.ts'

const now = Date.UTC(2026, 10, 21, 12)
const at = (day: number, hour = 0) => Date.UTC(2026, 10, day, hour)

describe('indexOf', () => {
  it('has the date in UTC', () => {
    expect(indexOf('fluentbit', at(21, 23))).to.equal('fluentbit-2026.11.21')
    expect(indexOf('fluentbit', at(22) - 1)).to.equal('fluentbit-2026.11.21')
  })
})

describe('indicesOf', () => {
  const cases: readonly [startMs: number | undefined, endMs: number | undefined, indices: string][] = [
    [at(20), at(20, 1), 'p-2026.11.20,p-2026.11.21'],
    [at(19, 23), at(21), 'p-2026.11.19,p-2026.11.20,p-2026.11.21,p-2026.11.22'],
    [at(20), undefined, 'p-2026.11.20,p-2026.11.21,p-2026.11.22'],
    // Indices of days far in the future are omitted: such lines are not stored.
    [at(21), Date.UTC(2200, 0), 'p-2026.11.21,p-2026.11.22,p-2026.11.23'],
    [Date.UTC(2026, 8, 1), at(20), 'p-*'],
    [undefined, at(20), 'p-*'],
    [undefined, undefined, 'p-*'],
  ]
  for (const [startMs, endMs, indices] of cases) {
    it(`from ${startMs} to ${endMs}`, () => expect(indicesOf('p', { startMs, endMs }, now)).to.equal(indices))
  }

  it('never returns an empty list, which would mean all indices', () => {
    expect(indicesOf('p', { startMs: Date.UTC(2100, 0), endMs: Date.UTC(2100, 1) }, now)).to.equal(
      'p-2100.01.01',
    )
  })
})
