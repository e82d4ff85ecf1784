import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { parseCursor, positionOf, type RecordPosition, searchAfter, toCursor } from './cursor.ts'

const time = '2020-05-16T16:00:42.608962453Z'

describe('cursors of OpenSearch and Elasticsearch', () => {
  it('distinguish records of several shards at the same position', () => {
    const places: RecordPosition[] = []
    for (const sort of [
      [1589644842608962453n, 7],
      [1589644842608962453n, 7],
      [1589644842608962453n, 8],
      [1589644842608962454n, 8],
    ])
      places.push(positionOf(sort, places.at(-1)))
    expect(places.map(({ sequence, nth }) => [sequence, nth])).to.deep.equal([
      [7, 1],
      [7, 2],
      [8, 1],
      [8, 1],
    ])
    expect(places.map(place => parseCursor(toCursor(place)))).to.deep.equal(places)
  })

  it('continue with all records at the same position', () => {
    expect(searchAfter({ time, sequence: 0, nth: 1 }, 'asc')).to.deep.equal([time, -1])
    expect(searchAfter({ time, sequence: 7, nth: 3 }, 'desc')).to.deep.equal([time, 8])
  })

  const invalid: readonly unknown[] = [
    [time, 7],
    [time, 7, 0],
    [time, 7, 1025],
    [time, 7, 1.5],
    [time, '7', 1],
    ['now', 7, 1],
    [`${time}||+1d`, 7, 1],
    [[time], 7, 1],
    ['9999-99-99T99:99:99Z', 7, 1],
    ['2026-02-31T00:00:00Z', 7, 1],
    ['0001-01-01T00:00:00Z', 7, 1],
    ['2500-01-01T00:00:00Z', 7, 1],
    ['1589644842608962453', 7, 1],
    { time, sequence: 7, nth: 1 },
    null,
    7,
  ]
  for (const given of invalid) {
    it(`are rejected: ${JSON.stringify(given)}`, () => {
      const cursor = Buffer.from(JSON.stringify(given)).toString('base64url')
      expect(thrownFields(() => parseCursor(cursor))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message: 'invalid cursor: use the cursor of a record from an earlier response',
      })
    })
  }
})
