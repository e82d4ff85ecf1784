import type { Catalog } from './catalog.ts'
import type { Frame } from './frame.ts'
import type { IndexerQuestion } from './indexer-thread.ts'
import type { LogRange } from './log-range.ts'
import type { StoredSegment } from './manifest.ts'
import type { ReaderSource } from './reader-thread.ts'
import type { Thread } from './thread.ts'
import { writeAheadLogFile } from './write-ahead-log.ts'

/** Lines that are durable in the write-ahead log and not in a segment yet. */
export type FreshLines = {
  readonly lines: () => number
  readonly bytes: () => number
  /** @param at the write-ahead log that the frame is in, and where it begins there */
  readonly add: (frame: Frame, at: { readonly log: number; readonly offset: number }) => void
  /** Tells whoever reads of what was added since: a question that is asked after this finds it. */
  readonly makeVisible: () => void
  /** Puts everything up to this write-ahead log into segments on the disk. */
  readonly moveToDisk: (upToLog: number, recentBatches: readonly string[]) => Promise<void>
  /** What whoever reads was told of. */
  readonly names: () => readonly ReaderSource[]
}

// The lines themselves are in the files, and in the memory of the system as far as that goes.
type Batch = { readonly log: number; readonly from: number; readonly to: number; readonly count: number }
/** Batches of one write-ahead log that whoever reads has together. */
type Shown = {
  readonly id: string
  readonly number: number
  readonly log: LogRange
  readonly batches: number
}

// With more of them a question takes longer than it takes to put them together.
const mostShown = 16

export function createFreshLines(parts: {
  readonly folder: string
  readonly catalog: Catalog
  readonly indexer: Thread
  readonly show: (change: {
    readonly add: readonly ReaderSource[]
    readonly remove: readonly string[]
  }) => Promise<void>
}): FreshLines {
  const { folder, catalog, indexer, show } = parts
  let batches: Batch[] = []
  let lines = 0
  let bytes = 0
  let shown: readonly Shown[] = []
  // So many of the batches, the first ones, are shown.
  let shownBatches = 0
  let nextId = 1

  function makeVisible(): void {
    if (shownBatches === batches.length) return
    const kept = shown.length < mostShown ? shown : shown.slice(0, crowdedFrom())
    const groups = groupByLog(batches.slice(kept.reduce((sum, group) => sum + group.batches, 0)))
    const remove = shown.slice(kept.length).map(({ id }) => id)
    shown = [...kept, ...groups]
    shownBatches = batches.length
    void show({ add: groups, remove })
  }

  /** The first that is no larger than all after it, or else the last: what is large is seldom read again. */
  function crowdedFrom(): number {
    let behind = batches.length - shownBatches
    let first = shown.length - 1
    for (let i = shown.length - 1; i >= 0; i -= 1) {
      const own = shown[i]?.batches ?? 0
      if (own <= behind) first = i
      behind += own
    }
    return first
  }

  function groupByLog(some: readonly Batch[]): readonly Shown[] {
    return rangesOf(some).map(range => ({ id: `fresh/${nextId++}`, ...range }))
  }

  /** Batches of one write-ahead log follow each other without a gap. */
  function rangesOf(some: readonly Batch[]): readonly Omit<Shown, 'id'>[] {
    return [...Map.groupBy(some, ({ log }) => log)].map(([number, group]) => {
      const [from, to] = [group[0]?.from ?? 0, group.at(-1)?.to ?? 0]
      return { number, log: { file: writeAheadLogFile(folder, number), from, to }, batches: group.length }
    })
  }

  async function moveToDisk(upToLog: number, recentBatches: readonly string[]): Promise<void> {
    const moved = batches.filter(({ log }) => log <= upToLog)
    let add: readonly StoredSegment[] = []
    if (moved.length > 0) {
      const logs = rangesOf(moved).map(({ log }) => log)
      const firstNumber = catalog.manifest().nextSegment
      const question: IndexerQuestion = { logs, segments: [], folder, firstNumber }
      add = (await indexer.ask(question).answer) as readonly StoredSegment[]
    }
    const nextSequence = Math.max(
      catalog.manifest().nextSequence,
      ...add.map(({ lastSequence }) => lastSequence + 1),
    )
    await catalog.commit({ add, firstLog: upToLog + 1, nextSequence, recentBatches, release })

    function release(): readonly string[] {
      const gone = shown.filter(({ number }) => number <= upToLog)
      shown = shown.filter(({ number }) => number > upToLog)
      // They come in the order of their logs.
      shownBatches = Math.max(shownBatches - moved.length, 0)
      batches = batches.slice(moved.length)
      lines -= moved.reduce((sum, { count }) => sum + count, 0)
      bytes -= moved.reduce((sum, { from, to }) => sum + to - from, 0)
      return gone.map(({ id }) => id)
    }
  }

  return {
    makeVisible,
    moveToDisk,
    lines: () => lines,
    bytes: () => bytes,
    add: (frame, { log, offset }) => {
      batches.push({ log, from: offset, to: offset + frame.bytes.length, count: frame.count })
      lines += frame.count
      bytes += frame.bytes.length
    },
    names: () => shown,
  }
}
