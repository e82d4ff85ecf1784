import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { exportHits } from '../export-records.ts'
import { defaultLimits } from '../ingest/limits.ts'
import type { RawBatch } from '../ingest/raw-batch.ts'
import { parseQuery } from '../query-language/parse.ts'
import type { LogStore } from '../store.ts'
import { testLogStore } from '../store-test-suite.ts'
import { line, openTestStore, readAll, type TestSettings, testDayNs, useFolder } from './fixtures.ts'

const limits = { timeoutMs: 10_000 }
const dayNs = 86_400_000_000_000n
const everything = { scope: 'everything' as const }

describe('the embedded log store', () => {
  describe('in one window for each day', () => {
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'kapis-logs-'))
    })
    after(() => rm(folder, { recursive: true }))
    testLogStore(() => openTestStore(folder), testDayNs, 60)
  })

  describe('in several windows for each day', () => {
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'kapis-logs-'))
    })
    after(() => rm(folder, { recursive: true }))
    testLogStore(() => openTestStore(folder, { windowLines: 300 }), testDayNs, 200)
  })

  describe('after reopening and closing', () => {
    const folder = useFolder()
    let stores: LogStore[]
    beforeEach(() => {
      stores = []
    })
    afterEach(() => Promise.all(stores.map(store => store.close())))
    async function open(settings?: TestSettings): Promise<LogStore> {
      const store = await openTestStore(folder(), settings)
      stores.push(store)
      return store
    }

    const statusOf = async (response: Promise<unknown>): Promise<unknown> => {
      const error: unknown = await response.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      return error instanceof Status ? { code: error.code, message: error.message } : error
    }

    it('returns the acknowledged lines after it was reopened', async () => {
      const store = await open()
      await store.append({ records: [line('a'), line('b')] })
      await store.close()
      expect(await readAll(await open())).to.deep.equal(['a', 'b'])
    })

    it('finds each line as soon as it is acknowledged', async () => {
      const store = await open()
      const expected: string[] = []
      for (let i = 0; i < 80; i += 1) {
        await store.append({ records: [line(`line ${i}`, { timeNs: testDayNs + BigInt(i) })] })
        expected.push(`line ${i}`)
        expect(await readAll(store)).to.deep.equal(expected)
      }
    })

    it('preserves the fields and attributes of a line in addition to its text', async () => {
      const store = await open()
      const records = [
        line('plain'),
        line('with fields', { fields: { user: 'alice', group: ['a', 'b'] } }),
        line('with types', {
          fields: { max: 9223372036854775807n, min: -9223372036854775808n, d: 1.5, b: true, l: [1, 'a"b'] },
        }),
        line('', { labels: { app: 'web' }, timeNs: testDayNs + 1n }),
        line('längér 😀\n', { host: 'node', timeNs: testDayNs + 2n }),
      ]
      for (const record of records) await store.append({ records: [record] })
      const query = {
        filter: everything,
        order: 'asc' as const,
        size: 10,
        start: { from: 0 },
        withTotal: true,
      }
      const { hits } = await store.query(query, limits)
      expect(hits.map(({ record }) => record)).to.deep.equal(records)
    })

    it('stores a batch once, even if it is sent again after a restart', async () => {
      const store = await open()
      const batch = { records: [line('a'), line('b')] }
      const results = await Promise.all([store.append(batch), store.append(batch)])
      expect(results.map(({ duplicate }) => duplicate)).to.deep.equal([false, true])
      await store.append({ records: [line('c'), line('d')] })
      await store.close()
      const again = await open()
      expect(await again.append(batch)).to.deep.equal({ duplicate: true, rejected: [] })
      expect(await again.append({ ...batch, id: 'mine' })).to.deep.equal({ duplicate: false, rejected: [] })
      expect(await again.append({ ...batch, id: 'mine' })).to.deep.equal({ duplicate: true, rejected: [] })
      expect(await readAll(again)).to.deep.equal(['a', 'b', 'c', 'd', 'a', 'b'])
    })

    it('reports that a batch is stored already', async () => {
      const store = await open()
      const time = new Date(Number(testDayNs / 1_000_000n)).toISOString()
      const line = JSON.stringify({ time, log: 'a' })
      const logRecords = [{ timeUnixNano: String(testDayNs), body: { stringValue: 'a' } }]
      const forms = {
        jsonlines: [{ protocol: 'jsonlines' }, line, '"duplicate":true'],
        bulk: [
          { protocol: 'bulk', index: '', filterPath: '' },
          `{"create":{}}\n${line}\n`,
          '"duplicate":true',
        ],
        otlp: [
          { protocol: 'otlp', encoding: 'json' },
          JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
          'the same batch was stored before: nothing was stored again',
        ],
      } as const
      for (const [form, text, sign] of Object.values(forms)) {
        const batch = { ...form, body: Buffer.from(text), limits: defaultLimits }
        const responses = [await store.ingest(batch), await store.ingest(batch)].map(({ response }) =>
          Buffer.from(response).toString().includes(sign),
        )
        expect(responses).to.deep.equal([false, true])
      }
      expect(await readAll(store)).to.deep.equal(['a', 'a', 'a'])
    })

    const raw = (...logs: readonly string[]): RawBatch => {
      const time = new Date(Number(testDayNs / 1_000_000n)).toISOString()
      const body = logs.map(log => `{"create":{}}\n${JSON.stringify({ time, log })}\n`).join('')
      return {
        protocol: 'bulk',
        index: 'logs',
        filterPath: '',
        body: Buffer.from(body),
        limits: defaultLimits,
      }
    }

    it('stores a batch once that is sent repeatedly and concurrently, and all batches in the order of arrival', async () => {
      const store = await open()
      const [first, again] = await Promise.all([store.ingest(raw('a', 'b')), store.ingest(raw('a', 'b'))])
      expect([first.stored, again.stored]).to.deep.equal([2, 2])
      const large = Array.from({ length: 3000 }, (_, i) => `line ${i}`)
      await Promise.all([store.ingest(raw(...large)), store.append({ records: [line('c')] })])
      await store.ingest(raw('d'))
      const [one = '', two = '', ...rest] = await readAll(store)
      expect([one, two]).to.deep.equal(['a', 'b'])
      expect(rest).to.have.length(3002)
      expect(rest.filter(log => large.includes(log))).to.deep.equal(large)
      expect(rest.at(-1)).to.equal('d')
    })

    it('rejects an invalid batch, and stores the batches that arrive at the same time', async () => {
      const store = await open()
      const [, refused] = await Promise.all([
        store.ingest(raw('a')),
        statusOf(store.ingest({ ...raw(), body: Buffer.from('x\n') })),
        store.ingest(raw('b')),
      ])
      expect(refused).to.deep.equal({
        code: 400,
        message:
          'line 1: not valid JSON; expected an action such as {"create":{}}, and the document on the next line',
      })
      expect(await readAll(store)).to.deep.equal(['a', 'b'])
    })

    it('reports which lines it rejects, and stores the others', async () => {
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
          { index: 0, reason: 'the time is before 2024-10-01; older lines are not stored', cause: 'time' },
          { index: 2, reason: range, cause: 'time' },
          { index: 3, reason: range, cause: 'time' },
        ],
      })
      expect(await readAll(store)).to.deep.equal(['good'])
    })

    const newest = { filter: everything, order: 'desc' as const, size: 10, withTotal: true }
    it('cancels a query at its time limit, and when its client disconnects', async () => {
      const store = await open()
      await store.append({ records: [line('a')] })
      const query = { ...newest, start: { from: 0 } }
      expect(await statusOf(store.query(query, { timeoutMs: 0 }))).to.deep.equal({
        code: 504,
        message: 'the query was stopped: it took longer than 0 ms',
      })
      const reason = new Error('gone')
      const aborted = { timeoutMs: 1000, signal: AbortSignal.abort(reason) }
      expect(await statusOf(store.query(query, aborted))).to.equal(reason)
      const leaving = new AbortController()
      const left = statusOf(store.query(query, { timeoutMs: 1000, signal: leaving.signal }))
      leaving.abort(reason)
      expect(await left).to.equal(reason)
      expect(await readAll(store)).to.deep.equal(['a'])
    })

    it('rejects a cursor that it did not issue', async () => {
      const store = await open()
      for (const after of ['', '1', '1.2.3', '-1.2', "1.1' OR 1=1", '9'.repeat(30)]) {
        expect(await statusOf(store.query({ ...newest, start: { after } }, limits))).to.deep.equal({
          code: 400,
          message: 'invalid cursor: use the cursor of a record from an earlier response',
        })
      }
    })

    it('sends new lines to followers in the order of arrival, and no earlier lines', async () => {
      const store = await open()
      await store.append({ records: [line('wanted before')] })
      const ending = new AbortController()
      const expression = parseQuery('wanted')
      const found: string[] = []
      const following = (async () => {
        const filter = { ...everything, ...(expression && { expression }) }
        for await (const hits of store.follow(filter, ending.signal)) {
          found.push(...hits.map(({ record }) => record.log))
          if (found.length >= 5) ending.abort()
        }
      })()
      await store.append({ records: [line('wanted 1', { timeNs: testDayNs + 9n }), line('other')] })
      await store.append({ records: [line('wanted 2'), line('wanted 3')] })
      while (found.length < 3) await new Promise(resolve => setTimeout(resolve, 20))
      // A late line of the day before, and another line of the current day.
      await store.append({ records: [line('wanted 4', { timeNs: testDayNs - dayNs }), line('wanted 5')] })
      await following
      expect(found.slice(0, 3)).to.deep.equal(['wanted 1', 'wanted 2', 'wanted 3'])
      expect(found.slice(3).sort()).to.deep.equal(['wanted 4', 'wanted 5'])
    })

    it('limits the text per page to the memory limit, and loses no line between pages', async () => {
      const store = await open()
      // 30 MB in total, half of it in fields.
      const long = 'a'.repeat(125_000)
      const expected = Array.from({ length: 120 }, (_, i) => `${100 + i}`)
      const records = expected.map((name, i) =>
        line(`${name} ${long}`, { timeNs: testDayNs + BigInt(i), fields: { of: `${name} ${long}` } }),
      )
      const ending = new AbortController()
      const followed: string[] = []
      const following = (async () => {
        for await (const hits of store.follow(everything, ending.signal)) {
          followed.push(...hits.map(({ record }) => record.log.slice(0, 3)))
          if (followed.length >= expected.length) ending.abort()
        }
      })()
      for (const part of [records.slice(0, 60), records.slice(60)]) await store.append({ records: part })
      const query = { filter: everything, order: 'asc', size: 1000, withTotal: true } as const
      const { total, hits, isCut } = await store.query({ ...query, start: { from: 0 } }, limits)
      expect([total, isCut]).to.deep.equal([120, true])
      expect(hits.length).to.be.within(60, 70)
      const exported: string[] = []
      const all = { filter: everything, order: 'asc', limit: Number.POSITIVE_INFINITY } as const
      for await (const page of exportHits(store, all, limits))
        exported.push(...page.map(({ record }) => record.log.slice(0, 3)))
      expect(exported).to.deep.equal(expected)
      await following
      expect(followed).to.deep.equal(expected)
    })

    it('deletes expired lines, and frees their disk space', async () => {
      const store = await open()
      await store.append({ records: [line('old'), line('new', { timeNs: testDayNs + dayNs })] })
      await store.close()
      const later = await open({ retention: { days: 3, bytes: 1e9 } })
      while ((await readdir(folder())).some(name => name.startsWith('2024-10-04'))) {
        await new Promise(resolve => setTimeout(resolve, 20))
      }
      expect(await readAll(later)).to.deep.equal(['new'])
    })

    it('keeps the lines of two stores separate, and answers 503 after it is closed', async () => {
      const store = await open()
      await store.close()
      expect(await store.check()).to.equal('the log store is closed')
      const closed = { code: 503, message: 'the log store is closed' }
      expect(await statusOf(store.append({ records: [line('a')] }))).to.deep.equal(closed)
      expect(await statusOf(store.query({ ...newest, start: { from: 0 } }, limits))).to.deep.equal(closed)
    })
  })
})
