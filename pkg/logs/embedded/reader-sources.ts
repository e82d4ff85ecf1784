import { createSharedMemory } from '../shared-memory.ts'
import { createDecompress, type Decompress } from './decompress.ts'
import { createKnownStreams } from './frame.ts'
import { createFreshLog, type FreshLog, type FreshMeans } from './fresh-log.ts'
import type { LogRange } from './log-range.ts'
import type { PieceCache } from './piece-cache.ts'
import { openSegment, type Segment } from './segment.ts'
import { openSource, type SourceName } from './source.ts'
import { createStreamPool } from './stream-pool.ts'
import { createWordFilters } from './word-filters.ts'
import { createIndexer } from './word-index.ts'
import { createListMaker } from './word-lists.ts'

/** A segment in a file, or lines that are in none yet, as they stand in a write-ahead log that may have grown. */
export type ReaderSource =
  | SourceName
  /** `isNew`: what it grew by has just come. */
  | { readonly id: string; readonly log: LogRange; readonly isNew: boolean }

export type SourceChange = { readonly add: readonly ReaderSource[]; readonly remove: readonly string[] }

/** What there is to search. */
export type ReaderSources = {
  readonly change: (change: SourceChange) => void
  /** All of it as it is now, or without what came this moment where that is much; it stays open until it is released. */
  readonly take: (isWhole: boolean) => { readonly segments: readonly Segment[]; readonly release: () => void }
  /** Makes ready for questions what was added; a part at least. */
  readonly tend: (isLongEnough: () => boolean) => void
  /** Whether there is something to make ready. */
  readonly isUntended: () => boolean
}

/** A segment, or lines that are in none. Questions read on in what was removed after they began. */
type Open<T extends Closable> = { readonly source: T; users: number; isRemoved: boolean }

// What is less than this, of what has just come, is read when it is asked for.
const fewBytes = 2 * 1024 * 1024

/**
 * @param rest called before each piece that is unpacked
 * @param report called with what cannot be read: the others must go on being found
 */
export function createReaderSources(parts: {
  readonly cache: PieceCache
  readonly answers: PieceCache
  /** What the indexes of lines that are in no segment may take. */
  readonly freshBytes: number
  /** What filters of words may take. */
  readonly filterBytes: number
  readonly rest: () => void
  readonly report: (error: unknown) => void
}): ReaderSources {
  const { cache, answers, freshBytes, filterBytes, rest, report } = parts
  const unpack = createDecompress()
  const decompress: Decompress = frame => {
    rest()
    return unpack(frame)
  }
  const filters = createWordFilters(filterBytes, report)
  const shared = { cache, answers, share: createStreamPool().share, decompress, filters }
  const files = new Map<string, Open<Segment>>()
  const logs = new Map<string, Open<FreshLog>>()
  const means: FreshMeans = {
    indexer: createIndexer(createListMaker()),
    streams: createKnownStreams(),
    memory: createSharedMemory({ limitBytes: 2 * freshBytes, stepBytes: 64 * 1024 }),
  }
  let tending: Generator<void, void> | undefined
  let hasGrown = false
  let haveFilesChanged = false
  const room = {
    left: () => [...logs.values()].reduce((left, { source }) => left - source.indexBytes(), freshBytes),
  }

  function add(source: ReaderSource): void {
    if ('log' in source) {
      const log = logs.get(source.id) ?? begin(source.id)
      log.source.extend(source.log, source.isNew)
      beginTending()
    } else if (!files.has(source.id)) {
      // A thread that was just started has been told of the newest already.
      const file = openSource(source)
      const segment = openSegment(source.id, file, shared)
      files.set(source.id, opened(segment))
      filters.add({ id: source.id, footer: segment.footer, readInto: file.readInto })
      haveFilesChanged = true
      beginTending()
    }
  }

  /** Lines come into one log after the other. */
  function begin(id: string): Open<FreshLog> {
    for (const { source } of logs.values()) source.end()
    const log = opened(createFreshLog(id, means))
    logs.set(id, log)
    return log
  }

  function remove(id: string): void {
    for (const open of [logs.get(id), files.get(id)]) {
      if (open === undefined) continue
      open.isRemoved = true
      closeUnused(open)
    }
    logs.delete(id)
    files.delete(id)
    filters.remove(id)
  }

  function beginTending(): void {
    hasGrown = logs.size > 0
    if (hasGrown || haveFilesChanged) tending ??= tendAll()
  }

  function* tendAll(): Generator<void, void> {
    while (hasGrown || haveFilesChanged) {
      if (hasGrown) yield* tendLogs()
      else yield* tendFiles()
    }
  }

  function* tendLogs(): Generator<void, void> {
    hasGrown = false
    for (const [id, log] of logs) {
      const work = log.source.work(room)
      // What has become a segment meanwhile has no file any more.
      while (logs.has(id) && !work.next().done) yield
    }
  }

  function* tendFiles(): Generator<void, void> {
    haveFilesChanged = false
    yield* filters.load()
  }

  function attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      report(error)
      return undefined
    }
  }

  return {
    isUntended: () => tending !== undefined,
    change: change => {
      for (const id of change.remove) remove(id)
      for (const source of change.add) attempt(() => add(source))
    },
    take: isWhole => {
      const using = [...files.values(), ...logs.values()]
      for (const open of using) open.users += 1
      const recentBytes = [...logs.values()].reduce((sum, { source }) => sum + source.recentBytes(), 0)
      const isAll = isWhole || recentBytes < fewBytes
      const fresh = [...logs.values()].flatMap(({ source }) => attempt(() => source.segments(isAll)) ?? [])
      // What has stopped growing is not looked through a second time.
      beginTending()
      let isReleased = false
      return {
        segments: [...[...files.values()].map(({ source }) => source), ...fresh],
        release: () => {
          // A second time would let go of what another question still reads.
          if (isReleased) return
          isReleased = true
          for (const open of using) {
            open.users -= 1
            closeUnused(open)
          }
        },
      }
    },
    tend: isLongEnough => {
      do {
        const step = attempt(() => tending?.next())
        if (step === undefined || step.done) tending = undefined
      } while (tending !== undefined && !isLongEnough())
    },
  }
}

type Closable = { readonly close: () => void }

function opened<T extends Closable>(source: T): Open<T> {
  return { source, users: 0, isRemoved: false }
}

function closeUnused({ source, isRemoved, users }: Open<Closable>): void {
  if (isRemoved && users === 0) source.close()
}
