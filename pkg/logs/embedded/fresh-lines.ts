import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog } from './catalog.ts'
import type { Frame } from './frame.ts'
import type { IndexerQuestion } from './indexer-thread.ts'
import type { StoredSegment } from './manifest.ts'
import type { MemorySegment } from './merge.ts'
import type { SourceName } from './source.ts'
import type { Thread } from './thread.ts'

/** Lines that are durable in the write-ahead log and not in a segment on the disk yet. */
export type FreshLines = {
  readonly lines: () => number
  readonly bytes: () => number
  readonly add: (frame: Frame, log: number) => void
  /** Resolves when what was added before can be found, or, with a lot coming in, what was there a moment ago. */
  readonly makeVisible: () => Promise<void>
  /** Puts everything up to this write-ahead log into segments on the disk. */
  readonly moveToDisk: (upToLog: number, recentBatches: readonly string[]) => Promise<void>
  readonly names: () => readonly SourceName[]
}

type Sealed = {
  readonly name: { readonly id: string; readonly bytes: Uint8Array }
  readonly log: number
  readonly count: number
}
type Batch = { readonly frame: Frame; readonly log: number }

// Few lines are made ready at once; of many, at most this often.
const fewLines = 5000
const pauseMs = 250
// While somebody asks now and then, lines are made ready as they come, so that a question finds few left to do.
const aheadLines = 20_000
const askedWithinMs = 30_000

export function createFreshLines(parts: {
  readonly folder: string
  readonly catalog: Catalog
  /** Makes lines ready in memory while the merger is busy with files. */
  readonly sealer: Thread
  readonly merger: Thread
  readonly show: (change: {
    readonly add: readonly SourceName[]
    readonly remove: readonly string[]
  }) => Promise<void>
}): FreshLines {
  const { folder, catalog, sealer, merger, show } = parts
  let open: Batch[] = []
  let openLines = 0
  let openBytes = 0
  let sealed: Sealed[] = []
  let sealing: Promise<void> | undefined
  let lastSealMs = 0
  let lastAskedMs = Number.NEGATIVE_INFINITY
  let nextId = 1

  const ask = (thread: Thread, question: IndexerQuestion): Promise<unknown> => thread.ask(question).answer
  function keepOpen(batches: Batch[]): void {
    open = batches
    openLines = batches.reduce((sum, { frame }) => sum + frame.count, 0)
    openBytes = batches.reduce((sum, { frame }) => sum + frame.bytes.length, 0)
  }

  /** Batches of one log only, so that what is sealed can be let go of with it. */
  async function seal(): Promise<void> {
    const log = open[0]?.log ?? 0
    const batches = open.filter(batch => batch.log === log)
    const frames = batches.map(({ frame }) => frame.bytes)
    const made = (await ask(sealer, { frames, segments: [] })) as readonly MemorySegment[]
    lastSealMs = performance.now()
    // Meanwhile they may have reached the disk by the other way.
    const done = new Set(batches)
    const isStillOpen = open.some(batch => done.has(batch))
    if (!isStillOpen) return
    keepOpen(open.filter(batch => !done.has(batch)))
    const added = made.map(({ bytes, count }) => ({ name: { id: `memory/${nextId++}`, bytes }, log, count }))
    sealed = [...sealed, ...added]
    await show({ add: added.map(({ name }) => name), remove: [] })
  }

  async function makeVisible(): Promise<void> {
    lastAskedMs = performance.now()
    const last = open.at(-1)?.frame.firstSequence ?? 0
    if (openLines > fewLines && performance.now() - lastSealMs < pauseMs) return
    while ((open[0]?.frame.firstSequence ?? Number.POSITIVE_INFINITY) <= last) {
      await beginSeal()
    }
  }

  function beginSeal(): Promise<void> {
    sealing ??= seal().finally(() => {
      sealing = undefined
    })
    return sealing
  }

  async function moveToDisk(upToLog: number, recentBatches: readonly string[]): Promise<void> {
    while (sealing !== undefined) await sealing.catch(() => sleep(10))
    const batches = open.filter(({ log }) => log <= upToLog)
    const segments = sealed.filter(({ log }) => log <= upToLog)
    let add: readonly StoredSegment[] = []
    if (batches.length + segments.length > 0) {
      const question = {
        frames: batches.map(({ frame }) => frame.bytes),
        segments: segments.map(({ name }) => name),
        files: { folder, firstNumber: catalog.manifest().nextSegment },
      }
      add = (await ask(merger, question)) as readonly StoredSegment[]
    }
    const nextSequence = Math.max(
      catalog.manifest().nextSequence,
      ...add.map(({ lastSequence }) => lastSequence + 1),
    )
    await catalog.commit({ add, firstLog: upToLog + 1, nextSequence, recentBatches, release })

    function release(): readonly string[] {
      const gone = sealed.filter(({ log }) => log <= upToLog)
      keepOpen(open.filter(({ log }) => log > upToLog))
      sealed = sealed.filter(({ log }) => log > upToLog)
      return gone.map(({ name }) => name.id)
    }
  }

  return {
    makeVisible,
    moveToDisk,
    lines: () => openLines + sealed.reduce((sum, { count }) => sum + count, 0),
    bytes: () => openBytes + sealed.reduce((sum, { name }) => sum + name.bytes.length, 0),
    add: (frame, log) => {
      open.push({ frame, log })
      openLines += frame.count
      openBytes += frame.bytes.length
      if (openLines < aheadLines || performance.now() - lastAskedMs > askedWithinMs) return
      // Whoever asks next is told what went wrong.
      beginSeal().catch(() => undefined)
    },
    names: () => sealed.map(({ name }) => name),
  }
}
