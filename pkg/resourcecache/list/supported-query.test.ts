import { expect } from 'chai'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { pods } from '../kinds/pods.ts'
import { ignoredSelections, withoutImpossibleFilters } from './supported-query.ts'

describe('ignoredSelections', () => {
  const warningsOf = (query: string) =>
    ignoredSelections(parseListQuery(new QueryParameters(query)), 'loginrecords')

  it('names each given selection', () => {
    const shard = "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')"
    const query = `labelSelector=a&fieldSelector=b%3Dc&fields=metadata&shardSelector=${shard}`
    expect(warningsOf(query)).to.deep.equal(
      ['labelSelector', 'fieldSelector', 'shardSelector', 'fields'].map(
        name => `ignored ${name}: not supported for loginrecords`,
      ),
    )
  })

  it('returns nothing for paging and filters', () => {
    expect(warningsOf('page=2&limit=3&ascending=true&type=Token')).to.deep.equal([])
  })
})

describe('withoutImpossibleFilters', () => {
  const read = (query: string) =>
    withoutImpossibleFilters({ filters: pods.filters }, parseListQuery(new QueryParameters(query)))

  it('replaces a filter with an unknown value by an empty list, with a warning', () => {
    const { query, restriction } = read('status=Pending&phase=Pending&name=a')
    expect([...query.filters]).to.deep.equal([
      ['phase', 'Pending'],
      ['name', 'a'],
    ])
    expect(query.warnings).to.deep.equal([
      'no object matches: status must be one of Running, Error, Completed, Waiting, not "Pending"',
    ])
    expect(restriction?.key).to.equal('nothing')
  })

  it('keeps all other filters', () => {
    const { query, restriction } = read('status=Waiting&unknown=x&constructor=y')
    expect(query.filters.size).to.equal(3)
    expect([query.warnings, restriction]).to.deep.equal([[], undefined])
  })
})
