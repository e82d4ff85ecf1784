import { expect } from 'chai'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { pods } from '../kinds/pods.ts'
import { toOrder } from './order.ts'
import { ignoredSelections, toSupportedQuery, withoutImpossibleFilters } from './supported-query.ts'

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

describe('toSupportedQuery', () => {
  const read = (sortBy: string) =>
    toSupportedQuery(
      { plural: 'pods', filters: pods.filters },
      parseListQuery(new QueryParameters(`sortBy=${encodeURIComponent(sortBy)}`)),
    )
  const supported =
    'name, namespace, createTime, creationTimestamp, updateTime, lastUpdateTimestamp, status, or a path such as .spec.nodeName'
  const unknown = (...keys: string[]) =>
    `ignored unknown sort key${keys.length > 1 ? 's' : ''} ${keys.map(key => JSON.stringify(key)).join(', ')} of pods; supported: ${supported}`
  const table: readonly (readonly [given: string, kept: string, warnings: readonly string[]])[] = [
    ['namespace,-name', 'namespace,-name', []],
    ["-.metadata.labels['a,b'],name", "-.metadata.labels['a,b'],name", []],
    ['-cpu,name', 'name', [unknown('-cpu')]],
    ['name,cpu,-status', 'name,-status', [unknown('cpu')]],
    ['cpu,memory', 'createTime', [unknown('cpu', 'memory')]],
    ['name,', 'name', [unknown('')]],
    [
      'name,status,namespace,createTime,updateTime',
      'name,status,namespace,createTime',
      ['ignored all sort keys after the first 4: "updateTime"'],
    ],
  ]
  for (const [given, kept, warnings] of table) {
    it(`keeps the supported sort keys of ${given}`, () => {
      const query = read(given)
      expect([query.sortBy, query.warnings]).to.deep.equal([kept, warnings])
      expect(() => toOrder(query.sortBy)).to.not.throw()
    })
  }
})
