import { expect } from 'chai'
import { toPartitionQuery, toQuery } from './query.ts'

const origin = { pod: '', container: '', host: '', dockerId: '' }
const streams = ['dev-a', 'dev-b', 'prod'].map(namespace => ({ ...origin, namespace }))
const keep = [
  { name: 'dev-b', fromDay: 0 },
  { name: 'dev-*', fromDay: 20 },
]

describe('toPartitionQuery', () => {
  it('hides the streams of namespaces whose retention has passed', () => {
    const query = toQuery({ scope: 'everything', keep })
    const sinceOf = (day: number) => toPartitionQuery(query, { day, streams })?.since
    expect(sinceOf(20)).to.equal(undefined)
    expect(sinceOf(19)).to.deep.equal([Number.POSITIVE_INFINITY, 0, 0])
  })

  it('also hides these streams when the scope of a caller restricts the query', () => {
    const scope = streams.map(({ namespace }) => ({ namespace, sinceNs: 86_400_000_000_000n * 19n + 5n }))
    const query = toQuery({ scope, keep })
    const sinceOf = (day: number) => toPartitionQuery(query, { day, streams })?.since
    expect(sinceOf(20)).to.equal(undefined)
    expect(sinceOf(19)).to.deep.equal([Number.POSITIVE_INFINITY, 5, 5])
  })

  it('compiles the rules once for all partitions', () => {
    const rules = Array.from({ length: 100 }, (_, i) => ({ name: `team-${i}-*`, fromDay: 20 }))
    const query = toQuery({ scope: 'everything', keep: [...rules, ...keep] })
    const began = performance.now()
    for (let i = 0; i < 2000; i++) toPartitionQuery(query, { day: 19, streams })
    expect(performance.now() - began).to.be.below(200)
  })
})
