import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { LogStore } from '../store.ts'
import { line, openTestStore, readAll, testDay, testDayNs, useFolder } from './fixtures.ts'
import { createRuleFinder } from './namespace-rules.ts'

const dayMs = 86_400_000
const dayNs = 86_400_000_000_000n
const day = (days: number) => (testDay + days) * dayMs + 1000
const filter = { scope: 'everything' as const }
const limits = { timeoutMs: 30_000 }

describe('createRuleFinder', () => {
  const find = createRuleFinder([
    { name: 'dev-*', days: 1 },
    { name: '*-test', days: 2 },
    { name: 'a.b', days: 3 },
    { name: '*', days: 4 },
  ])
  const table: Readonly<Record<string, number>> = {
    ...{ 'dev-a': 1, 'dev-': 1, 'dev-test': 1, 'my-test': 2, 'a.b': 3, 'a-b': 4, dev: 4, '': 4 },
  }
  for (const [name, days] of Object.entries(table))
    it(`finds the rule of ${JSON.stringify(name)}`, () => expect(find(name)?.days).to.equal(days))

  const patterns: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['a*a', ['aa', 'aba', 'aaa'], ['a', 'ab', 'ba', '']],
    ['*', ['', 'a'], []],
    ['**-', ['-', 'a-', '--'], ['', 'a']],
    ['a*b*c', ['abc', 'axbxc', 'abbcc', 'abcbc'], ['acb', 'ac', 'abcd']],
    ['*ab*ab*', ['abab', 'xabxabx'], ['aba', 'ab', 'abb']],
  ]
  for (const [name, matching, others] of patterns) {
    it(`accepts ${name} as a namespace name, with any characters`, () => {
      const isOf = createRuleFinder([{ name }])
      for (const one of matching) expect(isOf(one), one).to.deep.equal({ name })
      for (const one of others) expect(isOf(one), one).to.equal(undefined)
    })
  }

  it('matches many * in linear time', () => {
    const isOf = createRuleFinder([{ name: `${'*a'.repeat(40)}*b` }])
    const began = performance.now()
    expect(isOf('a'.repeat(253))).to.equal(undefined)
    expect(performance.now() - began).to.be.below(100)
  })
})

describe('retention by namespace', function () {
  this.timeout(30_000)
  const folder = useFolder()
  let nowMs = day(0)
  let store: LogStore | undefined
  beforeEach(() => {
    nowMs = day(0)
  })
  afterEach(() => store?.close())

  async function open(retentionDays = 2): Promise<LogStore> {
    const namespaces = [{ name: 'dev-*', retentionDays }]
    store = await openTestStore(folder(), { namespaces, now: () => nowMs })
    return store
  }

  it('hides lines as soon as their retention has passed, in pages, totals, histograms and statistics', async () => {
    const opened = await open()
    const records = ['dev-a', 'prod', 'dev-b'].flatMap((namespace, i) =>
      [0n, 1n].map(at =>
        line(`${namespace} ${at}`, {
          namespace,
          dockerId: namespace,
          timeNs: testDayNs + at * dayNs + BigInt(i),
        }),
      ),
    )
    nowMs = day(1)
    await opened.append({ records })
    expect(await readAll(opened)).to.have.length(6)
    nowMs = day(2)
    expect(await readAll(opened)).to.deep.equal(['prod 0', 'dev-a 1', 'prod 1', 'dev-b 1'])
    const page = { filter, order: 'desc', size: 1, start: { from: 0 }, withTotal: true } as const
    expect((await opened.query(page, limits)).total).to.equal(4)
    const scope = [{ namespace: 'dev-a', sinceNs: 0n }]
    expect((await opened.query({ ...page, filter: { scope } }, limits)).total).to.equal(1)
    expect(await opened.statistics(filter, limits)).to.deep.equal({ containers: 3, logs: 4 })
    const { total } = await opened.histogram(filter, { kind: 'fixed', ms: dayMs }, limits)
    expect(total).to.equal(4)
    nowMs = day(3)
    expect(await readAll(opened)).to.deep.equal(['prod 0', 'prod 1'])
    expect(await opened.statistics(filter, limits)).to.deep.equal({ containers: 1, logs: 2 })
  })

  it('shows hidden lines again when a restart makes the retention longer', async () => {
    const records = ['dev-a', 'prod'].map(namespace => line(namespace, { namespace }))
    await (await open()).append({ records })
    for (const [days, expected] of [
      [5, ['dev-a', 'prod']],
      [1, ['prod']],
      [5, ['dev-a', 'prod']],
    ] as const) {
      nowMs = day(3)
      await store?.close()
      const opened = await open(days)
      // The writer handles this append after its first search for expired partitions.
      await opened.append({ records: [line('new', { timeNs: testDayNs + 3n * dayNs })], id: 'new' })
      expect((await readAll(opened)).filter(log => log !== 'new')).to.deep.equal(expected)
    }
  })

  it('rejects lines that are older than the retention of their namespace', async () => {
    const opened = await open()
    nowMs = day(3)
    const result = await opened.append({
      records: ['dev-a', 'prod'].map(namespace => line(namespace, { namespace })),
    })
    expect(result.rejected).to.deep.equal([
      { index: 0, reason: 'the time is before 2024-10-06; older lines are not stored', cause: 'time' },
    ])
  })

  it('deletes a partition when retention hides all of its lines', async () => {
    const opened = await open()
    await opened.append({ records: [line('gone', { namespace: 'dev-a' })] })
    nowMs = day(1)
    await opened.append({
      records: ['dev-a', 'prod'].map(namespace => line('mixed', { namespace, timeNs: testDayNs + dayNs })),
    })
    await opened.close()
    nowMs = day(6)
    store = undefined
    const again = await open()
    await again.append({ records: [line('new', { timeNs: testDayNs + 6n * dayNs })] })
    const days = readdirSync(folder()).filter(name => name.endsWith('.db'))
    expect(days).to.deep.equal(['2024-10-05.000.db', '2024-10-10.000.db'])
    expect(await readAll(again)).to.deep.equal(['mixed', 'new'])
  })
})

describe('quota by namespace', function () {
  this.timeout(30_000)
  const folder = useFolder()
  let store: LogStore | undefined
  afterEach(() => store?.close())

  it('rejects lines over the quota until the next day, and reports each rejected line', async () => {
    let nowMs = day(0)
    const namespaces = [{ name: 'dev-*', quotaBytes: 1024 * 1024 }]
    store = await openTestStore(folder(), { namespaces, now: () => nowMs })
    const half = 'x'.repeat(512 * 1024)
    const records = ['dev-a', 'dev-a', 'dev-a', 'dev-b', 'prod'].map((namespace, i) =>
      line(half, { namespace, timeNs: testDayNs + BigInt(i) }),
    )
    const reason =
      'the quota of the namespace "dev-a" (1 MiB a day, logs.embedded.namespaces) is used up; it begins again at 00:00 UTC'
    const first = await store.append({ records, id: 'first' })
    expect(first).to.deep.equal({ duplicate: false, rejected: [{ index: 2, reason, cause: 'quota' }] })
    expect(await readAll(store)).to.have.length(4)
    const small = { records: [line('a', { namespace: 'dev-a' })] }
    expect((await store.append({ ...small, id: 'second' })).rejected).to.have.length(1)
    nowMs = day(1)
    expect((await store.append({ ...small, id: 'third' })).rejected).to.deep.equal([])
  })

  it('reports the rejected lines again when a batch is resent', async () => {
    const namespaces = [{ name: 'dev-*', quotaBytes: 1024 * 1024 }]
    let nowMs = day(0)
    store = await openTestStore(folder(), { namespaces, now: () => nowMs })
    const half = 'x'.repeat(512 * 1024)
    const records = ['dev-a', 'dev-a', 'dev-a', 'prod'].map(namespace => line(half, { namespace }))
    const { rejected } = await store.append({ records, id: 'same' })
    expect(rejected.map(({ index, cause }) => [index, cause])).to.deep.equal([[2, 'quota']])
    expect(await store.append({ records, id: 'same' })).to.deep.equal({ duplicate: true, rejected })
    // A retry gets the response to the first attempt, even on a day with an unused quota.
    nowMs = day(1)
    expect(await store.append({ records, id: 'same' })).to.deep.equal({ duplicate: true, rejected })
    expect(await readAll(store)).to.have.length(3)
  })

  it('continues to count after a restart, and starts at zero with a damaged file or on the next day', async () => {
    const namespaces = [{ name: 'dev-*', quotaBytes: 1000 }]
    let nowMs = day(0)
    const reopen = async () => {
      await store?.close()
      store = await openTestStore(folder(), { namespaces, now: () => nowMs })
      return store
    }
    const send = async (opened: LogStore, id: string) => {
      const { rejected } = await opened.append({
        ...{ records: [line('x'.repeat(600), { namespace: 'dev-a', timeNs: testDayNs })], id },
      })
      return rejected.length
    }
    expect(await send(await reopen(), 'first')).to.equal(0)
    expect(await send(await reopen(), 'second')).to.equal(1)
    expect(await send(await reopen(), 'third')).to.equal(1)
    await store?.close()
    store = undefined
    for (const end of ['-wal', '-shm']) rmSync(join(folder(), `quotas.db${end}`), { force: true })
    writeFileSync(join(folder(), 'quotas.db'), 'no database'.repeat(1000))
    expect(await send(await reopen(), 'fourth')).to.equal(0)
    expect(await send(await reopen(), 'fifth')).to.equal(1)
    nowMs = day(1)
    expect(await send(await reopen(), 'sixth')).to.equal(0)
  })

  it('counts a resent batch once', async () => {
    const namespaces = [{ name: '*', quotaBytes: 1000 }]
    store = await openTestStore(folder(), { namespaces, now: () => day(0) })
    const batch = { records: [line('x'.repeat(600))], id: 'same' }
    expect(await store.append(batch)).to.deep.equal({ duplicate: false, rejected: [] })
    expect(await store.append(batch)).to.deep.equal({ duplicate: true, rejected: [] })
    expect(await store.append({ records: [line('x'.repeat(400))], id: 'other' })).to.deep.equal({
      ...{ duplicate: false, rejected: [] },
    })
  })
})
