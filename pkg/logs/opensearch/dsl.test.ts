import { expect } from 'chai'
import { refusalOf } from '../../apierrors/fixtures.ts'
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
  it('asks for everything with a time', () => {
    expect(filtersOf('everything')).to.deep.equal([exists])
  })

  it('names both ends of a time to the nanosecond', () => {
    const { bool } = JSON.parse(
      JSON.stringify(toDsl({ scope: 'everything', startNs: 5_120_000_000n, endNs: 9n * second })),
    )
    const time = { gte: '1970-01-01T00:00:05.120000000Z', lte: '1970-01-01T00:00:09.000000000Z' }
    expect(bool.filter).to.deep.equal([{ range: { time } }])
  })

  it('has a lower bound wherever it has an upper one, and no time that an engine cannot have', () => {
    const timesOf = (endNs: bigint) =>
      JSON.parse(JSON.stringify(toDsl({ scope: 'everything', endNs }))).bool.filter[0].range.time
    const gte = '1970-01-01T00:00:00.000000000Z'
    expect(timesOf(9n * second)).to.deep.equal({ gte, lte: '1970-01-01T00:00:09.000000000Z' })
    expect(timesOf(9_999_999_999n * second)).to.deep.equal({ gte, lte: '2262-04-11T23:47:16.854775807Z' })
  })

  it('asks for nothing when nothing is permitted', () => {
    expect(filtersOf([])).to.deep.equal([exists, { match_none: {} }])
  })

  it('has one clause for all namespaces that are older than what is asked for', () => {
    const scope = ['a', 'b', 'c'].map((name, i) => ({ namespace: name, sinceNs: BigInt(i) * second }))
    expect(filtersOf(scope, 5n * second)).to.deep.equal([
      { range: { time: { gte: '1970-01-01T00:00:05.000000000Z' } } },
      { terms: { [namespace]: ['a', 'b', 'c'] } },
    ])
  })

  it('has one for each moment of creation of the younger', () => {
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

  it('has two for ten thousand of them, and the names stand in them as values', () => {
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

  it('says what it cannot ask for', () => {
    const expression = match('log', { kind: 'regex', source: 'a\\bb', caseSensitive: true })
    expect(refusalOf(() => toDsl({ scope: 'everything', expression }))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message:
        'unsupported regular expression "a\\\\bb": this log store has no flags, Unicode classes, \\A, \\z, \\B, ^ and $ inside, and \\b except at an end next to a letter or digit; literal braces are \\{ and \\}',
    })
  })

  it('escapes what means something in a wildcard', () => {
    const expression = match('log', { kind: 'contains', text: '*?\\', caseSensitive: true })
    expect(JSON.stringify(toDsl({ scope: 'everything', expression }))).to.include(
      '"value":"*\\\\*\\\\?\\\\\\\\*"',
    )
  })
})
