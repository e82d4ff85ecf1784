import { expect } from 'chai'
import { unavailable } from '../apierrors/status.ts'
import { createMemoryStore } from '../logs/fixtures.ts'
import type { LogRecord } from '../logs/record.ts'
import type { LogBatch } from '../logs/store.ts'
import { session } from './fixtures.ts'
import { createRecorder } from './recorder.ts'

const megabyte = 1024 * 1024
const part = (record: LogRecord) => record.fields?.part
const eventsOf = (records: readonly LogRecord[]): readonly [number, string, string][] =>
  records
    .filter(record => part(record) === 'output')
    .flatMap(({ log }) => log.split('\n').map(line => JSON.parse(line)))
const textOf = (records: readonly LogRecord[]) =>
  eventsOf(records)
    .filter(([, code]) => code === 'o')
    .map(([, , data]) => data)
    .join('')

describe('createRecorder', function () {
  this.timeout(10_000)
  let store = createMemoryStore()
  const recorder = (maxBytes = megabyte) => createRecorder({ store, maxBytes: () => maxBytes })

  beforeEach(() => {
    store = createMemoryStore()
  })

  it('stores the start, then the output, then the end', async () => {
    const recording = await recorder().start(session())
    expect(store.records.map(part)).to.deep.equal(['start'])
    expect(JSON.parse(store.records[0]?.log ?? '')).to.deep.equal(session())
    await recording.resize(120, 40)
    await recording.resize(120, 40)
    await recording.output('stdout', Buffer.from('hello '))
    await recording.output('stderr', Buffer.from('world'))
    await recording.end()
    expect(store.records.map(part)).to.deep.equal(['start', 'output', 'end'])
    expect(eventsOf(store.records).map(([, ...event]) => event)).to.deep.equal([
      ['r', '120x40'],
      ['o', 'hello '],
      ['o', 'world'],
    ])
    const { endTimestamp, ...end } = JSON.parse(store.records[2]?.log ?? '')
    expect(end).to.deep.equal({ outputBytes: 11, reason: '' })
    expect(Date.parse(endTimestamp)).to.be.within(
      Date.parse('2026-11-27T12:00:00Z'),
      Date.parse('2026-11-27T12:00:10Z'),
    )
    for (const record of store.records)
      expect([
        record.namespace,
        record.pod,
        record.container,
        record.fields?.session,
        record.fields?.user,
      ]).to.deep.equal(['shop', 'web-0', 'web', 'one', 'jane'])
    const times = store.records.map(({ timeNs }) => timeNs)
    expect(times.every((time, i) => i === 0 || time > (times[i - 1] ?? time))).to.equal(true)
  })

  it('stores output while the session is running', async () => {
    const recording = await recorder().start(session())
    await recording.output('stdout', Buffer.from('early'))
    await new Promise(resolve => setTimeout(resolve, 800))
    expect(textOf(store.records)).to.equal('early')
    await recording.end()
  })

  it('preserves characters that are split between messages, and those in long output', async () => {
    const bytes = Buffer.from(`${'x'.repeat(7_999)}😀${'é'.repeat(100_000)}`)
    const recording = await recorder().start(session())
    for (let at = 0; at < bytes.length; at += 333)
      await recording.output('stdout', bytes.subarray(at, at + 333))
    await recording.end()
    expect(textOf(store.records)).to.equal(bytes.toString())
    await (await recorder().start(session({ id: 'two' }))).end()
    const whole = await recorder().start(session({ id: 'three' }))
    await whole.output('stdout', bytes)
    await whole.end()
    const third = store.records.filter(({ fields }) => fields?.session === 'three')
    expect(textOf(third)).to.equal(bytes.toString())
    expect(Math.max(...store.records.map(({ log }) => log.length))).to.be.at.most(60_000)
  })

  it('replaces bytes that are not UTF-8 with U+FFFD', async () => {
    const recording = await recorder().start(session())
    await recording.output('stdout', Buffer.from([0x61, 0xff, 0x62, 0xf0, 0x9f]))
    await recording.end()
    expect(textOf(store.records)).to.equal('a\ufffdb\ufffd')
  })

  it('ends a session whose output is too large', async () => {
    const recording = await recorder(10).start(session())
    await recording.output('stdout', Buffer.from('0123456789'))
    const error = await recording.output('stdout', Buffer.from('x')).catch(String)
    expect(error).to.equal('Error: the output exceeds logs.recordings.maxMegabytes')
    await recording.end()
    expect(textOf(store.records)).to.equal('0123456789x')
    expect(JSON.parse(store.records.at(-1)?.log ?? '').reason).to.equal(
      'the output exceeds logs.recordings.maxMegabytes',
    )
  })

  it('ends a session whose terminal is resized too often', async () => {
    const recording = await recorder().start(session())
    let last = ''
    for (let i = 0; i <= 10_000 && last === ''; i++)
      last = await recording.resize(100 + (i % 2), 30).then(() => '', String)
    expect(last).to.equal('Error: the size of the terminal has changed too often')
    await recording.end()
    expect(JSON.parse(store.records.at(-1)?.log ?? '').reason).to.equal(
      'the size of the terminal has changed too often',
    )
  })

  it('preserves a byte order mark', async () => {
    const recording = await recorder().start(session())
    await recording.output('stdout', Buffer.from('\ufeffa'))
    await recording.end()
    expect(textOf(store.records)).to.equal('\ufeffa')
  })

  it('truncates a long command and long group lists, and marks them', async () => {
    const groups = Array.from({ length: 5_000 }, (_, i) => `group-${i}`)
    await recorder().start(session({ command: ['x'.repeat(60_000)], groups }))
    const stored = JSON.parse(store.records[0]?.log ?? '')
    expect([stored.command[0].length, stored.groups.length, stored.isShortened]).to.deep.equal([
      8_001,
      100,
      true,
    ])
    expect(store.records[0]?.log.length).to.be.at.most(60_000)
  })

  it('starts no session that cannot be stored', async () => {
    const away = { ...store, check: async () => 'the disk is full' }
    const check = createRecorder({ store: away, maxBytes: () => megabyte }).check()
    expect(await check.catch(error => [error.code, error.message])).to.deep.equal([
      503,
      'the session must be recorded, and the log store is unavailable',
    ])
    const refusing = {
      ...store,
      append: async () => ({ duplicate: false, rejected: [{ index: 0, reason: 'too old' }] }),
    }
    const start = createRecorder({ store: refusing, maxBytes: () => megabyte }).start(session())
    expect(await start.catch(error => [error.code, error.message])).to.deep.equal([
      503,
      'the log store rejected the recording: too old',
    ])
  })

  it('waits for a store that fails briefly, and ends the session when it keeps failing', async () => {
    let failing = 0
    const append = async (batch: LogBatch) => {
      if (failing-- > 0) throw unavailable('busy')
      return store.append(batch)
    }
    const flaky = createRecorder({ store: { ...store, append }, maxBytes: () => megabyte, retryMs: 5 })
    const recording = await flaky.start(session())
    failing = 2
    await recording.output('stdout', Buffer.from('kept'))
    await recording.end()
    expect(textOf(store.records)).to.equal('kept')
    const lost = await flaky.start(session({ id: 'two' }))
    failing = Number.POSITIVE_INFINITY
    await lost.output('stdout', Buffer.from('lost'))
    expect(await lost.end().catch(error => error.message)).to.equal('busy')
    expect(await lost.output('stdout', Buffer.from('more')).catch(error => error.message)).to.equal('busy')
  })

  it('stores no end if a part of the output could not be stored', async () => {
    let isFailing = false
    const append = async (batch: LogBatch) => {
      if (isFailing) throw unavailable('busy')
      return store.append(batch)
    }
    const flaky = createRecorder({ store: { ...store, append }, maxBytes: () => megabyte, retryMs: 1 })
    const recording = await flaky.start(session())
    isFailing = true
    await recording.output('stdout', Buffer.from('lost'))
    await new Promise(resolve => setTimeout(resolve, 700))
    isFailing = false
    expect(await recording.end().catch(error => error.message)).to.equal('busy')
    expect(store.records.map(part)).to.deep.equal(['start'])
  })

  it('pauses the output while the store is slow, then stores what has arrived in one request', async () => {
    const gate = Promise.withResolvers<void>()
    const sizes: number[] = []
    const append = async (batch: LogBatch) => {
      sizes.push(batch.records.length)
      if (batch.records[0]?.fields?.part === 'output') await gate.promise
      return store.append(batch)
    }
    const slow = createRecorder({ store: { ...store, append }, maxBytes: () => 10 * megabyte })
    const recording = await slow.start(session())
    let passed = 0
    const writing = (async () => {
      for (; passed < 100; passed++) await recording.output('stdout', Buffer.alloc(32 * 1024, 'x'))
    })()
    await new Promise(resolve => setTimeout(resolve, 200))
    expect(passed).to.be.within(10, 20)
    gate.resolve()
    await writing
    await recording.end()
    expect(textOf(store.records).length).to.equal(100 * 32 * 1024)
    for (const { log } of store.records) expect(log.length).to.be.at.most(60_000)
    const records = sizes.reduce((sum, size) => sum + size, 0)
    expect([records, sizes.length < records / 3], `${sizes}`).to.deep.equal([store.records.length, true])
  })

  it('ends each recording once when it stops', async () => {
    const all = recorder()
    const recording = await all.start(session())
    await recording.output('stdout', Buffer.from('last'))
    void recording.end()
    await all.stop()
    expect(store.records.map(part)).to.deep.equal(['start', 'output', 'end'])
    const open = await all.start(session({ id: 'two' }))
    await open.output('stdout', Buffer.from('open'))
    await all.stop()
    expect(store.records.slice(3).map(part)).to.deep.equal(['start', 'output', 'end'])
    expect(await open.output('stdout', Buffer.from('late')).catch(String)).to.equal(
      'Error: the recording has ended',
    )
    await open.end()
    expect(store.records.length).to.equal(6)
  })
})
