import { expect } from 'chai'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { ignoredSelections } from './supported-query.ts'

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
