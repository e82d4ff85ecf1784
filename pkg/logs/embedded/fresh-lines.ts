import type { Catalog } from './catalog.ts'
import type { Frame } from './frame.ts'
import type { IndexerQuestion } from './indexer-thread.ts'
import type { LogRange } from './log-range.ts'
import type { StoredSegment } from './manifest.ts'
import type { ReaderSource } from './reader-sources.ts'
import type { Thread } from './thread.ts'
import { writeAheadLogFile } from './write-ahead-log.ts'

/** Lines that are durable in the write-ahead log and not in a segment yet. */
export type FreshLines = {
  readonly lines: () => number
  readonly bytes: () => number
  /** @param at the write-ahead log that the frame is in, and where it begins there */
  readonly add: (frame: Frame, at: { readonly log: number; readonly offset: number }) => void
  /**
   * Tells whoever reads of what was added since: a question that is asked after this finds it.
   *
   * @param isNew whether it was added just now; a question may then leave it out for a moment
   */
  readonly makeVisible: (isNew: boolean) => void
  /** Puts everything up to this write-ahead log into segments on the disk. */
  readonly moveToDisk: (upToLog: number, recentBatches: readonly string[]) => Promise<void>
  /** All there is, for whoever begins to read. */
  readonly names: () => readonly ReaderSource[]
}

// The lines themselves are in the file, and in the memory of the system as far as that goes.
type Log = { readonly range: LogRange; readonly count: number }

export function createFreshLines(parts: {
  readonly folder: string
  readonly catalog: Catalog
  readonly indexer: Thread
  readonly show: (add: readonly ReaderSource[]) => void
}): FreshLines {
  const { folder, catalog, indexer, show } = parts
  // By the number of the write-ahead log. Its batches follow each other without a gap.
  const logs = new Map<number, Log>()
  let grown = new Set<number>()
  const sum = (measure: (log: Log) => number): number =>
    [...logs.values()].reduce((total, log) => total + measure(log), 0)

  function toSources(numbers: Iterable<number>, isNew: boolean): readonly ReaderSource[] {
    return [...numbers].flatMap(number => {
      const log = logs.get(number)
      return log === undefined ? [] : [{ id: idOf(number), log: log.range, isNew }]
    })
  }

  async function moveToDisk(upToLog: number, recentBatches: readonly string[]): Promise<void> {
    const moved = [...logs].filter(([number]) => number <= upToLog)
    let add: readonly StoredSegment[] = []
    if (moved.length > 0) {
      const firstNumber = catalog.manifest().nextSegment
      const ranges = moved.map(([, { range }]) => range)
      const question: IndexerQuestion = { logs: ranges, segments: [], folder, firstNumber }
      add = (await indexer.ask(question).answer) as readonly StoredSegment[]
    }
    const nextSequence = Math.max(
      catalog.manifest().nextSequence,
      ...add.map(({ lastSequence }) => lastSequence + 1),
    )
    const release = (): readonly string[] =>
      moved.map(([number]) => {
        logs.delete(number)
        return idOf(number)
      })
    await catalog.commit({ add, firstLog: upToLog + 1, nextSequence, recentBatches, release })
  }

  return {
    moveToDisk,
    lines: () => sum(({ count }) => count),
    bytes: () => sum(({ range }) => range.to - range.from),
    add: (frame, { log, offset }) => {
      const known = logs.get(log)
      const file = known?.range.file ?? writeAheadLogFile(folder, log)
      const range = { file, from: known?.range.from ?? offset, to: offset + frame.bytes.length }
      logs.set(log, { range, count: (known?.count ?? 0) + frame.count })
      grown.add(log)
    },
    makeVisible: isNew => {
      if (grown.size === 0) return
      const numbers = grown
      grown = new Set()
      show(toSources(numbers, isNew))
    },
    names: () => toSources(logs.keys(), false),
  }
}

function idOf(number: number): string {
  return `fresh/${number}`
}
