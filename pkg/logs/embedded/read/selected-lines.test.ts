import { expect } from 'chai'
import { collectGarbage } from '../../../telemetry/collect-garbage.ts'
import { line, openTestStore, testDayNs, useFolder } from '../fixtures.ts'
import { createCaches } from './caches.ts'
import { createSearch } from './search.ts'
import { StoreReader } from './store-reader.ts'

async function heapUsed(): Promise<number> {
  await collectGarbage()
  return process.memoryUsage().heapUsed
}

describe('a page of lines', () => {
  const folder = useFolder()

  it('does not retain the memory of the other lines in their blocks', async () => {
    const store = await openTestStore(folder())
    // Each pair of lines fills a block.
    for (let i = 0; i < 40; i += 1) {
      const at = { timeNs: testDayNs + BigInt(i) }
      await store.append({ records: [line(`needle in block ${i}`, at), line('x'.repeat(255 * 1024), at)] })
    }
    await store.close()
    const caches = createCaches(64 * 1024)
    const reader = new StoreReader(folder(), caches)
    const expression = {
      op: 'match',
      field: 'log',
      test: { kind: 'contains', text: 'needle', caseSensitive: true },
    } as const
    const work = createSearch(caches.results).page(reader.partitions(), {
      ...{ filter: { scope: 'everything', expression }, order: 'asc', size: 100 },
      ...{ start: { from: 0 }, withTotal: false },
    })
    const before = await heapUsed()
    let step = work.next()
    while (!step.done) step = work.next()
    const { hits } = step.value
    expect((await heapUsed()) - before).to.be.below(3_000_000)
    expect(hits).to.have.length(40)
    reader.close()
  })
})
