import { expect } from 'chai'
import { toRecord } from './document.ts'

describe('a document that another shipper has written', () => {
  const odd: Readonly<Record<string, unknown>> = JSON.parse(
    '{"a":{"toString":1},"b":[{"toString":null},1],"c":null,"__proto__":"x","d":1.5}',
  )

  it('becomes a record, with JSON where a string is expected and with any field names', () => {
    const { fields, labels } = toRecord({
      time: '2026-01-01T00:00:00Z',
      fields: odd,
      kubernetes: { labels: odd },
    })
    expect(Object.entries(fields ?? {})).to.deep.equal([
      ['a', '{"toString":1}'],
      ['b', ['{"toString":null}', 1]],
      ['c', 'null'],
      ['__proto__', 'x'],
      ['d', 1.5],
    ])
    expect(Object.entries(labels ?? {})).to.deep.equal([
      ['a.toString', '1'],
      ['b', '[{"toString":null},1]'],
      ['c', 'null'],
      ['__proto__', 'x'],
      ['d', '1.5'],
    ])
  })

  it('has the time of the other time field if the first is invalid', () => {
    const { timeNs } = toRecord({ time: { toString: 1 }, '@timestamp': '1970-01-01T00:00:01Z' })
    expect(timeNs).to.equal(1_000_000_000n)
  })
})
