import { statfs } from 'node:fs/promises'
import { isStatus, unavailable } from '../../apierrors/status.ts'
import type { LogFilter } from '../filter/filter.ts'
import type { IngestResult } from '../ingest/raw-batch.ts'
import type { AppendResult, LogStore, QueryLimits } from '../store.ts'
import { type Child, createChild } from './process/child.ts'
import { createFeed, type ReadArrivals } from './read/follow.ts'
import type { ReaderNotice, ReaderQuery, ReaderSettings, ReadRequest } from './read/read-request.ts'
import { firstKeptDay } from './write/retention.ts'
import type { StoreSettings } from './write/store-writer.ts'
import type { WriteRequest, WriteResponse, WriterNotice, WriterSettings } from './write/write-request.ts'

export type EmbeddedSettings<Name extends string> = {
  /** Independent stores by name, each with its own folder. */
  readonly stores: Readonly<Record<Name, StoreSettings>>
  /** Memory limit of all stores together, including the child processes. */
  readonly memoryBytes: number
  readonly now?: () => number
  /** Number of lines that are searched together. Set only by tests. */
  readonly windowLines?: number
  /** Called with errors that do not belong to a request. */
  readonly report: (message: string, error: unknown, store: string) => void
}

export type EmbeddedStores<Name extends string> = {
  readonly stores: Readonly<Record<Name, LogStore>>
  readonly close: () => Promise<void>
}

// Nice values. Queries must not wait for ingest, so the writer has the lowest priority. The main
// process has the highest.
const nice = { reader: 5, writer: 10 }
const tidyMs = 60_000
const arrivalsMs = 30_000
// The store reports a full disk until this much more space is free.
const enoughBytes = 16 * 1024 * 1024

/**
 * Opens log stores in folders. One process writes them, another reads them (ADR 5).
 *
 * @throws Error if a folder is not usable or is already in use
 */
export async function openEmbeddedStores<Name extends string>(
  settings: EmbeddedSettings<Name>,
): Promise<EmbeddedStores<Name>> {
  const { memoryBytes, report, now = Date.now } = settings
  const names = Object.keys(settings.stores) as Name[]
  const megabytes = Math.floor(memoryBytes / 1024 / 1024)
  const writerSettings: WriterSettings = { stores: settings.stores }
  const writer = createChild({
    ...{ name: 'writer', settings: writerSettings, nice: nice.writer },
    heapMegabytes: Math.max(256, megabytes),
    onNotice: notice => {
      const { store, message, error } = notice as WriterNotice
      report(message, error === undefined ? undefined : new Error(error), store)
    },
    onExit: error =>
      report('the writer process of the log store ended and is restarted', error, names[0] ?? ''),
  })
  const folders = Object.fromEntries(names.map(name => [name, settings.stores[name].folder]))
  const readerSettings: ReaderSettings = {
    ...{ folders, cacheBytes: Math.floor(memoryBytes / 4) },
    ...(settings.windowLines === undefined ? {} : { windowLines: settings.windowLines }),
  }
  const reader = createChild({
    ...{ name: 'reader', settings: readerSettings, nice: nice.reader },
    heapMegabytes: Math.max(128, Math.floor(megabytes / 2)),
    onNotice: notice => {
      const { store, partition, damage: message } = notice as ReaderNotice
      const request: WriteRequest = { kind: 'setAside', store, partition, message }
      writer.request(request).catch(error => report('failed to move a damaged file', error, store))
    },
    onExit: error =>
      report('a reader process of the log store ended and is restarted', error, names[0] ?? ''),
  })
  try {
    await writer.start()
  } catch (error) {
    await writer.stop()
    throw error
  }
  // Not awaited: the first query would otherwise wait for the start of the process.
  reader.start().catch(() => undefined)
  let isClosed = false
  const processes = { writer, reader, now, isClosed: () => isClosed, report }
  const opened = names.map(name => ({ name, store: openStore(name, settings.stores[name], processes) }))
  const close = async (): Promise<void> => {
    isClosed = true
    for (const { store } of opened) store.end()
    await Promise.all([writer.stop(), reader.stop()])
  }
  const stores = Object.fromEntries(opened.map(({ name, store }) => [name, { ...store.store, close }]))
  return { stores: stores as Record<Name, LogStore>, close }
}

type Processes = Pick<EmbeddedSettings<string>, 'report'> & {
  readonly writer: Child
  readonly reader: Child
  readonly now: () => number
  readonly isClosed: () => boolean
}

function openStore(
  name: string,
  { folder, namespaces = [] }: StoreSettings,
  { writer, reader, now, isClosed, report }: Processes,
): { readonly store: Omit<LogStore, 'close'>; readonly end: () => void } {
  /** Free bytes when a write failed for a full disk; undefined after a success. */
  let freeWhenFull: number | undefined

  async function store<Result>(request: WriteRequest): Promise<Result> {
    if (isClosed()) throw storeClosed()
    try {
      const { result, committed } = (await writer.request(request)) as WriteResponse<Result>
      freeWhenFull = undefined
      feed.publish(committed)
      return result
    } catch (error) {
      freeWhenFull = isStatus(error, 507) ? await freeBytes(folder) : undefined
      throw error
    }
  }

  async function read<Result>(query: ReaderQuery, { signal, timeoutMs }: QueryLimits): Promise<Result> {
    if (isClosed()) throw storeClosed()
    const request: ReadRequest = { ...query, store: name, timeoutMs }
    return (await reader.request(request, signal)) as Result
  }

  /** Adds the retention to a filter, which hides expired lines until they are deleted. */
  function withRetention(filter: LogFilter): LogFilter {
    if (namespaces.length === 0) return filter
    const keep = namespaces.map(({ name: pattern, retentionDays: days }) => ({
      name: pattern,
      fromDay: days === undefined ? 0 : firstKeptDay({ days }, now()),
    }))
    return { ...filter, keep }
  }

  const readArrivals: ReadArrivals = (filter, ranges, signal) =>
    read({ kind: 'arrivals', filter: withRetention(filter), ranges }, { signal, timeoutMs: arrivalsMs })
  const feed = createFeed(readArrivals)

  const tidy = (): void => {
    if (isClosed()) return
    writer.request({ kind: 'tidy', store: name, nowMs: now() } satisfies WriteRequest).catch(error => {
      if (!isClosed()) report('failed to remove old logs', error, name)
    })
  }
  const timer = setInterval(tidy, tidyMs).unref()
  tidy()

  return {
    end: () => clearInterval(timer),
    store: {
      append: async ({ records, id }) => {
        const named = id === undefined ? {} : { name: id }
        return store<AppendResult>({ kind: 'append', store: name, records, ...named, nowMs: now() })
      },
      ingest: async batch => store<IngestResult>({ kind: 'ingest', store: name, batch, nowMs: now() }),
      query: (query, limits) =>
        read({ kind: 'query', query: { ...query, filter: withRetention(query.filter) } }, limits),
      rows: (query, limits) =>
        read({ kind: 'rows', query: { ...query, filter: withRetention(query.filter) } }, limits),
      origins: (filter, limits) => read({ kind: 'origins', filter: withRetention(filter) }, limits),
      statistics: (filter, limits) => read({ kind: 'statistics', filter: withRetention(filter) }, limits),
      histogram: (filter, interval, limits) =>
        read({ kind: 'histogram', filter: withRetention(filter), interval }, limits),
      follow: feed.follow,
      check: async () => {
        if (isClosed()) return 'the log store is closed'
        const isFull = freeWhenFull !== undefined && (await freeBytes(folder)) < freeWhenFull + enoughBytes
        return isFull ? 'the disk with the logs is full' : undefined
      },
    },
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

function storeClosed(): Error {
  return unavailable('the log store is closed')
}
