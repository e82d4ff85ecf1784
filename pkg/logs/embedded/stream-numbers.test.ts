import { expect } from 'chai'
import type { Stream } from './lines.ts'
import { createStreamNumbers } from './stream-numbers.ts'

const stream = (pod: string, more: Partial<Stream> = {}): Stream => ({
  ...{ namespace: 'ns', pod, container: 'c', host: 'h', dockerId: `id-${pod}` },
  ...more,
})

describe('createStreamNumbers', () => {
  let begun: Stream[]
  const create = () => {
    begun = []
    return createStreamNumbers(one => begun.push(one))
  }

  it('numbers streams in the order in which they come, each once', () => {
    const numbers = create()
    numbers.begin()
    const [a, b] = [stream('a'), stream('b')]
    expect([a, b, a, stream('a'), stream('c'), b].map(numbers.of)).to.deep.equal([0, 1, 0, 0, 2, 1])
    expect(numbers.count()).to.equal(3)
    expect(begun).to.deep.equal([a, b, stream('c')])
  })

  it('begins anew with each batch', () => {
    const numbers = create()
    numbers.begin()
    for (const pod of ['a', 'b', 'c']) numbers.of(stream(pod))
    numbers.begin()
    expect(numbers.count()).to.equal(0)
    expect(['c', 'd', 'a', 'c'].map(pod => numbers.of(stream(pod)))).to.deep.equal([0, 1, 2, 0])
    expect(begun.map(({ pod }) => pod).join('')).to.equal('abccda')
    // What was known before is not made again.
    expect(begun[3]).to.equal(begun[2])
  })

  const differing: Readonly<Record<string, Partial<Stream>>> = {
    namespace: { namespace: 'other' },
    container: { container: 'other' },
    host: { host: 'other' },
    labels: { labels: { app: 'x' } },
    'no labels': { labels: {} },
  }
  for (const [name, more] of Object.entries(differing)) {
    it(`tells streams of one container apart by ${name}, by turns and in the next batch`, () => {
      const numbers = create()
      for (let batch = 0; batch < 2; batch += 1) {
        numbers.begin()
        const [a, b] = [stream('a'), stream('a', more)]
        expect([a, b, a, b].map(numbers.of)).to.deep.equal([0, 1, 0, 1])
      }
      expect(begun).to.have.length(4)
    })
  }

  it('keeps nothing of what it was given but the stream', () => {
    const numbers = create()
    numbers.begin()
    const record = { ...stream('a', { labels: { app: 'x' } }), timeNs: 1n, log: 'a line' }
    numbers.of(record)
    expect(begun).to.deep.equal([stream('a', { labels: { app: 'x' } })])
  })

  const crowds: Readonly<Record<string, readonly string[]>> = {
    many: Array.from({ length: 4096 }, (_, i) => `pod-${i}`),
    long: ['x'.repeat(600_000)],
  }
  for (const [name, pods] of Object.entries(crowds)) {
    it(`forgets, before a batch, what became too ${name}`, () => {
      const numbers = create()
      const known = Array.from({ length: 3 }, () => {
        numbers.begin()
        begun.length = 0
        const all = ['a', ...pods]
        expect(all.map(pod => numbers.of(stream(pod)))).to.deep.equal(all.map((_, i) => i))
        return begun[0]
      })
      expect(known).to.deep.equal([stream('a'), stream('a'), stream('a')])
      expect([known[1] === known[0], known[2] === known[1]]).to.deep.equal([false, false])
    })
  }
})
