import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import type { Stream } from './lines.ts'
import { createStreamPool } from './stream-pool.ts'

const stream = (more: Partial<Stream> = {}): Stream => ({
  namespace: 'ns',
  pod: 'pod',
  container: 'c',
  host: 'node',
  dockerId: 'id',
  ...more,
})
const same = () => [stream(), stream({ pod: 'other', labels: { app: 'a' } })]

describe('createStreamPool', () => {
  it('hands out one object for each stream', () => {
    const pool = createStreamPool()
    const [first] = pool.share([stream(), stream({ pod: 'other' })])
    expect(pool.share([stream({ pod: 'third' }), stream()])[1]).to.equal(first)
    expect(pool.size).to.equal(3)
  })

  const others: readonly Partial<Stream>[] = [
    { namespace: 'other' },
    { pod: 'other' },
    { container: 'other' },
    { host: 'other' },
    { dockerId: 'other' },
    { labels: { app: 'a' } },
    { labels: { app: 'b' } },
  ]
  for (const other of others) {
    it(`takes one with ${JSON.stringify(other)} for another`, () => {
      const shared = createStreamPool().share([stream(), stream(other)])
      expect(shared).to.deep.equal([stream(), stream(other)])
      expect(shared[0]).to.not.equal(shared[1])
    })
  }

  it('hands out one list for lists of the same that follow each other', () => {
    const pool = createStreamPool()
    const list = pool.share(same())
    expect(list).to.deep.equal(same())
    expect(pool.share(same())).to.equal(list)
    expect(pool.share(same().toReversed())).to.deep.equal(same().toReversed())
    expect(pool.share([stream()])).to.deep.equal([stream()])
    expect(pool.share([])).to.deep.equal([])
  })

  it('lets go of streams that nobody has any more', async () => {
    const pool = createStreamPool()
    const kept = pool.share([stream()])
    pool.share(Array.from({ length: 1000 }, (_, i) => stream({ pod: `pod-${i}` })))
    pool.share([stream()])
    expect(pool.size).to.equal(1001)
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    for (let round = 0; round < 200 && pool.size > 1; round += 1) {
      await sleep(10)
      collect()
    }
    expect(pool.size).to.equal(1)
    expect(pool.share([stream()])[0]).to.equal(kept[0])
  })
})
