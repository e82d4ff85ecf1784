import { mkdir } from 'node:fs/promises'
import { extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTurns, type Turns } from '../../request/turns.ts'
import { unavailable } from '../../status/status.ts'
import type { LogStore } from '../store.ts'
import { createBustle } from './bustle.ts'
import { createCatalog, removeStrangers } from './catalog.ts'
import { encodeIn } from './encoder.ts'
import type { EncoderSettings } from './encoder-thread.ts'
import { lockFolder } from './folder-lock.ts'
import { follow } from './follow.ts'
import { createFreshLines } from './fresh-lines.ts'
import type { IndexerSettings } from './indexer-thread.ts'
import { createIngest, isDiskFull, noSpace, tooMuchWaiting } from './ingest.ts'
import { loadManifest } from './manifest.ts'
import { createPrecedence } from './precedence.ts'
import { createReader } from './reader.ts'
import type { ReaderOrder, ReaderSettings } from './reader-thread.ts'
import { createRecentBatches } from './recent-batches.ts'
import { replay } from './replay.ts'
import { firstKeptDay, type Retention } from './retention.ts'
import { createThread, type ThreadSettings } from './thread.ts'
import { standHelpersBack } from './thread-priority.ts'
import { createUpkeep } from './upkeep.ts'
import { createWriteAheadLog } from './write-ahead-log.ts'

export type EmbeddedSettings = {
  /** Everything is in here; one process at a time. */
  readonly folder: string
  readonly retention: Retention
  /** What the store may take of memory, all its threads together. */
  readonly memoryBytes: number
  /** How many lines become a segment at once: more make better segments, and take more memory meanwhile. */
  readonly flushLines?: number
  /** Of all that is long in the thread that serves requests. */
  readonly turns?: Turns
  readonly now?: () => number
  /** Called with what goes wrong away from any request. */
  readonly report: (message: string, error: unknown) => void
}

const rememberedBatches = 4096
const defaultFlushLines = 65_536
const mostLines = 4 * defaultFlushLines
// To refuse a batch at once costs more than to hold it for a moment: it comes again, and is read again.
const patienceMs = 1000
const lookMs = 20
// What a whole batch in JSON may take, of the size that is let in; of what senders send a hundredth does.
const encoderHeapMb = 768
// An answer is written, and read by who asked, before there is a crowd for the processor again.
const answerMs = 1
// Behind all that wait for them, so that none of these makes another wait.
const helpersNice = 5

/**
 * A log store in a folder: a write-ahead log and immutable segments with an index of words (ADR 5).
 *
 * @throws Error when the folder cannot be used, or another process uses it
 */
export async function createEmbeddedStore(settings: EmbeddedSettings): Promise<LogStore> {
  await mkdir(settings.folder, { recursive: true })
  const lock = lockFolder(settings.folder)
  try {
    const store = await openStore(settings)
    let closing: Promise<void> | undefined
    const close = (): Promise<void> => {
      closing ??= store.close().finally(lock.release)
      return closing
    }
    return { ...store, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openStore(settings: EmbeddedSettings): Promise<LogStore> {
  const { folder, retention, memoryBytes, report, flushLines = defaultFlushLines, now = Date.now } = settings
  const { turns = createTurns() } = settings
  const manifest = await loadManifest(folder)
  await removeStrangers(folder, manifest)
  const recent = createRecentBatches(manifest.recentBatches, rememberedBatches)

  standHelpersBack(helpersNice)
  const memoryMb = memoryBytes / 1024 / 1024
  const thread = (name: string, more: Pick<ThreadSettings, 'data' | 'greet'> & { heapMb?: number } = {}) =>
    createThread({
      heapMb: Math.max(Math.floor(memoryMb / 4), 64),
      youngMb: Math.max(Math.floor((memoryMb * 3) / 64), 6),
      ...more,
      // What runs may be these files or what was compiled from them.
      script: new URL(`./${name}-thread${extname(import.meta.filename)}`, import.meta.url),
      onBreak: error => report(`something broke in a thread of the log store: ${name}`, error),
    })
  const show = (change: Omit<Extract<ReaderOrder, { kind: 'segments' }>, 'kind'>): Promise<void> =>
    // A thread that does not run, or breaks, is told all of it when it starts.
    readerThread.update({ kind: 'segments', ...change } satisfies ReaderOrder).then(
      () => undefined,
      () => undefined,
    )
  const catalog = createCatalog(folder, manifest, show)
  const precedence = createPrecedence()
  const indexer = thread('indexer', { data: { precedence: precedence.memory } satisfies IndexerSettings })
  const encoderSettings: EncoderSettings = { precedence: precedence.memory }
  const encoder = thread('encoder', { data: encoderSettings, heapMb: encoderHeapMb })
  const fresh = createFreshLines({
    ...{ folder, catalog, indexer },
    show: add => readerThread.tell({ kind: 'segments', add, remove: [] } satisfies ReaderOrder),
  })
  const cacheBytes = Math.floor(memoryBytes / 24)
  const bustle = createBustle()
  const data: ReaderSettings = {
    ...{ cacheBytes, filterBytes: 2 * cacheBytes },
    ...{ precedence: precedence.memory, bustle: bustle.memory },
  }
  const greet = (): ReaderOrder => ({
    kind: 'segments',
    add: [...catalog.names(), ...fresh.names()],
    remove: [],
  })
  const readerThread = thread('reader', { data, greet })

  const replayed = await replay(folder, manifest, { fresh, recent, report })
  let { nextSequence } = replayed
  const log = await createWriteAheadLog(folder, replayed.nextLog)
  const flush = { bytes: Math.floor(memoryBytes / 32), lines: flushLines }
  const upkeep = createUpkeep({ folder, retention, catalog, fresh, log, indexer, recent, flush, now, report })
  upkeep.start()
  let isClosed = false
  let isFull = false

  const checkOpen = (): void => {
    if (isClosed) throw unavailable('the log store is closed')
  }
  const { append, ingest } = createIngest({
    ...{ recent, turns },
    encode: (batch, firstDay) => encodeIn(encoder, batch, firstDay),
    firstKeptDay: () => firstKeptDay(retention, now()),
    takeSequences: count => {
      nextSequence += count
      return nextSequence - count
    },
    untilRoom: async () => {
      const patientUntil = performance.now() + patienceMs
      for (;;) {
        checkOpen()
        if (fresh.bytes() < 2 * flush.bytes && fresh.lines() < mostLines) return
        const cause = upkeep.fullDisk()
        upkeep.wake()
        if (cause !== undefined) throw noSpace(cause)
        if (performance.now() > patientUntil) throw tooMuchWaiting(fresh.bytes())
        await sleep(lookMs)
      }
    },
    write: async frame => {
      try {
        await log.append(frame, (file, offset) => fresh.add(frame, { log: file, offset }))
        isFull = false
      } catch (error) {
        isFull = isDiskFull(error)
        throw error
      }
      upkeep.ingested()
      // Whoever asks again soon is not to wait until they are read.
      if (upkeep.isAsked()) fresh.makeVisible(true)
    },
  })
  const reader = createReader(readerThread, () => {
    checkOpen()
    fresh.makeVisible(false)
    upkeep.asked()
  })

  async function ahead<T>(ask: () => Promise<T>): Promise<T> {
    const end = precedence.goAhead()
    const leave = bustle.follow()
    try {
      return await ask()
    } finally {
      leave()
      setTimeout(end, answerMs)
    }
  }

  return {
    append,
    ingest,
    untilAnswered: precedence.untilAnswered,
    query: (query, limits) => ahead(() => reader.query(query, limits)),
    statistics: (filter, limits) => ahead(() => reader.statistics(filter, limits)),
    histogram: (filter, interval, limits) => ahead(() => reader.histogram(filter, interval, limits)),
    follow: (filter, signal) => follow(reader, filter, nextSequence - 1, signal),
    check: async () => {
      if (isClosed) return 'the log store is closed'
      return isFull || upkeep.fullDisk() !== undefined ? 'the disk with the logs is full' : undefined
    },
    close: async () => {
      isClosed = true
      await upkeep.stop()
      await log.close()
      await Promise.all([encoder.stop(), indexer.stop(), readerThread.stop()])
    },
  }
}
