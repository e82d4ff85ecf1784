import { expect } from 'chai'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { servedNodes } from '../fixtures.ts'
import { CachedObject } from '../store/cached-object.ts'
import { toListPredicate } from './list-predicate.ts'

const json =
  '{"metadata":{"name":"a","uid":"u","resourceVersion":"1","creationTimestamp":"","generation":9007199254740993},"spec":{"big":9223372036854775807,"one":1.0,"exp":1e3,"zero":-0,"text":"1.0","escaped":"\\u003ca\\u003e","yes":true,"none":null,"map":{},"list":[9007199254740993]}}'
const entry = CachedObject.from(servedNodes, JSON.parse(json), json)

describe('fieldSelector', () => {
  const table: readonly [string, boolean][] = [
    ['spec.big=9223372036854775807', true],
    ['spec.big=9223372036854775806', false],
    ['spec.big=9223372036854775808', false],
    ['spec.big!=9223372036854775808', true],
    ['metadata.generation=9007199254740993', true],
    ['metadata.generation=9007199254740992', false],
    ['spec.list[0]=9007199254740993', true],
    ['spec.list[0]=9007199254740994', false],
    ['spec.one=1', true],
    ['spec.one=1.0', true],
    ['spec.one=1.01', false],
    ['spec.one=1m', false],
    ['spec.exp=1000', true],
    ['spec.zero=0', true],
    ['spec.text=1.0', true],
    ['spec.text=1', false],
    ['spec.escaped=<a>', true],
    ['spec.yes=true', true],
    ['spec.none=', true],
    ['spec.none=null', false],
    ['spec.map={}', false],
    ['spec.missing=', true],
    ['spec.missing!=x', false],
  ]
  for (const [fieldSelector, expected] of table) {
    it(`${fieldSelector} ${expected ? 'matches' : 'does not match'}`, () => {
      const query = parseListQuery(new QueryParameters(new URLSearchParams({ fieldSelector }).toString()))
      const selecting = toListPredicate(servedNodes.kind, { query, namespace: '', groupDomain: 'kapis.io' })
      expect(selecting.matches(entry)).to.equal(expected)
    })
  }
})
