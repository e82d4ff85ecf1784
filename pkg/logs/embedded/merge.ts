import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { release } from '../own-memory.ts'
import { createDecompress } from './decompress.ts'
import { readingFrame } from './frame.ts'
import { createLinesBuilder, type LinesBuilder } from './lines.ts'
import { type LogRange, readLogRange } from './log-range.ts'
import type { StoredSegment } from './manifest.ts'
import type { MergeMemory } from './merge-memory.ts'
import { createPieceCache } from './piece-cache.ts'
import { openSegment, type Segment } from './segment.ts'
import { type SegmentMeans, writeSegment } from './segment-writer.ts'
import { openSource, type SourceName } from './source.ts'

/** Lines, about a millisecond's. */
const turn = 256

/** Lines to be put together: batches as they came in, and segments. */
export type Ingredients = { readonly logs: readonly LogRange[]; readonly segments: readonly SourceName[] }

export type MergeMeans = SegmentMeans & { readonly memory: MergeMemory }

/** Segments in files, one for each day: whole and durable, or not there. */
export function mergeToFiles(
  ingredients: Ingredients,
  into: { readonly folder: string; readonly firstNumber: number },
  means: MergeMeans,
): readonly StoredSegment[] {
  const { folder, firstNumber } = into
  const { giveWay } = means
  return collectLines(ingredients, means).map((builder, i) => {
    const lines = builder.finish()
    const day = new Date(lines.day * 86_400_000).toISOString().slice(0, 10)
    const file = `${day}/${firstNumber + i}.seg`
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    const temporary = `${path}.new`
    const descriptor = openSync(temporary, 'w')
    let bytes = 0
    try {
      const write = (part: Uint8Array): void => {
        bytes += writeFully(descriptor, part)
        giveWay()
      }
      const footer = writeSegment(lines, write, means)
      fsyncSync(descriptor)
      renameSync(temporary, path)
      syncPath(dirname(path))
      syncPath(folder)
      const { count, textBytes, lastSequence } = footer
      return { file, day: lines.day, count, bytes, textBytes, lastSequence }
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(descriptor)
    }
  })
}

/** What the ingredients hold, day by day. */
function collectLines(
  { logs, segments }: Ingredients,
  { giveWay, memory }: MergeMeans,
): readonly LinesBuilder[] {
  const days = new Map<number, LinesBuilder>()
  const linesOf = (day: number): LinesBuilder => {
    const known = days.get(day)
    if (known !== undefined) return known
    // Nearly always all lines are of one day, so the first has room for all.
    const created = days.size === 0 ? memory.builder(day, expected) : createLinesBuilder(day)
    days.set(day, created)
    return created
  }
  // Each piece is read once; those of the times are read document by document.
  const shared = { cache: createPieceCache(2 * 1024 * 1024), decompress: createDecompress() }
  const take = memory.bytes(sum(logs.map(({ from, to }) => to - from)))
  const frames = logs.flatMap(range => readLogRange(range, take))
  const opened = segments.map(name => openSegment(name.id, openSource(name), shared))
  const expected = {
    lines: sum(frames.map(({ count }) => count)) + sum(opened.map(({ footer }) => footer.count)) + 1,
    bytes:
      sum(frames.map(({ bytes }) => bytes.length)) + sum(opened.map(({ footer }) => footer.textBytes)) + 1,
  }
  for (const segment of opened) {
    try {
      addSegment(segment, linesOf(segment.footer.day), giveWay)
    } finally {
      segment.close()
    }
  }
  for (const { bytes } of frames) for (const _ of readingFrame(bytes, linesOf, memory.streams)) giveWay()
  return [...days.values()]
}

function addSegment(segment: Segment, lines: LinesBuilder, giveWay: () => void): void {
  const { footer, streamStarts } = segment
  const { documents, leave } = segment.groupDocuments()
  const times = Float64Array.from({ length: footer.count }, (_, document) => segment.timeOf(document))
  const sequences = Float64Array.from({ length: footer.count }, (_, document) => segment.sequenceOf(document))
  footer.streams.forEach((stream, index) => {
    const end = streamStarts[index + 1] ?? 0
    for (let place = streamStarts[index] ?? 0; place < end; place += 1) {
      if (place % turn === turn - 1) giveWay()
      const document = documents[place] ?? 0
      const source = segment.textAt(place)
      lines.add(times[document] ?? 0, sequences[document] ?? 0, stream, source, 0, source.length)
    }
  })
  leave()
  release(times)
  release(sequences)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function writeFully(descriptor: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at)
  return bytes.length
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
