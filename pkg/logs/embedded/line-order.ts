import { release } from '../own-memory.ts'
import type { Lines, Stream } from './lines.ts'
import { emptyColumn, type StreamColumn } from './stream-column.ts'
import { groupDocuments } from './stream-documents.ts'

/** The indexes of the lines in the order of time, then of arrival. Lines that come in order already, batch by batch, cost little. */
export function sortLines({ count, times, sequences }: Lines): Uint32Array {
  let order = firstTo(count)
  // Where stretches begin that are in order.
  let runs: number[] = count > 0 ? [0] : []
  const isBehind = (a: number, b: number): boolean => {
    const timeA = times[a] ?? 0
    const timeB = times[b] ?? 0
    return timeA > timeB || (timeA === timeB && (sequences[a] ?? 0) > (sequences[b] ?? 0))
  }
  for (let i = 1; i < count; i += 1) if (isBehind(i - 1, i)) runs.push(i)
  if (runs.length <= 1) return order

  function merge(from: number, middle: number, end: number, to: Uint32Array): void {
    let [left, right] = [from, middle]
    for (let at = from; at < end; at += 1) {
      const takesRight = left === middle || (right < end && isBehind(order[left] ?? 0, order[right] ?? 0))
      to[at] = (takesRight ? order[right++] : order[left++]) ?? 0
    }
  }

  let other = new Uint32Array(count)
  for (; runs.length > 1; [order, other] = [other, order]) {
    for (let i = 0; i < runs.length; i += 2)
      merge(runs[i] ?? 0, runs[i + 1] ?? count, runs[i + 2] ?? count, other)
    runs = runs.filter((_, i) => i % 2 === 0)
  }
  release(other)
  return order
}

/** 0, 1, 2…, so many. */
export function firstTo(count: number): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count)
  for (let i = 0; i < count; i += 1) order[i] = i
  return order
}

export type Grouped = {
  readonly streams: readonly Stream[]
  /** Which of them each document is of. */
  readonly column: StreamColumn
  /** All documents, stream by stream; stream s has those from streamStarts[s] up to streamStarts[s + 1]. */
  readonly documents: Uint32Array
  readonly streamStarts: Uint32Array
}

/** The indexes of streams in the order of their names. */
export function rankStreams(streams: readonly Stream[]): readonly number[] {
  const keys = streams.map(({ namespace, pod, container }) => `${namespace}\0${pod}\0${container}`)
  return streams
    .map((_, id) => id)
    .sort((a, b) => ((keys[a] ?? '') < (keys[b] ?? '') ? -1 : (keys[a] ?? '') > (keys[b] ?? '') ? 1 : a - b))
}

/**
 * Which documents each stream has.
 *
 * @param order that of the lines
 * @param ranked that of the streams
 */
export function groupByStream(lines: Lines, order: Uint32Array, ranked: readonly number[]): Grouped {
  const { streamOf } = lines
  const rankOf = new Uint32Array(ranked.length)
  ranked.forEach((id, stream) => {
    rankOf[id] = stream
  })
  const column = emptyColumn(order.length, ranked.length)
  const counts = ranked.map(() => 0)
  for (let document = 0; document < order.length; document += 1) {
    const stream = rankOf[streamOf[order[document] ?? 0] ?? 0] ?? 0
    column[document] = stream
    counts[stream] = (counts[stream] ?? 0) + 1
  }
  const streamStarts = toStarts(counts)
  const streams = ranked.flatMap(id => lines.streams[id] ?? [])
  return { streams, column, documents: groupDocuments(column, streamStarts), streamStarts }
}

/** Where each begins of things of these lengths that follow each other, and where the last one ends. */
export function toStarts(lengths: readonly number[]): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1)
  lengths.forEach((length, i) => {
    starts[i + 1] = (starts[i] ?? 0) + length
  })
  return starts
}

export function sequenceRange(sequences: Float64Array): { firstSequence: number; lastSequence: number } {
  let first = Number.POSITIVE_INFINITY
  let last = 0
  for (let i = 0; i < sequences.length; i += 1) {
    const sequence = sequences[i] ?? 0
    if (sequence < first) first = sequence
    if (sequence > last) last = sequence
  }
  return { firstSequence: first, lastSequence: last }
}

/** For each line which document it is, where `order` is the line of each document. */
export function invert(order: Uint32Array): Uint32Array<ArrayBuffer> {
  const documents = new Uint32Array(order.length)
  for (let document = 0; document < order.length; document += 1) documents[order[document] ?? 0] = document
  return documents
}
