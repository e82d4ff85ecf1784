import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { LogRecord } from '../record.ts'
import type { LogStore } from '../store.ts'
import { testLogStore } from '../store-test-suite.ts'
import { createEmbeddedStore, type EmbeddedSettings } from './embedded-store.ts'
import { dayNs } from './lines.ts'

const firstNs = 20_000n * dayNs
const limits = { timeoutMs: 10_000 }

describe('createEmbeddedStore', () => {
  let folder: string
  let stores: LogStore[]

  async function open(more: Partial<EmbeddedSettings> = {}): Promise<LogStore> {
    const store = await createEmbeddedStore({
      folder,
      retention: { days: 7, bytes: 1e9 },
      memoryBytes: 128 * 1024 * 1024,
      now: () => Number(firstNs / 1_000_000n) + 3 * 86_400_000,
      report: (message, error) => console.error(message, error),
      ...more,
    })
    stores.push(store)
    return store
  }

  const setUp = async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-logs-'))
    stores = []
  }
  const tearDown = async () => {
    await Promise.all(stores.map(store => store.close()))
    await rm(folder, { recursive: true })
  }

  describe('with its lines in segments on the disk and in memory', () => {
    before(setUp)
    after(tearDown)
    testLogStore(() => open({ flushLines: 700 }), firstNs, 500)
  })

  describe('life', () => {
    beforeEach(setUp)
    afterEach(tearDown)

    const line = (log: string, more: Partial<LogRecord> = {}): LogRecord => ({
      timeNs: firstNs,
      log,
      namespace: 'ns',
      pod: 'pod',
      container: 'c',
      host: '',
      dockerId: '',
      ...more,
    })
    const all = async (store: LogStore): Promise<readonly string[]> => {
      const query = {
        filter: { scope: 'everything' as const },
        order: 'asc' as const,
        size: 10_000,
        start: { from: 0 },
        withTotal: true,
      }
      const { total, hits } = await store.query(query, limits)
      expect(total).to.equal(hits.length)
      return hits.map(({ record }) => record.log)
    }

    it('has the lines that were acknowledged when it is opened again', async () => {
      const store = await open()
      await store.append({ records: [line('a'), line('b')] })
      await store.close()
      expect(await all(await open())).to.deep.equal(['a', 'b'])
    })

    it('stores a batch once, however often it is sent, also after it was opened again', async () => {
      const store = await open({ flushLines: 3 })
      const batch = { records: [line('a'), line('b')] }
      const results = await Promise.all([store.append(batch), store.append(batch)])
      expect(results.map(({ duplicate }) => duplicate)).to.deep.equal([false, true])
      await store.append({ records: [line('c'), line('d')] })
      await store.close()
      const again = await open()
      expect(await again.append(batch)).to.deep.equal({ duplicate: true, rejected: [] })
      expect(await again.append({ ...batch, id: 'mine' })).to.deep.equal({ duplicate: false, rejected: [] })
      expect(await all(again)).to.deep.equal(['a', 'b', 'c', 'd', 'a', 'b'])
    })

    it('says which lines it cannot keep, and keeps the others', async () => {
      const store = await open()
      const records = [
        line('old', { timeNs: 0n }),
        line('good'),
        line('never', { timeNs: -1n }),
        line('far', { timeNs: 2n ** 63n }),
      ]
      const range = 'the time is not between the years 1970 and 2262'
      expect(await store.append({ records })).to.deep.equal({
        duplicate: false,
        rejected: [
          { index: 0, reason: 'the time is before 2024-10-01, and older lines are not kept' },
          { index: 2, reason: range },
          { index: 3, reason: range },
        ],
      })
      expect(await all(store)).to.deep.equal(['good'])
    })
  })
})
