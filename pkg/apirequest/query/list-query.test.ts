import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { type ListQuery, parseListQuery } from './list-query.ts'
import { QueryParameters } from './query-parameters.ts'

const defaults: ListQuery = {
  page: 1,
  limit: -1,
  sortBy: 'createTime',
  ascending: false,
  managedFields: false,
  labelSelector: { text: '', requirements: [] },
  fieldSelector: { text: '', requirements: [] },
  columns: { text: '', requirements: [] },
  shards: [],
  fields: '',
  seniority: 0,
  filters: new Map(),
  warnings: [],
}
const filters = (...pairs: [string, string][]) => ({ filters: new Map(pairs) })

describe('parseListQuery', () => {
  const valid: readonly [string, Partial<ListQuery>][] = [
    ['', {}],
    ['page=&limit=&sortBy=&ascending=&managedFields=&labelSelector=', {}],
    [
      "shardSelector=shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')",
      { shards: [{ field: 'object.metadata.uid', start: 0n, end: 2n ** 63n }] },
    ],
    ['sortBy=-name', { sortBy: '-name', ascending: true }],
    ['sortBy=status,-name', { sortBy: 'status,-name', ascending: true }],
    ['sortBy=status,-name&ascending=false', { sortBy: 'status,-name' }],
    ["sortBy=.metadata.labels['a,b']", { sortBy: ".metadata.labels['a,b']" }],
    ['page=3&limit=20', { page: 3, limit: 20 }],
    ['page=999999999&limit=999999999', { page: 999_999_999, limit: 999_999_999 }],
    ['page=01', { page: 1 }],
    ['limit=0', { limit: 0 }],
    ['limit=-1', { limit: -1 }],
    ['sortBy=name', { sortBy: 'name' }],
    ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word): [string, Partial<ListQuery>] => [
      `ascending=${word}`,
      { ascending: true },
    ]),
    ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word): [string, Partial<ListQuery>] => [
      `ascending=${word}`,
      { ascending: false },
    ]),
    ['managedFields=true', { managedFields: true }],
    [
      'labelSelector=a%3Db%2C!c',
      {
        labelSelector: {
          text: 'a=b,!c',
          requirements: [
            { key: 'a', operator: 'in', values: ['b'] },
            { key: 'c', operator: '!', values: [] },
          ],
        },
      },
    ],
    ['pretty=true', {}],
    ['name=web', filters(['name', 'web'])],
    ['name=', {}],
    ['status=running&name=a+b', filters(['status', 'running'], ['name', 'a b'])],
    ['Page=2', filters(['Page', '2'])],
    ['__proto__=x', filters(['__proto__', 'x'])],
    ['=x', filters(['', 'x'])],
  ]
  for (const [query, expected] of valid) {
    it(`reads ?${query}`, () => {
      expect(parseListQuery(new QueryParameters(query))).to.deep.equal({ ...defaults, ...expected })
    })
  }

  const page = (text: string) =>
    `invalid page ${JSON.stringify(text)}: expected a whole number of at least 1; using 1`
  const limit = (text: string) =>
    `invalid limit ${JSON.stringify(text)}: expected a whole number of at least 0, or -1 for everything; using -1`
  const flag = (name: string, text: string) =>
    `invalid ${name} ${JSON.stringify(text)}: expected true or false; using false`
  const replaced: readonly [string, string][] = [
    ['page=0', page('0')],
    ['page=-0', page('-0')],
    ['page=-1', page('-1')],
    ['page=abc', page('abc')],
    ['page=1.5', page('1.5')],
    ['page=1e3', page('1e3')],
    ['page=0x10', page('0x10')],
    ['page=+1', page(' 1')],
    ['page=%2B1', page('+1')],
    ['page=1%00', page('1\u0000')],
    ['page=9999999999', page('9999999999')],
    ['page=٣', page('٣')],
    ['limit=-2', limit('-2')],
    ['limit=ten', limit('ten')],
    ['limit=NaN', limit('NaN')],
    ['limit=Infinity', limit('Infinity')],
    ['limit=10%3Bdrop', limit('10;drop')],
    ['ascending=yes', flag('ascending', 'yes')],
    ['ascending=tRuE', flag('ascending', 'tRuE')],
    ['managedFields=2', flag('managedFields', '2')],
  ]
  for (const [query, warning] of replaced) {
    it(`replaces ?${query} by the default, with a warning`, () => {
      expect(parseListQuery(new QueryParameters(query))).to.deep.equal({ ...defaults, warnings: [warning] })
    })
  }

  const invalid: readonly [string, string][] = [
    ['limit=10;drop', 'the query contains a ";" that must be percent-encoded'],
    ['page=2&page=3', 'page is given more than once'],
    ['page=2&page=2', 'page is given more than once'],
    ['limit=&limit=5', 'limit is given more than once'],
    ['name=a&name=', 'name is given more than once'],
    ['name=a&%6eame=b', 'name is given more than once'],
    ['name=a&Name=b', 'Name is given more than once'],
    ['fieldSelector=&fieldSelector=', 'fieldSelector is given more than once'],
  ]
  for (const [query, message] of invalid) {
    it(`rejects ?${query}`, () => {
      expect(thrownFields(() => parseListQuery(new QueryParameters(query)))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }
})
