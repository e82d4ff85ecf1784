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

  it('forgets, before a batch, what became too many or too long', () => {
    const numbers = create()
    const long = 'x'.repeat(300_000)
    for (let batch = 0; batch < 5; batch += 1) {
      numbers.begin()
      const pods = [...Array.from({ length: 1500 }, (_, i) => `${batch}-${i}`), `${long}${batch}`, 'a']
      expect(pods.map(pod => numbers.of(stream(pod)))).to.deep.equal(pods.map((_, i) => i))
      expect(numbers.of(stream('a'))).to.equal(1501)
    }
  })
})
