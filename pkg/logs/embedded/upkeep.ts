import { rm } from 'node:fs/promises'
import type { Catalog } from './catalog.ts'
import type { FreshLines } from './fresh-lines.ts'
import type { IndexerQuestion } from './indexer-thread.ts'
import { isDiskFull } from './ingest.ts'
import type { StoredSegment } from './manifest.ts'
import type { RecentBatches } from './recent-batches.ts'
import { findExpired, findSmall, type Retention, type SegmentLimit } from './retention.ts'
import type { Thread } from './thread.ts'
import { listWriteAheadLogs, type WriteAheadLog, writeAheadLogFile } from './write-ahead-log.ts'

/** Puts fresh lines into segments, makes one of small segments, and drops what is too old or too much. */
export type Upkeep = {
  /** Does what there is to do, now and again until it is stopped. */
  readonly start: () => void
  /** Looks at once whether there is something to do. */
  readonly wake: () => void
  /** Lines came: looks now, and once no more came for a moment. */
  readonly ingested: () => void
  /** Somebody asks: what is in no segment is looked through as a whole, so less of it is left to wait. */
  readonly asked: () => void
  /** Whether somebody asked lately, and is likely to ask again. */
  readonly isAsked: () => boolean
  /** The error with which the disk refused the last attempt; undefined when it did not. */
  readonly fullDisk: () => unknown
  readonly stop: () => Promise<void>
}

const pauseMs = 60_000
const retryMs = 5_000
const smallTogether = 4
const asked = { lines: 2048, withinMs: 30_000 }
// Whoever asks first is not to wait for many lines to be looked through; fewer than these are no reason to start a thread.
const early = { lines: 8192, quietLines: 2048, pauseMs: 2000 }

export function createUpkeep(parts: {
  readonly folder: string
  readonly retention: Retention
  readonly catalog: Catalog
  readonly fresh: FreshLines
  readonly log: WriteAheadLog
  readonly indexer: Thread
  readonly recent: RecentBatches
  /** Fresh lines are put into segments when they take this many bytes, or are this many. */
  readonly flush: SegmentLimit
  readonly now: () => number
  readonly report: (message: string, error: unknown) => void
}): Upkeep {
  const { folder, catalog, fresh, log, indexer, recent, flush, report } = parts
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let fullDisk: unknown
  let retryAt = 0
  let isStopped = false
  let askedAt = Number.NEGATIVE_INFINITY
  let flushedAt = Number.NEGATIVE_INFINITY
  let ingestedAt = Number.NEGATIVE_INFINITY
  let quiet: NodeJS.Timeout | undefined

  const isAsked = (): boolean => performance.now() - askedAt < asked.withinMs
  const isDue = (): boolean => fresh.bytes() >= flush.bytes || fresh.lines() >= flush.lines || isDueEarly()

  function isDueEarly(): boolean {
    const now = performance.now()
    const lines = fresh.lines()
    if (now - flushedAt < early.pauseMs) return false
    if (lines >= early.lines || (lines >= asked.lines && isAsked())) return true
    return lines >= early.quietLines && now - ingestedAt >= early.pauseMs
  }

  async function work(): Promise<void> {
    await expire()
    while (isDue() && !isStopped) {
      // What is remembered of batches must be there before the log that has them goes.
      const upTo = await log.rotate()
      await fresh.moveToDisk(upTo, recent.list())
      flushedAt = performance.now()
      await removeLogs(catalog.manifest().firstLog)
      fullDisk = undefined
    }
    await mergeSmall()
    await expire()
  }

  async function expire(): Promise<void> {
    const remove = findExpired(catalog.manifest().segments, parts.retention, parts.now())
    if (remove.length > 0) await catalog.commit({ remove })
  }

  async function mergeSmall(): Promise<void> {
    const { segments, nextSegment } = catalog.manifest()
    const remove = findSmall(segments, flush, smallTogether)
    if (remove.length === 0 || isStopped) return
    const names = new Set(remove.map(({ file }) => file))
    const question: IndexerQuestion = {
      logs: [],
      segments: catalog.names().filter(({ id }) => names.has(id)),
      folder,
      firstNumber: nextSegment,
    }
    const add = (await indexer.ask(question).answer) as readonly StoredSegment[]
    await catalog.commit({ add, remove })
  }

  async function removeLogs(first: number): Promise<void> {
    for (const number of await listWriteAheadLogs(folder)) {
      if (number < first) await rm(writeAheadLogFile(folder, number), { force: true })
    }
  }

  function run(): void {
    if (working !== undefined || isStopped) return
    working = work()
      .then(() => {
        fullDisk = undefined
      })
      .catch(error => {
        if (isDiskFull(error)) fullDisk = error
        retryAt = performance.now() + retryMs
        if (!isStopped) report('log lines could not be put into segments; it is tried again', error)
      })
      .finally(() => {
        working = undefined
        // What came meanwhile may be all that comes.
        if (!isStopped) quiet?.refresh()
      })
  }

  function wake(): void {
    if (isDue() && performance.now() >= retryAt) run()
  }

  return {
    isAsked,
    start: () => {
      run()
      timer = setInterval(run, pauseMs).unref()
    },
    wake,
    ingested: () => {
      ingestedAt = performance.now()
      if (quiet === undefined) quiet = setTimeout(wake, early.pauseMs + 100).unref()
      else quiet.refresh()
      wake()
    },
    asked: () => {
      askedAt = performance.now()
      wake()
    },
    fullDisk: () => fullDisk,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      clearTimeout(quiet)
      await working
    },
  }
}
