import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { match, type Test } from '../expression.ts'
import { createTest } from '../matcher.ts'
import type { LogRecord } from '../record.ts'
import { createSharedMemory } from '../shared-memory.ts'
import { createKnownStreams, type Frame } from './frame.ts'
import { frameOf } from './frame-fixtures.ts'
import { createFreshLog, type FreshLog } from './fresh-log.ts'
import { dayNs } from './lines.ts'
import { searchPage } from './search.ts'
import type { Segment } from './segment.ts'
import { createIndexer } from './word-index.ts'
import { createListMaker } from './word-lists.ts'
import { finish } from './work-fixtures.ts'
import { createWriteAheadLog, writeAheadLogFile } from './write-ahead-log.ts'

const room = { left: () => 1e9 }
const means = {
  indexer: createIndexer(createListMaker()),
  streams: createKnownStreams(),
  // For some of the lines.
  memory: createSharedMemory({ limitBytes: 4 * 1024 * 1024, stepBytes: 64 * 1024 }),
}
const words = [
  'error',
  'ERROR',
  'err',
  'terror',
  'GET',
  'u49',
  'é',
  'K',
  'x'.repeat(64),
  `x${'y'.repeat(80)}`,
]
const frequent: Test = { kind: 'words', words: ['error'], prefix: false }
const tests: readonly Test[] = [
  frequent,
  { kind: 'words', words: ['err'], prefix: true },
  { kind: 'words', words: ['x'.repeat(64)], prefix: false },
  { kind: 'words', words: ['x'.repeat(64)], prefix: true },
  { kind: 'words', words: ['get', 'error'], prefix: false },
  { kind: 'words', words: ['u49', 'terr'], prefix: true },
  { kind: 'words', words: ['absent'], prefix: false },
  { kind: 'words', words: ['n1234'], prefix: false },
  { kind: 'words', words: ['é'], prefix: false },
  { kind: 'words', words: ['k'], prefix: false },
  { kind: 'contains', text: 'rro', caseSensitive: false },
  { kind: 'contains', text: 'RRO', caseSensitive: true },
  { kind: 'contains', text: 'r u4', caseSensitive: false },
  { kind: 'contains', text: 'y'.repeat(70), caseSensitive: false },
  { kind: 'contains', text: '=', caseSensitive: false },
  { kind: 'regex', source: 'n12+3', caseSensitive: true },
]

describe('createFreshLog', () => {
  let folder: string
  let records: LogRecord[]
  let seed = 11
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-fresh-'))
    records = []
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** Lines of two days, in disorder. */
  function nextFrame(count: number): Frame {
    const more = Array.from({ length: count }, (_, i) => {
      const number = records.length + i
      const some = Array.from({ length: 1 + random(4) }, () => words[random(words.length)])
      return {
        timeNs: 20_000n * dayNs + BigInt(random(10) === 0 ? -1 - random(1000) : random(100_000)),
        log: `n${number}${random(2) === 0 ? '=' : ' '}${some.join(' ')}`,
        ...{ namespace: 'ns', pod: `pod-${number % 7}`, container: 'c', host: '', dockerId: '' },
      }
    })
    records.push(...more)
    return frameOf(more, records.length - more.length + 1)
  }

  function find(log: FreshLog, test: Test): readonly string[] {
    return search(log.segments(false), test)
  }

  function search(segments: readonly Segment[], test: Test): readonly string[] {
    const { total, hits } = finish(
      searchPage(segments, {
        filter: { scope: 'everything', expression: match('log', test) },
        ...{ order: 'asc', size: 100_000, start: { from: 0 }, withTotal: true },
      }),
    )
    expect(total).to.equal(hits.length)
    return hits.map(({ record }) => record.log)
  }

  function wanted(test: Test): readonly string[] {
    const passes = createTest(test)
    return records
      .map((record, sequence) => ({ ...record, sequence }))
      .filter(({ log }) => passes(log))
      .sort((a, b) => Number(a.timeNs - b.timeNs) || a.sequence - b.sequence)
      .map(({ log }) => log)
  }

  it('finds what the matcher finds while it grows, whether or not it was indexed ahead', async () => {
    const wal = await createWriteAheadLog(folder, 1)
    const file = writeAheadLogFile(folder, 1)
    const [indexed, plain] = [createFreshLog('indexed', means), createFreshLog('plain', means)]
    let to = 0
    for (const count of [3, 2500, 40, 700, 1, 3000]) {
      const frame = nextFrame(count)
      await wal.append(frame, (_, offset) => {
        to = offset + frame.bytes.length
      })
      for (const log of [indexed, plain]) log.extend({ file, from: 0, to }, false)
      if (count !== 700) for (const _ of indexed.work(room));
      for (const test of tests) {
        const name = JSON.stringify(test)
        expect(find(indexed, test), name).to.deep.equal(wanted(test))
        expect(find(plain, test), name).to.deep.equal(wanted(test))
      }
    }
    await wal.close()
    expect(indexed.segments(false).filter(({ dictionary }) => dictionary !== undefined)).to.have.length.above(
      1,
    )
    expect(plain.segments(false).every(({ dictionary }) => dictionary === undefined)).to.equal(true)
    expect([indexed.indexBytes() > 0, plain.indexBytes()]).to.deep.equal([true, 0])
  })

  it('goes on finding what there was when somebody asked, while lines come in', async () => {
    const wal = await createWriteAheadLog(folder, 1)
    const file = writeAheadLogFile(folder, 1)
    const log = createFreshLog('growing', means)
    const questions: { readonly segments: readonly Segment[]; readonly found: readonly string[] }[] = []
    for (const count of [100, 3000, 2500, 50, 2100, 2100, 30, 2500]) {
      const frame = nextFrame(count)
      await wal.append(frame, (_, offset) =>
        log.extend({ file, from: 0, to: offset + frame.bytes.length }, false),
      )
      for (const _ of log.work(room));
      // Blocks are begun and filled that nobody asked of, too.
      if (count < 3000 && count !== 2100) {
        questions.push({ segments: log.segments(true), found: wanted(frequent) })
      }
    }
    await wal.close()
    for (const { segments, found } of questions) expect(search(segments, frequent)).to.deep.equal(found)
    expect(find(log, frequent)).to.deep.equal(wanted(frequent))
  })

  it('indexes lines that have not grown to a block once none came for half a second', async () => {
    const wal = await createWriteAheadLog(folder, 1)
    const file = writeAheadLogFile(folder, 1)
    const log = createFreshLog('quiet', means)
    const append = async (count: number): Promise<void> => {
      const frame = nextFrame(count)
      await wal.append(frame, (_, offset) =>
        log.extend({ file, from: 0, to: offset + frame.bytes.length }, true),
      )
    }
    const add = async (count: number): Promise<void> => {
      await append(count)
      for (const _ of log.work(room));
    }
    const withIndex = (): number => log.segments(true).filter(({ dictionary }) => dictionary).length
    const findAll = (): void => {
      for (const test of tests) {
        expect(search(log.segments(true), test), JSON.stringify(test)).to.deep.equal(wanted(test))
      }
    }
    await add(1200)
    const [early] = log.segments(true)
    expect([withIndex(), log.indexBytes()]).to.deep.equal([0, 0])
    await sleep(520)
    for (const _ of log.work({ left: () => 0 }));
    expect(withIndex()).to.equal(0)
    for (const _ of log.work(room));
    // Of the day with a tenth of the lines there are too few for an index.
    expect([withIndex(), log.segments(true).length, log.indexBytes() > 0]).to.deep.equal([1, 2, true])
    findAll()
    const shown = log.segments(true)
    const found = wanted(frequent)
    await add(700)
    expect([withIndex(), log.indexBytes()]).to.deep.equal([0, 0])
    findAll()
    await sleep(520)
    const work = log.work(room)
    for (let step = 0; step < 3; step += 1) work.next()
    // A question reads what came meanwhile, so the index is not of all any more.
    await append(100)
    findAll()
    for (const _ of work);
    expect(withIndex()).to.equal(0)
    findAll()
    await sleep(520)
    for (const _ of log.work(room));
    expect(withIndex()).to.equal(2)
    findAll()
    expect(search(shown, frequent)).to.deep.equal(found)
    expect(early?.footer.count).to.be.within(1000, 1200)
    await wal.close()
  })

  it('indexes them at once where nothing more is expected, when all of it is read', async () => {
    const wal = await createWriteAheadLog(folder, 1)
    const file = writeAheadLogFile(folder, 1)
    const log = createFreshLog('ended', means)
    const add = async (): Promise<void> => {
      const frame = nextFrame(1500)
      await wal.append(frame, (_, offset) =>
        log.extend({ file, from: 0, to: offset + frame.bytes.length }, true),
      )
      for (const _ of log.work(room));
    }
    const lines = (isIndexed: boolean): number =>
      log
        .segments(true)
        .filter(({ dictionary }) => isIndexed === (dictionary !== undefined))
        .reduce((sum, { footer }) => sum + footer.count, 0)
    await add()
    expect([lines(true), lines(false)]).to.deep.equal([0, 1500])
    log.end()
    for (const _ of log.work(room));
    expect(lines(true)).to.be.within(1300, 1500)
    for (const test of tests) expect(find(log, test), JSON.stringify(test)).to.deep.equal(wanted(test))
    // And yet it comes.
    await add()
    expect(lines(true)).to.equal(3000)
    for (const test of tests) expect(find(log, test), JSON.stringify(test)).to.deep.equal(wanted(test))
    await wal.close()
  })

  it('finds the same in memory that lines before had', async () => {
    const { take, give } = createSharedMemory({ limitBytes: 64 * 1024 * 1024, stepBytes: 64 * 1024 })
    const taken: ArrayBufferLike[] = []
    const memory = {
      give,
      take: (size: number) => {
        const bytes = take(size)
        taken.push(bytes.buffer)
        return bytes
      },
    }
    for (const [i, count] of [7000, 9000, 3000, 8000].entries()) {
      records = []
      const frame = nextFrame(count)
      const wal = await createWriteAheadLog(folder, i + 1)
      await wal.append(frame, () => undefined)
      await wal.close()
      const log = createFreshLog(`log-${i}`, { ...means, memory })
      log.extend({ file: writeAheadLogFile(folder, i + 1), from: 0, to: frame.bytes.length }, false)
      for (const _ of log.work(room));
      for (const test of tests) expect(find(log, test), JSON.stringify(test)).to.deep.equal(wanted(test))
      expect(taken).to.include(log.segments(true)[0]?.column?.bytes.buffer)
      log.close()
    }
    expect(taken.every(buffer => buffer instanceof SharedArrayBuffer)).to.equal(true)
    expect(new Set(taken).size).to.be.below(taken.length / 2)
  })

  it('makes no index where there is no room for one', async () => {
    const wal = await createWriteAheadLog(folder, 1)
    const frame = nextFrame(5000)
    await wal.append(frame, () => undefined)
    await wal.close()
    const log = createFreshLog('full', means)
    log.extend({ file: writeAheadLogFile(folder, 1), from: 0, to: frame.bytes.length }, false)
    for (const _ of log.work({ left: () => 0 }));
    expect(log.indexBytes()).to.equal(0)
    expect(find(log, frequent)).to.deep.equal(wanted(frequent))
  })

  it('leaves out for a moment what has just come, unless it was indexed or shown before', async () => {
    const wal = await createWriteAheadLog(folder, 1)
    const log = createFreshLog('busy', means)
    const file = writeAheadLogFile(folder, 1)
    let to = 0
    const add = async (count: number, isNew = true): Promise<void> => {
      const frame = nextFrame(count)
      to += frame.bytes.length
      await wal.append(frame, () => log.extend({ file, from: 0, to }, isNew))
    }
    const count = (isWhole = false): number =>
      log.segments(isWhole).reduce((sum, { footer }) => sum + footer.count, 0)
    await add(500, false)
    expect([count(), log.recentBytes()]).to.deep.equal([500, 0])
    const first = to
    const startedAt = performance.now()
    const isEarly = (): boolean => performance.now() - startedAt < 700
    for (let i = 0; i < 10; i += 1) await add(2100)
    const unread = [count(), log.recentBytes()]
    if (isEarly()) expect(unread).to.deep.equal([500, to - first])
    for (const _ of log.work({ left: () => 0 }));
    const read = count()
    // What came next went to where those are that were shown.
    if (isEarly()) expect(read).to.be.within(500, 500 + 2 * 2100)
    for (const _ of log.work(room));
    // The last of each day is not full.
    expect(count()).to.be.above(8 * 2100)
    await add(2100)
    expect(count(true)).to.equal(500 + 11 * 2100)
    await add(2100)
    await sleep(820)
    expect([count(), log.recentBytes()]).to.deep.equal([500 + 12 * 2100, 0])
    await wal.close()
  })
})
