import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Status } from '../../status/status.ts'
import { defaultLimits } from '../ingest/limits.ts'
import type { RawBatch } from '../ingest/raw-batch.ts'
import { parseQuery } from '../query-language/parse.ts'
import type { LogRecord } from '../record.ts'
import type { LogStore } from '../store.ts'
import { testLogStore } from '../store-test-suite.ts'
import { createEmbeddedStore, type EmbeddedSettings } from './embedded-store.ts'
import { dayNs } from './lines.ts'
import { loadManifest } from './manifest.ts'

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

  describe('with its lines in segments and in none yet', () => {
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

    const everything = { scope: 'everything' as const }

    const codeOf = async (answer: Promise<unknown>): Promise<unknown> => {
      const error: unknown = await answer.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      return error instanceof Status ? { code: error.code, message: error.message } : error
    }

    it('has the lines that were acknowledged when it is opened again', async () => {
      const store = await open()
      await store.append({ records: [line('a'), line('b')] })
      await store.close()
      expect(await all(await open())).to.deep.equal(['a', 'b'])
    })

    it('finds each line as soon as it was acknowledged, however many were asked for one by one', async () => {
      const store = await open()
      const wanted: string[] = []
      for (let i = 0; i < 40; i += 1) {
        await store.append({ records: [line(`line ${i}`, { timeNs: firstNs + BigInt(i) })] })
        wanted.push(`line ${i}`)
        expect(await all(store)).to.deep.equal(wanted)
      }
    })

    it('puts lines that somebody asked for into segments, and goes on finding them', async () => {
      const store = await open()
      const records = Array.from({ length: 5000 }, (_, i) =>
        line(`line ${i}`, { timeNs: firstNs + BigInt(i) }),
      )
      await store.append({ records })
      const count = async (): Promise<number> => (await store.statistics(everything, limits)).logs
      expect(await count()).to.equal(5000)
      while ((await loadManifest(folder)).segments.length === 0) {
        await new Promise(resolve => setTimeout(resolve, 20))
        expect(await count()).to.equal(5000)
      }
      await store.append({ records: [line('another')] })
      expect(await count()).to.equal(5001)
    })

    it('puts lines into segments when no more come, before somebody asks', async () => {
      const store = await open()
      await store.append({ records: Array.from({ length: 3000 }, (_, i) => line(`line ${i}`)) })
      while ((await loadManifest(folder)).segments.length === 0) {
        await new Promise(resolve => setTimeout(resolve, 50))
      }
      expect(await all(store)).to.have.length(3000)
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

    it('stores a batch that is sent as it is once too, and all in the order of arrival', async () => {
      const store = await open()
      const time = new Date(Number(firstNs / 1_000_000n)).toISOString()
      const raw = (...logs: readonly string[]): RawBatch => ({
        protocol: 'bulk',
        index: 'logs',
        body: Buffer.from(logs.map(log => `{"create":{}}\n${JSON.stringify({ time, log })}\n`).join('')),
        limits: defaultLimits,
      })
      const [first, again] = await Promise.all([store.ingest(raw('a', 'b')), store.ingest(raw('a', 'b'))])
      expect([first.taken, again.taken]).to.deep.equal([2, 2])
      const large = Array.from({ length: 3000 }, (_, i) => `line ${i}`)
      await Promise.all([store.ingest(raw(...large)), store.append({ records: [line('c')] })])
      await store.ingest(raw('d'))
      const [one = '', two = '', ...rest] = await all(store)
      expect([one, two]).to.deep.equal(['a', 'b'])
      expect(rest).to.have.length(3002)
      expect(rest.filter(log => large.includes(log))).to.deep.equal(large)
      expect(rest.at(-1)).to.equal('d')
      expect(await codeOf(store.ingest({ ...raw(), body: Buffer.from('x\n') }))).to.deep.equal({
        code: 400,
        message:
          'line 1: not valid JSON; expected an action such as {"create":{}}, and the document on the next line',
      })
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

    const newest = { filter: everything, order: 'desc' as const, size: 10, withTotal: true }
    it('stops a question at its time limit, and when nobody waits for it any more', async () => {
      const store = await open()
      await store.append({ records: [line('a')] })
      const query = { ...newest, start: { from: 0 } }
      expect(await codeOf(store.query(query, { timeoutMs: 0 }))).to.deep.equal({
        code: 504,
        message: 'the query was stopped: it took longer than 0 ms',
      })
      const reason = new Error('gone')
      expect(
        await codeOf(store.query(query, { timeoutMs: 1000, signal: AbortSignal.abort(reason) })),
      ).to.equal(reason)
      expect(await all(store)).to.deep.equal(['a'])
    })

    it('refuses a cursor that it did not give', async () => {
      const store = await open()
      for (const after of ['', '1', '1.2.3', '-1.2', "1.1' OR 1=1", '9'.repeat(30)]) {
        expect(await codeOf(store.query({ ...newest, start: { after } }, limits))).to.deep.equal({
          code: 400,
          message: 'cursor: must be one that an earlier answer gave',
        })
      }
    })

    it('hands out what arrives to who follows, in the order of arrival, and nothing of before', async () => {
      const store = await open()
      await store.append({ records: [line('before')] })
      const ending = new AbortController()
      const expression = parseQuery('wanted')
      const found: string[] = []
      const following = (async () => {
        for await (const hits of store.follow(
          { ...everything, ...(expression && { expression }) },
          ending.signal,
        )) {
          found.push(...hits.map(({ record }) => record.log))
          if (found.length >= 3) ending.abort()
        }
      })()
      await store.append({ records: [line('wanted 1', { timeNs: firstNs + 9n }), line('other')] })
      await store.append({ records: [line('wanted 2'), line('wanted 3')] })
      await following
      expect(found).to.deep.equal(['wanted 1', 'wanted 2', 'wanted 3'])
    })

    it('drops what is too old, on the disk too, and makes one segment of small ones', async () => {
      const store = await open({ flushLines: 20 })
      const batch = (number: number, timeNs: bigint) => ({
        records: Array.from({ length: 20 }, (_, i) => line(`${number} ${i}`, { timeNs: timeNs + BigInt(i) })),
      })
      const stored = async (): Promise<readonly string[]> => {
        const { segments } = await loadManifest(folder)
        return segments.map(({ file, count }) => `${file.slice(0, 10)}: ${count}`)
      }
      const until = async (condition: () => Promise<boolean>): Promise<void> => {
        while (!(await condition())) await new Promise(resolve => setTimeout(resolve, 20))
      }
      for (let i = 0; i < 5; i += 1) {
        await store.append(batch(i, i === 0 ? firstNs : firstNs + dayNs))
        await until(async () => (await stored()).length === i + 1)
      }
      await store.close()
      const later = await open({ flushLines: 200, retention: { days: 3, bytes: 1e9 } })
      await until(async () => (await stored()).join() === '2024-10-05: 80')
      await until(
        async () =>
          (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.seg')).length === 1,
      )
      expect((await all(later)).every(log => !log.startsWith('0 '))).to.equal(true)
      expect(await all(later)).to.have.length(80)
    })
  })
})
