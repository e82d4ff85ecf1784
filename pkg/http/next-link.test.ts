import { expect } from 'chai'
import { nextLink } from './next-link.ts'

describe('nextLink', () => {
  const table: readonly [string, string | undefined][] = [
    ['</v2/a/tags/list?last=b&n=2>; rel="next"', '/v2/a/tags/list?last=b&n=2'],
    ['<https://a.example.com/groups?page=2>; rel=next', 'https://a.example.com/groups?page=2'],
    ['<u1>; rel="prev", <u2>; rel="next", <u3>; rel="last"', 'u2'],
    ['<u1>;title="x";rel="next"', 'u1'],
    ['<u1>; rel="last"', undefined],
    ['<u1', undefined],
    ['', undefined],
  ]
  for (const [header, expected] of table)
    it(`returns ${expected} for ${header}`, () => {
      expect(nextLink(header)).to.equal(expected)
    })

  it('parses a header with many brackets quickly', () => {
    const startedAt = process.threadCpuUsage()
    expect(nextLink('<'.repeat(200_000))).to.equal(undefined)
    expect(nextLink('<>;'.repeat(200_000))).to.equal(undefined)
    expect(process.threadCpuUsage(startedAt).user / 1_000, 'ms of CPU').to.be.below(4_000)
  })
})
