import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { match } from '../filter/expression.ts'
import type { Scope } from '../filter/filter.ts'
import { toDsl } from './dsl.ts'

const second = 1_000_000_000n
const namespace = 'kubernetes.namespace_name.keyword'
const exists = { exists: { field: 'time' } }

function filtersOf(scope: Scope, startNs?: bigint): unknown {
  const { bool } = JSON.parse(JSON.stringify(toDsl({ scope, ...(startNs === undefined ? {} : { startNs }) })))
  return bool.filter
}

describe('toDsl', () => {
  it('matches all records with a time', () => {
    expect(filtersOf('everything')).to.deep.equal([exists])
  })

  it('has both ends of a time range to the nanosecond', () => {
    const { bool } = JSON.parse(
      JSON.stringify(toDsl({ scope: 'everything', startNs: 5_120_000_000n, endNs: 9n * second })),
    )
    const time = { gte: '1970-01-01T00:00:05.120000000Z', lte: '1970-01-01T00:00:09.000000000Z' }
    expect(bool.filter).to.deep.equal([{ range: { time } }])
  })

  it('has a lower bound if it has an upper one, and only times that an engine accepts', () => {
    const timesOf = (endNs: bigint) =>
      JSON.parse(JSON.stringify(toDsl({ scope: 'everything', endNs }))).bool.filter[0].range.time
    const gte = '1970-01-01T00:00:00.000000000Z'
    expect(timesOf(9n * second)).to.deep.equal({ gte, lte: '1970-01-01T00:00:09.000000000Z' })
    expect(timesOf(9_999_999_999n * second)).to.deep.equal({ gte, lte: '2262-04-11T23:47:16.854775807Z' })
  })

  it('matches nothing when no namespace is permitted', () => {
    expect(filtersOf([])).to.deep.equal([exists, { match_none: {} }])
  })

  it('has one clause for all namespaces that are older than the queried range', () => {
    const scope = ['a', 'b', 'c'].map((name, i) => ({ namespace: name, sinceNs: BigInt(i) * second }))
    expect(filtersOf(scope, 5n * second)).to.deep.equal([
      { range: { time: { gte: '1970-01-01T00:00:05.000000000Z' } } },
      { terms: { [namespace]: ['a', 'b', 'c'] } },
    ])
  })

  it('has one clause for each creation time of the younger namespaces', () => {
    const scope = [
      { namespace: 'old', sinceNs: 0n },
      { namespace: 'a', sinceNs: 9n * second },
      { namespace: 'b', sinceNs: 9n * second },
    ]
    expect(filtersOf(scope, 5n * second)).to.deep.include({
      bool: {
        should: [
          { terms: { [namespace]: ['old'] } },
          {
            bool: {
              filter: [
                { terms: { [namespace]: ['a', 'b'] } },
                { range: { time: { gte: '1970-01-01T00:00:09.000000000Z' } } },
              ],
            },
          },
        ],
        minimum_should_match: 1,
      },
    })
  })

  it('has two clauses for ten thousand namespaces, with their names as values', () => {
    const scope = Array.from({ length: 10_000 }, (_, i) => ({
      namespace: `n${i}') + params`,
      sinceNs: BigInt(i) * second,
    }))
    const filters = filtersOf(scope)
    expect(filters).to.have.length(3)
    const [, terms, script] = Array.isArray(filters) ? filters : []
    expect(terms.terms[namespace]).to.have.length(10_000)
    expect(script.script.script.source).to.not.include('n1')
    expect(script.script.script.params.since["n7') + params"]).to.equal(7000)
  })

  it('reports which filters it cannot express', () => {
    const expression = match('log', { kind: 'regex', source: 'a\\bb', caseSensitive: true })
    expect(thrownFields(() => toDsl({ scope: 'everything', expression }))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message:
        'unsupported regular expression "a\\\\bb": this log store has no flags, Unicode classes, \\A, \\z, \\B, ^ and $ inside, and \\b except at an end next to a letter or digit; literal braces are \\{ and \\}',
    })
  })

  it('escapes the special characters of a wildcard', () => {
    const expression = match('log', { kind: 'contains', text: '*?\\', caseSensitive: true })
    expect(JSON.stringify(toDsl({ scope: 'everything', expression }))).to.include(
      '"value":"*\\\\*\\\\?\\\\\\\\*"',
    )
  })
})
