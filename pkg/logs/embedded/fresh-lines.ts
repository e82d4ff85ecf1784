import type { Catalog } from './catalog.ts'
import type { Frame } from './frame.ts'
import type { IndexerQuestion } from './indexer-thread.ts'
import type { StoredSegment } from './manifest.ts'
import type { ReaderSource } from './reader-thread.ts'
import type { Thread } from './thread.ts'

/** Lines that are durable in the write-ahead log and not in a segment yet. */
export type FreshLines = {
  readonly lines: () => number
  readonly bytes: () => number
  readonly add: (frame: Frame, log: number) => void
  /** Tells whoever reads of what was added since: a question that is asked after this finds it. */
  readonly makeVisible: () => void
  /** Puts everything up to this write-ahead log into segments on the disk. */
  readonly moveToDisk: (upToLog: number, recentBatches: readonly string[]) => Promise<void>
  /** What whoever reads was told of. */
  readonly names: () => readonly ReaderSource[]
}

type Batch = { readonly frame: Frame; readonly log: number }
/** Batches of one write-ahead log that whoever reads has together. */
type Shown = { readonly id: string; readonly log: number; readonly frames: readonly Uint8Array[] }

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
    const isCrowded = shown.length >= mostShown
    const groups = groupByLog(batches.slice(isCrowded ? 0 : shownBatches))
    const remove = isCrowded ? shown.map(({ id }) => id) : []
    shown = isCrowded ? groups : [...shown, ...groups]
    shownBatches = batches.length
    void show({ add: groups, remove })
  }

  function groupByLog(some: readonly Batch[]): readonly Shown[] {
    return [...Map.groupBy(some, ({ log }) => log)].map(([log, group]) => ({
      id: `fresh/${nextId++}`,
      log,
      frames: group.map(({ frame }) => frame.bytes),
    }))
  }

  async function moveToDisk(upToLog: number, recentBatches: readonly string[]): Promise<void> {
    const moved = batches.filter(({ log }) => log <= upToLog)
    let add: readonly StoredSegment[] = []
    if (moved.length > 0) {
      const frames = moved.map(({ frame }) => frame.bytes)
      const firstNumber = catalog.manifest().nextSegment
      const question: IndexerQuestion = { frames, segments: [], folder, firstNumber }
      add = (await indexer.ask(question).answer) as readonly StoredSegment[]
    }
    const nextSequence = Math.max(
      catalog.manifest().nextSequence,
      ...add.map(({ lastSequence }) => lastSequence + 1),
    )
    await catalog.commit({ add, firstLog: upToLog + 1, nextSequence, recentBatches, release })

    function release(): readonly string[] {
      const gone = shown.filter(({ log }) => log <= upToLog)
      shown = shown.filter(({ log }) => log > upToLog)
      // They come in the order of their logs.
      shownBatches = Math.max(shownBatches - moved.length, 0)
      batches = batches.slice(moved.length)
      lines -= moved.reduce((sum, { frame }) => sum + frame.count, 0)
      bytes -= moved.reduce((sum, { frame }) => sum + frame.bytes.length, 0)
      return gone.map(({ id }) => id)
    }
  }

  return {
    makeVisible,
    moveToDisk,
    lines: () => lines,
    bytes: () => bytes,
    add: (frame, log) => {
      batches.push({ frame, log })
      lines += frame.count
      bytes += frame.bytes.length
    },
    names: () => shown,
  }
}
